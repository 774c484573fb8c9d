package includes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

func block(id string, more ...string) schema.Node {
	ref := map[string]any{"kind": Block, "reusableContent": id}
	for _, space := range more {
		ref["space"] = space
	}
	return schema.Node{Object: schema.ObjectBlock, Type: Block, Data: schema.Data{"ref": ref}}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	nodes := []schema.Node{
		block("a"), block("a"), block("elsewhere", "s1"), {Type: Block}, {Type: "paragraph"},
		{Type: "hint", Nodes: []schema.Node{block("b")}, Fragments: []schema.Node{{Nodes: []schema.Node{block("c")}}}},
	}
	if got := Named(nodes); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("%q", got)
	}
	var many []schema.Node
	for i := range 2 * maxNamed {
		many = append(many, block(fmt.Sprint(i)))
	}
	if got := Named(many); len(got) != maxNamed {
		t.Errorf("%d are named", len(got))
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	nodes := []schema.Node{block("a"), block("b"), {Type: "hint", Nodes: []schema.Node{block("a")}}}
	got := Replace(nodes, func(id string) ([]schema.Node, bool) {
		return []schema.Node{{Type: "paragraph"}, {Type: "divider"}}, id == "a"
	})
	kinds := func(nodes []schema.Node) (all []string) {
		for _, n := range nodes {
			all = append(all, n.Type)
		}
		return all
	}
	if list := kinds(got); !slices.Equal(list, []string{"paragraph", "divider", Block, "hint"}) || len(got[3].Nodes) != 2 {
		t.Errorf("%q", list)
	}
	if list := kinds(nodes); len(list) != 3 || list[0] != Block || nodes[2].Nodes[0].Type != Block {
		t.Errorf("the nodes were changed: %q", list)
	}
}

func TestReadAndEdit(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"front matter":     "---\ntitle: A   # kept\n---\n\nFirst.\n\n*  odd\n*  list\n",
		"none":             "First.\n\n*  odd\n*  list\n",
		"no front matter":  "---\n[a, list]\n---\n\nFirst.\n",
		"carriage returns": "---\r\ntitle: A\r\n---\r\n\r\nFirst.\n",
	} {
		d, ok := Read([]byte(file))
		if !ok || !strings.Contains(content.Plain(d), "First.") || strings.Contains(content.Plain(d), "title") {
			t.Errorf("%s: %v %q", name, ok, content.Plain(d))
		}
		if got := string(Edit([]byte(file), d)); got != file {
			t.Errorf("%s: not edited, it is\n%s", name, got)
		}
		for i := range d.Nodes {
			if n := &d.Nodes[i]; n.Type == "paragraph" && content.Plain(schema.NewDocument(*n)) == "First." {
				n.Nodes = []schema.Node{schema.Text("Second.")}
			}
		}
		if got, want := string(Edit([]byte(file), d)), strings.Replace(file, "First.", "Second.", 1); got != want {
			t.Errorf("%s: edited, it is\n%s", name, got)
		}
	}
	if _, ok := Read([]byte("no text: \xff\xfe\n")); ok {
		t.Error("a file that is no text is read")
	}
}
