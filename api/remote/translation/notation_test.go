package translation

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/schematest"
)

func block(t testing.TB, text string) []schema.Node {
	t.Helper()
	var n schema.Node
	if err := json.Unmarshal([]byte(`{"object":"block","type":"paragraph","nodes":`+text+`}`), &n); err != nil {
		t.Fatal(err)
	}
	d := schema.NewDocument(n)
	return d.Nodes[0].Nodes
}

const mixed = `[
	{"object":"text","leaves":[{"text":"Run "},{"text":"npm i","marks":[{"type":"code"}]},{"text":" & "},{"text":"see","marks":[{"type":"bold"}]},{"text":" "}]},
	{"type":"link","data":{"ref":{"kind":"page","page":"p1"}},"nodes":[{"object":"text","leaves":[{"text":"the "},{"text":"guide","marks":[{"type":"italic"}]}]}]},
	{"type":"emoji","data":{"code":"1f44d"}},
	{"object":"text","leaves":[{"text":" <now>"}]}]`

const mixedSource = `Run <img id="1" alt="npm i"> &amp; <b id="2">see</b> <a id="3">the <i id="4">guide</i></a><img id="5" alt="1f44d"> &lt;now&gt;`

func TestEncode(t *testing.T) {
	t.Parallel()
	if got := encode(block(t, mixed)); got != mixedSource {
		t.Errorf("got  %s\nwant %s", got, mixedSource)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	nodes := block(t, mixed)
	for name, test := range map[string]struct {
		answer, want string // "" means that the answer is refused
	}{
		"as it was":            {mixedSource, mixedSource},
		"another order":        {`<a id=3>Die <i id=4>Hilfe</i></a> <b id="2">lesen</b>, <img id='1'/> <img id="5" alt="x">&lt;jetzt&gt;`, `<a id="1">Die <i id="2">Hilfe</i></a> <b id="3">lesen</b>, <img id="4" alt="npm i"> <img id="5" alt="1f44d">&lt;jetzt&gt;`},
		"another tag":          {strings.ReplaceAll(strings.ReplaceAll(mixedSource, "<b ", "<strong "), "</b>", "</strong>"), mixedSource},
		"an end of a single":   {strings.Replace(mixedSource, `"1f44d">`, `"1f44d"></img>`, 1), mixedSource},
		"upper case":           {strings.Replace(mixedSource, `<img id="5"`, `<IMG ID="5"`, 1), mixedSource},
		"one is gone":          {strings.Replace(mixedSource, `<img id="5" alt="1f44d">`, "", 1), ""},
		"one twice":            {mixedSource + `<img id="5">`, ""},
		"one too many":         {mixedSource + `<img id="6">`, ""},
		"without an id":        {mixedSource + `<br>`, ""},
		"a link moved":         {`<b id="2"><a id="3">x<i id="4">y</i></a></b><img id="1"><img id="5">`, ""},
		"a mark left its link": {`<i id="4">y</i><a id="3">x</a><b id="2">z</b><img id="1"><img id="5">`, ""},
		"an empty pair":        {strings.Replace(mixedSource, ">see<", "><", 1), ""},
		"an open pair":         {strings.Replace(mixedSource, "</b>", "", 1), ""},
		"a pair too few":       {strings.Replace(mixedSource, `<b id="2">`, "", 1), ""},
		"a comment":            {mixedSource + "<!-- x -->", ""},
		"a script":             {mixedSource + "<script>alert(1)</script>", ""},
		"nothing":              {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := decode(nodes, test.answer)
			if test.want == "" {
				if err == nil {
					t.Errorf("got %s", encode(got))
				}
				return
			}
			if err != nil || encode(got) != test.want {
				t.Fatalf("%v\ngot  %s\nwant %s", err, encode(got), test.want)
			}
			d := schema.NewDocument(schema.Block("paragraph", got...))
			if problems := d.Problems(""); problems != nil {
				t.Errorf("problems %+v", problems)
			}
			if !reflect.DeepEqual(nodes, block(t, mixed)) {
				t.Error("the source was changed")
			}
		})
	}
}

