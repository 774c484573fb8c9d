package keys_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/cputime"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

func read(t tester, text string) schema.Document {
	t.Helper()
	d, err := markdown.Read(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d
}

// keyed reads Markdown as a document, and assigns keys. `before` is the previous document.
func keyed(t tester, text string, before *schema.Document) schema.Document {
	t.Helper()
	d := read(t, text)
	keys.Assign(&d, before)
	if !keys.Complete(d) {
		t.Fatalf("%q: keys are missing", text)
	}
	if problems := d.Problems(""); len(problems) > 0 {
		t.Fatalf("%q: %+v", text, problems)
	}
	return d
}

func blocks(nodes []schema.Node, visit func(n *schema.Node)) {
	for i := range nodes {
		if nodes[i].Object == schema.ObjectBlock {
			visit(&nodes[i])
		}
		blocks(nodes[i].Nodes, visit)
		blocks(nodes[i].Fragments, visit)
	}
}

// kept returns the innermost blocks of a document as text. After its text, each block has the number of the block of
// `before` with the same key. A new block has a + instead of a number.
func kept(before, after schema.Document) string {
	number, at := map[string]int{}, 0
	list := func(d schema.Document, visit func(n *schema.Node)) {
		blocks(d.Nodes, func(n *schema.Node) {
			if content.HoldsText(n) || len(n.Nodes) == 0 && n.Type != "table" {
				visit(n)
			}
		})
	}
	list(before, func(n *schema.Node) { at++; number[n.Key] = at })
	var parts []string
	list(after, func(n *schema.Node) {
		mark := "+"
		if at, ok := number[n.Key]; ok {
			mark = fmt.Sprint(at)
		}
		parts = append(parts, mark+":"+content.InlineText(n.Nodes))
	})
	return strings.Join(parts, " | ")
}

func TestKeysAreCarriedOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, want string }{
		"unchanged":         {"# A\n\none\n\ntwo", "# A\n\none\n\ntwo", "1:A | 2:one | 3:two"},
		"inserted":          {"one\n\ntwo", "one\n\nnew\n\ntwo", "1:one | +:new | 2:two"},
		"deleted":           {"one\n\ntwo\n\nthree", "one\n\nthree", "1:one | 3:three"},
		"edited":            {"one\n\nthe quick brown fox\n\nthree", "one\n\nthe slow brown fox\n\nthree", "1:one | 2:the slow brown fox | 3:three"},
		"rewritten alone":   {"# A\n\nall of it\n\n# B", "# A\n\nsomething else\n\n# B", "1:A | 2:something else | 3:B"},
		"edited and new":    {"one\n\nthe quick brown fox\n\nthree", "one\n\nnothing of the kind\n\nthe slow brown fox\n\nthree", "1:one | +:nothing of the kind | 2:the slow brown fox | 3:three"},
		"moved":             {"one\n\ntwo\n\nthree\n\nfour", "four\n\none\n\ntwo\n\nthree", "4:four | 1:one | 2:two | 3:three"},
		"moved into a list": {"one\n\n- two\n- three\n\nfour", "- one\n- two\n- three\n\nfour", "1:one | 2:two | 3:three | 4:four"},
		"turned":            {"the quick brown fox\n\nb", "## the quick brown fox\n\nb", "1:the quick brown fox | 2:b"},
		"in a list":         {"- one\n- two\n- three", "- one\n- new\n- two 2\n- three", "1:one | +:new | 2:two 2 | 3:three"},
		"in a hint":         {"{% hint %}\na\n\nb\n{% endhint %}", "{% hint %}\na\n\nx\n\nb\n{% endhint %}", "1:a | +:x | 2:b"},
		"code":              {"```\na\nb\nc\n```", "```\na\nx y\nc\nd\n```", "1:a | 2:x y | 3:c | +:d"},
		"twice the same":    {"same\n\nsame", "same\n\nsame\n\nsame", "1:same | 2:same | +:same"},
		"replaced by two":   {"alpha beta gamma delta", "one two\n\nalpha beta gamma epsilon", "+:one two | 1:alpha beta gamma epsilon"},
		"row inserted":      {"|A|B|\n|-|-|\n|a|b|\n|c|d|", "|A|B|\n|-|-|\n|a|b|\n|x|y|\n|c|d|", "1:a | 2:b | +:x | +:y | 3:c | 4:d"},
		"cell edited":       {"|A|B|\n|-|-|\n|a|b|\n|c|d|", "|A|B|\n|-|-|\n|a|b|\n|c|e|", "1:a | 2:b | 3:c | 4:e"},
		"column inserted":   {"|A|B|\n|-|-|\n|a|b|", "|A|X|B|\n|-|-|-|\n|a|x|b|", "1:a | +:x | 2:b"},
		"from nothing":      {"", "a", "+:a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := keyed(t, c.before, nil)
			if got := kept(before, keyed(t, c.after, &before)); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
			// The result must be the same if the previous document was stored without keys.
			if bare := read(t, c.before); kept(before, keyed(t, c.after, &bare)) != c.want {
				t.Error("differs from the document without keys")
			}
		})
	}
}

