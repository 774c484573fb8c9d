package filerefs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/includes"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

func id(n int) string { return fmt.Sprintf("%026d", n) }

func read(t *testing.T, text string) schema.Document {
	t.Helper()
	d, err := markdown.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestOf checks the references that are listed for documents.
func TestOf(t *testing.T) {
	t.Parallel()
	file, other := "ref:file/"+id(1), "ref:file/"+id(2)
	for name, test := range map[string]struct {
		text string
		want Refs
	}{
		"nothing":         {"[a](b.md) file", Refs{}},
		"an image, twice": {"![a](" + file + ")\n\n![a](" + file + ")", Refs{Files: []Ref{{ID: id(1)}}}},
		"a link":          {"[a](" + file + ")", Refs{Files: []Ref{{ID: id(1)}}}},
		"a block":         {"{% file src=\"" + file + "\" %}", Refs{Files: []Ref{{ID: id(1)}}}},
		"no id":           {"![a](ref:file/a) ![b](ref:file/..%2Fsecret)", Refs{}},
		"another space's": {"[a](" + file + "?space=" + id(9) + ")", Refs{Files: []Ref{{ID: id(1), Space: id(9)}}}},
		"a content":       {"{% include \"ref:reusable-content/" + id(3) + "\" %}", Refs{Includes: []Ref{{ID: id(3)}}}},
		"a condition": {
			"{% if a %}\n![a](" + file + ")\n{% endif %}",
			Refs{Branches: []Branch{{0, "a"}}, Files: []Ref{{ID: id(1), In: 1}}},
		},
		"an empty one": {"{% if a %}\nb\n{% endif %}\n\n![a](" + file + ")", Refs{Files: []Ref{{ID: id(1)}}}},
		"in and out of it": {
			"{% if a %}\n![a](" + file + ")\n{% endif %}\n\n![a](" + file + ")",
			Refs{Branches: []Branch{{0, "a"}}, Files: []Ref{{ID: id(1), In: 1}, {ID: id(1)}}},
		},
		"one in another": {
			"{% if a %}\n{% if b %}\n![a](" + file + ")\n{% endif %}\n\n![b](" + other + ")\n{% endif %}",
			Refs{Branches: []Branch{{0, "a"}, {1, "b"}}, Files: []Ref{{ID: id(1), In: 2}, {ID: id(2), In: 1}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := read(t, test.text)
			if diff := cmp.Diff(test.want, Of(d)); diff != "" {
				t.Error(diff)
			}
			encoded, err := json.Marshal(d)
			if err != nil || !MayName(encoded) && len(test.want.Files)+len(test.want.Includes) > 0 {
				t.Errorf("%s may name nothing, %v", encoded, err)
			}
			test.want.Includes = nil
			if diff := cmp.Diff(test.want, OfFile([]byte(test.text))); diff != "" {
				t.Errorf("as a reusable content: %s", diff)
			}
		})
	}
	if got := OfFile([]byte("![a](" + file + ")" + strings.Repeat("\n", includes.MaxBytes))); len(got.Files) > 0 {
		t.Errorf("a large file names %v", got)
	}
}

// TestOfIsBounded checks that the size of a document's stored Refs is bounded. The document may have any number of
// references and any nesting of blocks.
func TestOfIsBounded(t *testing.T) {
	t.Parallel()
	image := func(n int) schema.Node {
		ref := map[string]any{"kind": "file", "file": id(n)}
		return schema.Block("images", schema.Node{Type: "image", Data: schema.Data{"ref": ref}})
	}
	tag := func(text string) schema.Node { return read(t, text).Nodes[0] }
	many, deep, long := []schema.Node{}, []schema.Node{}, []schema.Node{}
	for n := range 9000 {
		many = append(many, image(n))
		deep = append(deep, tag(fmt.Sprintf("{%% if a%d %%}", n)), image(n))
	}
	for n := range 100 {
		long = append(long, tag("{% if a."+strings.Repeat("b", 10_000)+" %}"), image(n))
	}
	for name, nodes := range map[string][]schema.Node{"many": many, "deep": deep, "long": long} {
		refs := Of(schema.Document{Nodes: nodes})
		encoded, err := json.Marshal(refs)
		if err != nil || len(encoded) > maxBytes*5/4 || len(refs.Files) < 10 {
			t.Errorf("%s: %d bytes, %d files, %v", name, len(encoded), len(refs.Files), err)
		}
		for i, branch := range refs.Branches {
			if branch.In > i {
				t.Fatalf("%s: branch %d is in %d", name, i+1, branch.In)
			}
		}
	}
}