// TestNotationRoundTrip encodes random inlines, decodes the result, and encodes the decoded inlines again. Both encoded
// texts must be equal.
func TestNotationRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab <>&\"';#é漢\n"))).Filter(func(s string) bool { return s != "" })
		leaf := rapid.Custom(func(t *rapid.T) schema.Leaf {
			l := schema.Leaf{Object: schema.ObjectLeaf, Text: text.Draw(t, "text"), Marks: []schema.Mark{}}
			if kind := rapid.SampledFrom([]string{"", "bold", "code", "color"}).Draw(t, "mark"); kind != "" {
				l.Marks = append(l.Marks, schema.Mark{Object: schema.ObjectMark, Type: kind})
			}
			return l
		})
		texts := rapid.Custom(func(t *rapid.T) schema.Node {
			return schema.Node{Object: schema.ObjectText, Leaves: rapid.SliceOfN(leaf, 1, 4).Draw(t, "leaves")}
		})
		inline := rapid.Custom(func(t *rapid.T) schema.Node {
			if rapid.Bool().Draw(t, "link") {
				return schema.Node{Object: schema.ObjectInline, Type: "link", Nodes: []schema.Node{texts.Draw(t, "of link")}}
			}
			return schema.Node{Object: schema.ObjectInline, Type: "emoji", Data: schema.Data{"code": text.Draw(t, "code")}}
		})
		nodes := rapid.SliceOfN(rapid.OneOf(texts, inline), 1, 5).Draw(t, "nodes")
		source := encode(nodes)
		if strings.TrimSpace(source) == "" {
			return
		}
		got, err := decode(nodes, source)
		if err != nil || encode(got) != source {
			t.Fatalf("%v: %q became %q", err, source, encode(got))
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(mixedSource)
	f.Add(`<a id="3"><i id="4">x</i></a><b id="2"></b><img id=1><img id=5>`)
	f.Add(`<title id=1>`)
	f.Add(`</b></b><b id=`)
	f.Fuzz(func(t *testing.T, answer string) {
		nodes := block(t, mixed)
		got, err := decode(nodes, answer)
		if err != nil {
			return
		}
		d := schema.NewDocument(schema.Block("paragraph", got...))
		if problems := d.Problems(""); problems != nil && !strings.ContainsRune(answer, 0) {
			t.Errorf("%q gives a document with problems: %+v", answer, problems)
		}
	})
}

// everything returns a document with every kind of node.
func everything(t testing.TB) schema.Document {
	t.Helper()
	var d schema.Document
	if err := json.Unmarshal(schematest.Document, &d); err != nil {
		t.Fatal(err)
	}
	d.Normalize()
	return d
}