func TestRecordsKeepTheirIDs(t *testing.T) {
	t.Parallel()
	before := keyed(t, "|A|B|\n|-|-|\n|a|b|\n|c|d|", nil)
	after := keyed(t, "|A|X|B|\n|-|-|-|\n|a|x|b|\n|n|n|n|\n|c|y|e|", &before)
	data := after.Nodes[0].Data
	columns := data["view"].(map[string]any)["columns"].([]any)
	rows := keys.RowOrder(data["records"].(map[string]any))
	if len(rows) != 3 || rows[0] != "r1" || rows[2] != "r2" || len(columns) != 3 || columns[0] != "c1" || columns[2] != "c2" {
		t.Errorf("%v %v", rows, columns)
	}
	if got := content.TableOf(&after.Nodes[0]).Rows(); fmt.Sprint(got) != "[[A X B] [a x b] [n n n] [c y e]]" {
		t.Errorf("%v", got)
	}
	for _, name := range []string{"r1c1", "r1c2", "r2c1", "r2c2"} {
		if !slices.ContainsFunc(after.Nodes[0].Fragments, func(f schema.Node) bool { return f.Fragment == name }) {
			t.Errorf("no fragment %s", name)
		}
	}
}

func TestClientsKeys(t *testing.T) {
	t.Parallel()
	paragraph := func(key, text string) schema.Node {
		n := schema.Block("paragraph", schema.Text(text))
		n.Key = key
		return n
	}
	before := schema.NewDocument(paragraph("a", "one"), paragraph("b", "two"))
	d := schema.NewDocument(
		paragraph("mine", "zero"), paragraph("mine", "again"), paragraph("not a key!", "odd"), paragraph(strings.Repeat("k", 65), "long"),
		paragraph("", "two"), paragraph("a", "one moved"),
	)
	keys.Assign(&d, &before)
	var got []string
	for _, n := range d.Nodes {
		got = append(got, n.Key)
	}
	if got[0] != "mine" || got[4] != "b" || got[5] != "a" {
		t.Errorf("%v", got)
	}
	slices.Sort(got)
	if len(slices.Compact(got)) != 6 || !keys.Complete(d) {
		t.Errorf("%v", got)
	}
}

func anchors(d schema.Document) string {
	var list []string
	blocks(d.Nodes, func(n *schema.Node) {
		if schema.Anchored(n.Type) {
			list = append(list, fmt.Sprint(n.Meta["id"]))
		}
	})
	return strings.Join(list, " ")
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	first := keyed(t, "# Getting *started*\n\n## C++ & you\n\n## Getting started\n\n## 日本\n\n## !!!\n\n## Getting started-1", nil)
	if got := anchors(first); got != "getting-started c-you getting-started-1 日本 heading-2 getting-started-1-1" {
		t.Errorf("%s", got)
	}
	// If the text of a heading changes, its anchor stays. A new heading does not get this anchor.
	second := keyed(t, "# Getting going\n\n## C++ & you\n\n## Getting started\n\n### Getting started\n\n## 日本", &first)
	if got := anchors(second); got != "getting-started c-you getting-started-1 getting-started-2 日本" {
		t.Errorf("%s", got)
	}
	own := schema.NewDocument(
		schema.Node{Type: "heading-1", Data: schema.Data{"id": "chosen"}, Nodes: []schema.Node{schema.Text("A")}},
		schema.Node{Type: "heading-1", Meta: schema.Data{"id": "sent"}, Nodes: []schema.Node{schema.Text("B")}},
		schema.Node{Type: "heading-1", Meta: schema.Data{"id": "sent"}, Nodes: []schema.Node{schema.Text("B")}},
		schema.Node{Type: "heading-1", Meta: schema.Data{"id": "has space"}, Nodes: []schema.Node{schema.Text("C")}},
		schema.Node{Type: "tabs", Nodes: []schema.Node{{Type: "tabs-item", Data: schema.Data{"title": "macOS 15"}}}},
	)
	keys.Assign(&own, nil)
	if got := anchors(own); got != "chosen sent b c macos-15" {
		t.Errorf("%s", got)
	}
	// If the author chooses another anchor for a heading, the heading gets this anchor.
	chosen := schema.NewDocument(keys.Clone(own.Nodes)...)
	chosen.Nodes[0].Data, chosen.Nodes[0].Meta, chosen.Nodes[0].Key = schema.Data{"id": "other"}, nil, ""
	keys.Assign(&chosen, &own)
	if got := anchors(chosen); !strings.HasPrefix(got, "other ") || chosen.Nodes[0].Key != own.Nodes[0].Key {
		t.Errorf("%s", got)
	}
}

