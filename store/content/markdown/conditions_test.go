package markdown

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
)

// TestForVisitor has the expressions `yes` and `no`, and compares what a visitor sees, as Markdown.
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

// TestForVisitorNodes has conditional blocks that an editor wrote as nodes.
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
