package schema

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema/schematest"
)

// everyKind returns the shared document that has every kind of node, as text and decoded.
func everyKind(tb testing.TB) ([]byte, Document) {
	tb.Helper()
	var d Document
	if err := json.Unmarshal(schematest.Document, &d); err != nil {
		tb.Fatal(err)
	}
	return schematest.Document, d
}

func TestDocumentOfEveryKind(t *testing.T) {
	t.Parallel()
	text, d := everyKind(t)
	for _, kind := range slices.Concat(nodeTypes(), markTypes()) {
		if !bytes.Contains(text, []byte(`"type":"`+kind+`"`)) {
			t.Errorf("schematest/document.json has no %s", kind)
		}
	}
	d.Normalize()
	if problems := d.Problems("description"); len(problems) > 0 {
		t.Fatalf("%+v", problems)
	}
	strict(t, d.Nodes)
	first := encode(t, d)
	var again, std Document
	if err := json.Unmarshal(first, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, again); diff != "" {
		t.Errorf("encoded and decoded (-want +got):\n%s", diff)
	}
	plain, err := stdjson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := stdjson.Unmarshal(plain, &std); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, std); diff != "" {
		t.Errorf("through encoding/json (-want +got):\n%s", diff)
	}
	again.Normalize()
	if diff := cmp.Diff(d, again); diff != "" {
		t.Errorf("normalized twice (-want +got):\n%s", diff)
	}
	if own, _ := d.Data["own"].(map[string]any); own == nil {
		t.Error("an unknown member of the data is lost")
	}
}