func encode(d schema.Document) string {
	text, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestSameTextSameDocument checks that a document stays the same if a client writes its text again. Earlier edits may
// have moved keys.
func TestSameTextSameDocument(t *testing.T) {
	t.Parallel()
	block := rapid.SampledFrom([]string{
		"a", "b c d", "# a", "## b c", "- a\n- b\n- a", "1. a\n\n   b", "- [ ] t\n- [x] u", "> a\n>\n> b", "```\na\nb\n```", "---",
		"|A|B|\n|-|-|\n|a|b|\n|c|d|", "|A|B|\n|-|-|\n|c|d|\n|a|b|\n|a|b|", "|A|\n|-|\n|a|", "{% hint style=\"info\" %}\na\n\n- b\n{% endhint %}", "![x](/i.png)", "[a](/x) **b** `c`",
	})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(block, 0, 8).Draw(t, "blocks"), "\n\n") })
	rapid.Check(t, func(t *rapid.T) {
		var before *schema.Document
		for i := range rapid.IntRange(1, 4).Draw(t, "steps") {
			source := text.Draw(t, fmt.Sprint("text", i))
			d := keyed(t, source, before)
			if written, bare := markdown.Write(d), markdown.Write(read(t, source)); written != bare {
				t.Fatalf("%q became %q", bare, written)
			}
			if again := keyed(t, source, &d); encode(again) != encode(d) {
				t.Fatalf("%s", cmp.Diff(d, again))
			}
			if same := keyed(t, source, before); encode(same) != encode(d) {
				t.Fatal("the result depends on more than its input")
			}
			before = &d
		}
	})
}

func TestEveryKindGetsKeys(t *testing.T) {
	t.Parallel()
	d := contenttest.EveryKind(t)
	source := encode(d)
	bare := schema.Document{Object: d.Object, Data: d.Data, Meta: d.Meta, Nodes: keys.Clone(d.Nodes)}
	keys.Assign(&d, nil)
	if !keys.Complete(d) || len(d.Problems("")) > 0 {
		t.Fatalf("%+v", d.Problems(""))
	}
	if d.Nodes[3].Key != "k1" || encode(bare) != source {
		t.Error("a key that was sent is lost, or a shared part was changed")
	}
	again := bare
	keys.Assign(&again, &d)
	if encode(again) != encode(d) {
		t.Error(cmp.Diff(d, again))
	}
}

// TestAssignIsBounded uses pairs of documents of the largest size. The two documents share no blocks, or all blocks.
// With -short, the documents have a quarter of the blocks, and the time limit is a quarter.
func TestAssignIsBounded(t *testing.T) {
	t.Parallel()
	blocks, most := schema.MaxDocumentNodes/2, 60*time.Second
	if testing.Short() {
		blocks, most = blocks/4, most/4
	}
	make := func(text func(i int) string) schema.Document {
		var list []schema.Node
		for i := range blocks {
			list = append(list, schema.Block("paragraph", schema.Text(text(i))))
		}
		return schema.NewDocument(list...)
	}
	documents := []schema.Document{
		make(func(int) string { return "same" }), make(func(i int) string { return fmt.Sprint("a", i, " b", i) }),
		make(func(i int) string { return fmt.Sprint("b", i%7, " c", i) }), make(func(int) string { return "" }),
	}
	took := cputime.Of(func() {
		for _, before := range documents {
			for _, after := range documents {
				d := schema.NewDocument(keys.Clone(after.Nodes)...)
				keys.Assign(&d, &before)
			}
		}
	})
	if took > most {
		t.Errorf("Assign took %v of processor time, want at most %v", took, most)
	}
}

// TestAssignTableCost replaces all rows of a table and counts the allocations. Each hash of a cell is an allocation.
func TestAssignTableCost(t *testing.T) {
	const rows = 300
	table := func(word string) schema.Document {
		records := map[string]any{}
		for i := range rows {
			id := fmt.Sprintf("r%03d", i)
			records[id] = map[string]any{"orderIndex": id, "values": map[string]any{"a": word + id, "b": word}}
		}
		column := map[string]any{"id": "a", "type": "text", "title": "a", "textAlignment": "left"}
		return schema.NewDocument(schema.Node{Type: "table", Data: schema.Data{
			"view":    map[string]any{"type": "grid", "hideHeader": false, "columns": []any{"a"}},
			"records": records, "definition": map[string]any{"a": column},
		}})
	}
	before, after := table("x"), table("y")
	keys.Assign(&before, nil)
	after.Nodes[0].Data["definition"].(map[string]any)["a"].(map[string]any)["title"] = "b"
	allocations := testing.AllocsPerRun(1, func() {
		d := schema.NewDocument(keys.Clone(after.Nodes)...)
		keys.Assign(&d, &before)
	})
	if allocations > 300*rows {
		t.Errorf("%d rows took %.0f allocations", rows, allocations)
	}
}
