package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
)

// TestForVisitor checks the Markdown of the document that a visitor sees. The conditions are the expressions `yes` and
// `no`.
func TestForVisitor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ in, want string }{
		"none":         {"# A\n\nText\n", "# A\n\nText\n"},
		"seen":         {"a\n\n{% if yes %}\nb\n\nc\n{% endif %}\n\nd\n", "a\n\nb\n\nc\n\nd\n"},
		"hidden":       {"a\n\n{% if no %}\nb\n\nc\n{% endif %}\n\nd\n", "a\n\nd\n"},
		"in it":        {"{% if yes %}\na\n\n{% if no %}\nb\n{% endif %}\n\nc\n{% endif %}\n", "a\n\nc\n"},
		"in a hidden":  {"{% if no %}\na\n\n{% if yes %}\nb\n{% endif %}\n\nc\n{% endif %}\n\nd\n", "d\n"},
		"two":          {"{% if no %}\na\n{% endif %}\n\n{% if yes %}\nb\n{% endif %}\n", "b\n"},
		"in a hint":    {"{% hint style=\"info\" %}\na\n\n{% if no %}\nb\n{% endif %}\n{% endhint %}\n", "{% hint style=\"info\" %}\na\n{% endhint %}\n"},
		"in a list":    {"- a\n\n  {% if no %}\n  b\n  {% endif %}\n- c\n", "- a\n- c\n"},
		"in tabs":      {"{% tabs %}\n{% tab title=\"T\" %}\na\n\n{% if no %}\nb\n{% endif %}\n{% endtab %}\n{% endtabs %}\n", "{% tabs %}\n{% tab title=\"T\" %}\na\n{% endtab %}\n{% endtabs %}\n"},
		"without end":  {"a\n\n{% if no %}\n\nb\n\nc\n", "a\n"},
		"end alone":    {"a\n\n{% endif %}\n\nb\n", "a\n\n{% endif %}\n\nb\n"},
		"holds blocks": {"{% if yes %}\n{% hint style=\"info\" %}\na\n{% endhint %}\n{% endif %}\n", "{% hint style=\"info\" %}\na\n{% endhint %}\n"},
		"a claim":      {"{% if visitor.claims.plan == \"pro\" %}\na\n{% endif %}\n\n{% if yes %}\nb\n{% endif %}\n", "b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Read(test.in)
			if err != nil {
				t.Fatal(err)
			}
			before := slices.Clone(d.Nodes)
			seen := d
			seen.Nodes = ForVisitor(d.Nodes, func(expression string) bool { return expression == "yes" })
			if diff := cmp.Diff(before, d.Nodes); diff != "" {
				t.Errorf("the document has changed: %s", diff)
			}
			if got := Write(seen) + "\n"; got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if got := Edit(test.in, seen); got != test.want {
				t.Errorf("edited: %q, want %q", got, test.want)
			}
		})
	}
}

// TestForVisitorNodes uses conditional blocks that are nodes. Editors write them in this form.
func TestForVisitorNodes(t *testing.T) {
	t.Parallel()
	block := func(text string) schema.Node {
		return schema.Node{Type: "paragraph", Nodes: []schema.Node{schema.Text(text)}}
	}
	condition := func(expression string, nodes ...schema.Node) schema.Node {
		return schema.Node{Type: "if", Data: schema.Data{"expression": expression}, Nodes: nodes}
	}
	seen := ForVisitor([]schema.Node{condition("no", block("a")), condition("yes", block("b"), condition("no", block("c")))}, func(e string) bool { return e == "yes" })
	if got := strings.TrimSpace(Write(schema.Document{Nodes: seen})); got != "b" {
		t.Errorf("%q", got)
	}
}

// TestEachNodeIsForVisitor generates random documents with conditional blocks in both forms, and random visitors.
// ForVisitor must show exactly the nodes whose branches allow the visitor.
func TestEachNodeIsForVisitor(t *testing.T) {
	t.Parallel()
	expressions := []string{"a", "b", "c"}
	shown, hidden := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d := schema.NewDocument(genConditions(t, genBlocks(t, "", 0), expressions)...)
		allowed := rapid.SliceOfDistinct(rapid.SampledFrom(expressions), rapid.ID).Draw(t, "allowed")
		allows := func(expression string) bool { return slices.Contains(allowed, expression) }
		all := 0
		var got []string
		EachNode(d, func(_ *schema.Node, refs []map[string]any, in *Branch) {
			all += len(refs)
			for ; in != nil; in = in.In {
				if !allows(in.Expression) {
					return
				}
			}
			for _, ref := range refs {
				got = append(got, fmt.Sprint(ref))
			}
		})
		seen := d
		seen.Nodes = ForVisitor(d.Nodes, allows)
		var want []string
		MapRefs(seen, func(ref map[string]any) map[string]any {
			want = append(want, fmt.Sprint(ref))
			return nil
		})
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s", Write(d), diff)
		}
		shown, hidden = shown+len(want), hidden+all-len(want)
	})
	if shown == 0 || hidden == 0 {
		t.Errorf("%d references were shown, %d hidden", shown, hidden)
	}
}

// genConditions puts some of the blocks into conditional blocks. It also puts tags between blocks.
func genConditions(t *rapid.T, nodes []schema.Node, expressions []string) []schema.Node {
	var with []schema.Node
	for _, n := range nodes {
		if schema.HoldsBlocks(n.Type) {
			n.Nodes = genConditions(t, n.Nodes, expressions)
		}
		for i := range n.Fragments {
			n.Fragments[i].Nodes = genConditions(t, n.Fragments[i].Nodes, expressions)
		}
		expression := rapid.SampledFrom(expressions).Draw(t, "expression")
		switch rapid.IntRange(0, 5).Draw(t, "conditional") {
		case 0:
			n = schema.Node{Type: "if", Data: schema.Data{"expression": expression}, Nodes: []schema.Node{n}}
		case 1:
			with = append(with, kept("{% if "+expression+" %}", nil))
		case 2:
			with = append(with, kept("{% endif %}", nil))
		}
		with = append(with, n)
	}
	return with
}