// strict checks that nodes have the members that the grammar requires and that Normalize sets.
func strict(t *testing.T, nodes []Node) {
	t.Helper()
	for _, n := range nodes {
		rule := nodeRules[n.Type]
		switch {
		case n.Object == "":
			t.Errorf("%s: no object", n.Type)
		case n.Object == ObjectText:
			for _, leaf := range n.Leaves {
				if leaf.Object != ObjectLeaf || leaf.Marks == nil {
					t.Errorf("leaf %+v", leaf)
				}
			}
		case n.Object == ObjectFragment:
		case n.IsVoid == nil || *n.IsVoid != rule.void, rule.nodes != nil && n.Nodes == nil,
			rule.dataRequired && n.Data == nil, rule.fragments != nil && n.Fragments == nil:
			t.Errorf("%s: a required member is missing", n.Type)
		}
		strict(t, n.Nodes)
		strict(t, n.Fragments)
	}
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDocumentProblems(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"type":"blockquote","nodes":[`, 40) + strings.Repeat(`]}`, 40)
	for _, c := range []struct{ nodes, field, problem string }{
		{`{"type":"hint","data":{"style":"loud"}}`, "d.nodes[0].data.style", problemEnum},
		{`{"type":"hint"}`, "d.nodes[0].data.style", "is required"},
		{`{"type":"paragraph"},{"type":"nothing"}`, "d.nodes[1].type", problemEnum},
		{`{}`, "d.nodes[0].type", problemEnum},
		{`null`, "d.nodes[0].type", problemEnum},
		{`{"object":"inline","type":"paragraph"}`, "d.nodes[0].object", problemEnum},
		{`{"type":"divider","isVoid":false}`, "d.nodes[0].isVoid", problemEnum},
		{`{"type":"divider","nodes":[{"type":"paragraph"}]}`, "d.nodes[0].nodes", "must not be given for this type"},
		{`{"type":"paragraph","leaves":[{"text":"lost"}]}`, "d.nodes[0].leaves", "must not be given for this type"},
		{`{"type":"paragraph","nodes":[{"type":"paragraph"}]}`, "d.nodes[0].nodes[0].type", problemEnum},
		{`{"object":"text","leaves":[]}`, "d.nodes[0].object", problemEnum},
		{`{"object":"fragment","nodes":[]}`, "d.nodes[0].object", problemEnum},
		{`{"type":"paragraph","nodes":[{"leaves":[{"text":"x","marks":[{"type":"blink"}]}]}]}`, "d.nodes[0].nodes[0].leaves[0].marks[0].type", problemEnum},
		{`{"type":"paragraph","nodes":[{"leaves":[{"text":"x\u0000"}]}]}`, "d.nodes[0].nodes[0].leaves[0].text", problemNUL},
		{`{"type":"embed","data":{"url":"x\u0000"}}`, "d.nodes[0].data.url", problemNUL},
		{`{"type":"embed","data":{"url":"x","own":{"a\u0000":1}}}`, "d.nodes[0].data.own.*", problemNUL},
		{`{"type":"heading-1","data":{"id":"No"}}`, "d.nodes[0].data.id", "must have only the characters a-z, 0-9 and .+_-"},
		{`{"type":"heading-1","meta":{}}`, "d.nodes[0].meta.id", "is required"},
		{`{"type":"code","data":{"collapsedLineCount":0}}`, "d.nodes[0].data.collapsedLineCount", "must be at least 1"},
		{`{"type":"code","data":{"collapsedLineCount":1.5}}`, "d.nodes[0].data.collapsedLineCount", "must be an integer"},
		{`{"type":"content-ref","data":{"ref":{"kind":"page"}}}`, "d.nodes[0].data.ref.page", "is required"},
		{`{"type":"file","data":{"ref":{"kind":"url","url":"u"}}}`, "d.nodes[0].data.ref.kind", problemEnum},
		{`{"type":"expandable","fragments":[{"nodes":[]}]}`, "d.nodes[0].fragments[0].fragment", problemEnum},
		{`{"type":"expandable","fragments":[{"fragment":"expandable-body","nodes":[]}]}`, "d.nodes[0].fragments[0].nodes", "must have at least 1 nodes"},
		{`{"type":"paragraph","fragments":[{"nodes":[]}]}`, "d.nodes[0].fragments", "must not be given for this type"},
		{`{"type":"integration","data":{"integration":"i","block":"b","props":{"a":[[1]]}}}`, "d.nodes[0].data.props.a[0]", "must not be an array in an array"},
		{`{"type":"table","data":{"view":{"type":"grid","columns":[1],"hideHeader":true},"records":{},"definition":{}}}`, "d.nodes[0].data.view.columns[0]", "must be a string"},
		{`{"type":"table","data":{"view":{"type":"grid","columns":[],"hideHeader":true},"records":{"r":{"orderIndex":"a","values":{"c":[1]}}},"definition":{}}}`,
			"d.nodes[0].data.records.r.values.c", "must be a number, a string, a boolean, an array of strings, a reference or an image"},
		{deep, "d" + strings.Repeat(".nodes[0]", 32) + ".nodes", "is nested deeper than 32 levels"},
		{strings.TrimSuffix(strings.Repeat(`{"type":"paragraph"},`, MaxDocumentNodes+1), ","), "d",
			"must have at most 100000 nodes and cells of tables"},
		{wideTable(400, 251, `{}`), "d", ProblemNodes},
		{strings.Repeat(wideTable(400, 100, `{}`)+",", 2) + wideTable(400, 60, `{}`), "d", ProblemNodes},
		{sharedText(`{"leaves":[{"text":"%s"}]}`), "d", problemText},
		{sharedText(`{"type":"inline-math","data":{"formula":"%s"}}`), "d", problemText},
		{strings.Replace(wideTable(1, 1100, `{"c0":["v"]}`), `"definition":{}`, `"definition":{"c0":{"id":"c0","title":"","type":"select",
			"multiple":true,"options":[{"value":"v","color":"","label":"`+strings.Repeat("x", 1000)+`"}]}}`, 1), "d", problemText},
		{nestedTables(20), "d", ProblemNodes},
	} {
		var d Document
		if err := json.Unmarshal([]byte(`{"nodes":[`+c.nodes+`]}`), &d); err != nil {
			t.Fatalf("%.100s: %v", c.nodes, err)
		}
		d.Normalize()
		got := d.Problems("d")
		if len(got) != 1 || got[0].Field != c.field || got[0].Problem != c.problem {
			t.Errorf("%.100s: %+v", c.nodes, got)
		}
	}
}

// wideTable returns a table with columns that have no definition, and with records that have the same values.
func wideTable(columns, records int, values string) string {
	var ids, rows []string
	for i := range columns {
		ids = append(ids, fmt.Sprintf(`"c%d"`, i))
	}
	for i := range records {
		rows = append(rows, fmt.Sprintf(`"r%d":{"orderIndex":"","values":%s}`, i, values))
	}
	return `{"type":"table","data":{"view":{"type":"grid","hideHeader":false,"columns":[` + strings.Join(ids, ",") +
		`]},"definition":{},"records":{` + strings.Join(rows, ",") + `}}}`
}

// sharedText returns a table whose cells all show the same fragment with one long inline.
func sharedText(inline string) string {
	return strings.TrimSuffix(wideTable(1, 1100, `{"c0":"f"}`), "}") + `,"fragments":[{"fragment":"f","nodes":[` +
		`{"type":"paragraph","nodes":[` + fmt.Sprintf(inline, strings.Repeat("x", 1000)) + `]}]}]}`
}

// nestedTables returns tables in tables. Each table shows the next one ten times, so the innermost text is shown more
// often than an integer can count.
func nestedTables(depth int) string {
	inner := `{"type":"paragraph"}`
	for range depth {
		inner = strings.TrimSuffix(wideTable(1, 10, `{"c0":"f"}`), "}") +
			`,"fragments":[{"fragment":"f","nodes":[` + inner + `]}]}`
	}
	return inner
}

// TestDocumentTables checks tables that are not too large.
func TestDocumentTables(t *testing.T) {
	t.Parallel()
	for name, nodes := range map[string]string{
		"many columns without records": wideTable(2000, 0, `{}`),
		"many records without columns": wideTable(0, 2000, `{}`),
		"a column named twice":         strings.Replace(wideTable(1, 2000, `{}`), `"c0"`, `"c0"`+strings.Repeat(`,"c0"`, 2000), 1),
		"most cells":                   wideTable(400, 249, `{}`),
	} {
		var d Document
		if err := json.Unmarshal([]byte(`{"nodes":[`+nodes+`]}`), &d); err != nil {
			t.Fatal(err)
		}
		d.Normalize()
		if got := d.Problems("d"); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestDocumentProblemsAreBounded(t *testing.T) {
	t.Parallel()
	d := Document{Object: "page", Nodes: make([]Node, 100)}
	d.Normalize()
	got := d.Problems("")
	if len(got) != maxProblems || got[0].Field != "object" || got[1].Field != "nodes[0].type" {
		t.Errorf("%d problems: %+v", len(got), got[:2])
	}
}

func TestNormalizeTakesOut(t *testing.T) {
	t.Parallel()
	var d Document
	text := `{"data":{"schemaVersion":null},"nodes":[{"type":"paragraph","data":{"align":null,"own":1},"fragments":[],"leaves":[]},{"type":"divider","nodes":[]}]}`
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	d.Normalize()
	want := `{"object":"document","data":{},"nodes":[{"object":"block","type":"paragraph","isVoid":false,"data":{},"nodes":[]},` +
		`{"object":"block","type":"divider","isVoid":true,"data":{}}]}`
	if got := string(encode(t, d)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, out, problem string }{
		{`{}`, `{}`, ""},
		{`{"other":1}`, `{}`, ""},
		{`{"markdown":null}`, `{}`, ""},
		{`{"markdown":""}`, `{"markdown":""}`, ""},
		{`{"markdown":"*hi*"}`, `{"markdown":"*hi*"}`, ""},
		{`{"document":{"nodes":[]}}`, `{"document":{"object":"document","data":{},"nodes":[]}}`, ""},
		{`{"document":{"nodes":[]},"markdown":"x"}`, `{"document":{"object":"document","data":{},"nodes":[]}}`,
			"body must have markdown or document, not both"},
		{`{"document":{"nodes":[{}]}}`, `{"document":{"object":"document","data":{},"nodes":[{"object":"","nodes":[]}]}}`,
			"body.document.nodes[0].type " + problemEnum},
		{`{"markdown":"a\u0000"}`, `{"markdown":"a\u0000"}`, "body.markdown " + problemNUL},
	} {
		var b Body
		if err := json.Unmarshal([]byte(c.in), &b); err != nil {
			t.Fatalf("%s: %v", c.in, err)
		}
		b.Normalize()
		if got := string(encode(t, b)); got != c.out {
			t.Errorf("%s: %s", c.in, got)
		}
		if plain, err := stdjson.Marshal(b); err != nil || string(plain) != c.out {
			t.Errorf("%s through encoding/json: %s %v", c.in, plain, err)
		}
		problem := ""
		if got := b.Problems("body"); len(got) > 0 {
			problem = got[0].Field + " " + got[0].Problem
		}
		if problem != c.problem {
			t.Errorf("%s: %q", c.in, problem)
		}
	}
	for _, c := range []struct {
		text string
		want int
	}{{strings.Repeat("ä", MaxMarkdown), 0}, {strings.Repeat("ä", MaxMarkdown+1), 1}} {
		if got := MarkdownBody(c.text).Problems(""); len(got) != c.want {
			t.Errorf("%d characters: %+v", len(c.text)/2, got)
		}
	}
	// The limit for a page is a number of bytes, and not of characters.
	for _, c := range []struct {
		body Body
		want string
	}{
		{MarkdownBody(strings.Repeat("ä", MaxPage/2)), ""},
		{MarkdownBody(strings.Repeat("ä", MaxPage/2) + "x"), "p.markdown"},
		{MarkdownBody("\x00"), "p.markdown"}, {Body{}, ""},
		{DocumentBody(NewDocument(Block("paragraph", Text(strings.Repeat("x", MaxPage))))), ""},
		{DocumentBody(NewDocument(Block("paragraph", Text(strings.Repeat("x", MaxPage)), Text("x")))), "p.document"},
	} {
		field := ""
		if got := c.body.PageProblems("p"); len(got) > 0 {
			field = got[0].Field
		}
		if field != c.want {
			t.Errorf("a page with a problem in %q, want %q", field, c.want)
		}
	}
}

// FuzzDocument reads any text as a document. If the document has no problems, it must be the same after it is written
// and read.
func FuzzDocument(f *testing.F) {
	_, every := everyKind(f)
	for _, n := range every.Nodes {
		// Each seed has only one node, because the fuzzer takes minutes to minimize a long input.
		text, err := json.Marshal(Document{Nodes: []Node{n}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"nodes":[{"type":"hint"},{"object":"text","leaves":[{}]},null]}`))
	f.Add([]byte(`{"nodes":[{"type":"table","data":{"view":{},"records":{"r":null},"definition":[]}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var d Document
		if json.Unmarshal(text, &d) != nil {
			return
		}
		d.Normalize()
		if got := d.Problems("d"); len(got) > 0 {
			if len(got) > maxProblems {
				t.Fatalf("%d problems", len(got))
			}
			return
		}
		first := encode(t, d)
		var again Document
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatal(err)
		}
		if second := encode(t, again); !bytes.Equal(first, second) {
			t.Fatalf("not stable:\n%s\n%s", first, second)
		}
		again.Normalize()
		if third := encode(t, again); !bytes.Equal(first, third) || len(again.Problems("")) > 0 {
			t.Fatalf("not normal:\n%s\n%s", first, third)
		}
	})
}

func BenchmarkDocument(b *testing.B) {
	text, _ := everyKind(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			var d Document
			if err := json.Unmarshal(text, &d); err != nil {
				b.Fatal(err)
			}
			d.Normalize()
			if problems := d.Problems(""); len(problems) > 0 {
				b.Fatal(problems)
			}
		}
	})
}