func TestPlacesOfEveryKind(t *testing.T) {
	t.Parallel()
	d := everything(t)
	before, err := json.Marshal(d, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	copied, places := Places(d)
	ids := map[string]bool{}
	for i := range places {
		if ids[places[i].ID] {
			t.Errorf("two places are called %q", places[i].ID)
		}
		ids[places[i].ID] = true
		if places[i].Source != "" && !places[i].Put(loud(places[i].Source)) {
			t.Errorf("%q is not put", places[i].Source)
		}
	}
	if problems := copied.Problems(""); problems != nil {
		t.Errorf("problems %+v", problems)
	}
	if after, _ := json.Marshal(d, json.Deterministic(true)); string(after) != string(before) {
		t.Error("the source was changed")
	}
	compareKept(t, "", d.Nodes, copied.Nodes)
	if t.Failed() {
		return
	}
	// If each source is put in as its own translation, the document must be the same. So the translation has changed
	// only texts.
	again, places := Places(d)
	for i := range places {
		if places[i].Source != "" && !places[i].Put(places[i].Source) {
			t.Errorf("%q is not put", places[i].Source)
		}
	}
	joined, _ := Places(d)
	for _, doc := range []*schema.Document{again, joined} {
		doc.Nodes = joinTexts(doc.Nodes)
	}
	if got, _ := json.Marshal(again, json.Deterministic(true)); true {
		if want, _ := json.Marshal(joined, json.Deterministic(true)); string(got) != string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// loud returns a translation of a source text: the same text in capital letters. It does the same as
// translationtest.Loud. This package cannot import that function.
func loud(source string) string {
	all, err := tokens(source)
	if err != nil {
		return source
	}
	for i := range all {
		all[i].text = strings.ToUpper(all[i].text)
	}
	return written(all)
}

// compareKept checks that a translation has not changed the structure, the code, the references and the anchors.
func compareKept(t *testing.T, at string, from, to []schema.Node) {
	t.Helper()
	if len(from) != len(to) {
		if !slices.ContainsFunc(from, func(n schema.Node) bool { return n.Object == schema.ObjectText }) {
			t.Errorf("%s: %d nodes became %d", at, len(from), len(to))
		}
		return
	}
	for i := range from {
		a, b := from[i], to[i]
		here := at + "/" + a.Type
		if a.Type != b.Type || a.Object != b.Object || a.Key != b.Key || !reflect.DeepEqual(a.Meta, b.Meta) {
			t.Errorf("%s became %s, or its key or anchor is another", here, b.Type)
		}
		if left[a.Type] && !reflect.DeepEqual(a, b) {
			t.Errorf("%s was changed", here)
		}
		for _, name := range []string{"ref", "refDark", "id", "formula", "expression", "style", "code", "icon"} {
			if !reflect.DeepEqual(a.Data[name], b.Data[name]) {
				t.Errorf("%s: %s was changed", here, name)
			}
		}
		compareKept(t, here, a.Nodes, b.Nodes)
		compareKept(t, here, a.Fragments, b.Fragments)
	}
}

// joinTexts joins neighbouring text nodes. It also joins neighbouring leaves with the same marks.
func joinTexts(nodes []schema.Node) []schema.Node {
	var joined []schema.Node
	for _, n := range nodes {
		n.Nodes, n.Fragments = joinTexts(n.Nodes), joinTexts(n.Fragments)
		var leaves []schema.Leaf
		for _, leaf := range n.Leaves {
			if k := len(leaves); leaf.Text == "" && len(leaf.Marks) == 0 {
				continue
			} else if k > 0 && len(leaf.Marks) == 0 && len(leaves[k-1].Marks) == 0 {
				leaves[k-1].Text += leaf.Text
				continue
			}
			leaves = append(leaves, leaf)
		}
		n.Leaves = leaves
		if n.Object == schema.ObjectText && len(leaves) == 0 {
			continue
		}
		n.Key = strings.TrimSpace(n.Key)
		if k := len(joined); n.Object == schema.ObjectText && k > 0 && joined[k-1].Object == schema.ObjectText {
			joined[k-1].Leaves = append(joined[k-1].Leaves, n.Leaves...)
			continue
		}
		joined = append(joined, n)
	}
	return joined
}

func TestPlacesAreTranslated(t *testing.T) {
	t.Parallel()
	copied, places := Places(everything(t))
	for i := range places {
		if places[i].Source != "" {
			places[i].Put(loud(places[i].Source))
		}
	}
	text, err := json.Marshal(copied)
	if err != nil {
		t.Fatal(err)
	}
	// Texts of the source may remain only in parts that are not translated.
	_, after := Places(*copied)
	for i := range after {
		if after[i].Source != "" && after[i].Source != loud(after[i].Source) && !strings.Contains(after[i].Source, "alt=") {
			t.Errorf("%q is not translated", after[i].Source)
		}
	}
	if len(text) == 0 || len(after) < 10 {
		t.Errorf("there are %d places only", len(after))
	}
}

func TestNothingToTranslate(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "  ", "42", "— 3.14 %", "https://docs.example.com/a?b=c"} {
		if p := PlainPlace("x", text, nil); p.Source != "" {
			t.Errorf("%q is sent as %q", text, p.Source)
		}
	}
	p := PlainPlace("x", " R&D \n", func(text string) {
		if text != " F&E \n" {
			t.Errorf("put %q", text)
		}
	})
	if p.Source != "R&amp;D" || !p.Put("F&amp;E") || p.Put("<b id=1>F</b>") {
		t.Errorf("source %q", p.Source)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "One two": 2, `Don't <b id="1">re-do</b> <img id="2" alt="a b c">`: 2, "日本語です": 3, "Version 2.0": 3,
	} {
		if got := Words(text); got != want {
			t.Errorf("%q has %d words, not %d", text, got, want)
		}
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	content := func(id string) schema.Node {
		return schema.Node{Type: "reusable-content", Data: schema.Data{"ref": map[string]any{"kind": "reusable-content", "reusableContent": id}}}
	}
	d, _ := Places(schema.NewDocument(schema.Node{Type: "paragraph", Nodes: []schema.Node{
		{Type: "link", Data: schema.Data{"ref": map[string]any{"kind": "page", "page": "p1"}}, Nodes: []schema.Node{schema.Text("a")}},
		{Type: "link", Data: schema.Data{"ref": map[string]any{"kind": "anchor", "anchor": "x", "page": "p1", "space": "from"}}, Nodes: []schema.Node{schema.Text("b")}},
		{Type: "link", Data: schema.Data{"ref": map[string]any{"kind": "page", "page": "p1", "space": "other"}}, Nodes: []schema.Node{schema.Text("c")}},
		{Type: "mention", Data: schema.Data{"ref": map[string]any{"kind": "space", "space": "from"}}},
		{Type: "link", Data: schema.Data{"ref": map[string]any{"kind": "file", "file": "f1"}}, Nodes: []schema.Node{schema.Text("d")}},
		{Type: "link", Data: schema.Data{"ref": map[string]any{"kind": "file", "file": "f2", "space": "other"}}, Nodes: []schema.Node{schema.Text("e")}},
		{Type: "link", Data: schema.Data{"ref": map[string]any{"kind": "file", "file": "f3", "space": "from"}}, Nodes: []schema.Node{schema.Text("f")}},
	}}, content("content"), content("kept")))
	files := Refs(d, "from", "to", map[string]string{"content": "translated"})
	if want := []string{"f1", "f3", "kept", "translated"}; !slices.Equal(files, want) {
		t.Errorf("files %v", files)
	}
	var spaces []any
	for _, n := range d.Nodes[0].Nodes {
		ref, _ := n.Data["ref"].(map[string]any)
		spaces = append(spaces, ref["space"])
	}
	if want := []any{nil, "to", "other", "to", nil, "other", "to"}; !slices.Equal(spaces, want) {
		t.Errorf("spaces %v", spaces)
	}
	if ref := Ref(schema.Data{"kind": "page", "page": "p", "space": "from"}, "from", "to"); ref["space"] != "to" {
		t.Errorf("a link leads to %v", ref)
	}
}
