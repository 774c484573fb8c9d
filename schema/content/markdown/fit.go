package markdown

import (
	"maps"
	"reflect"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// The readers of Markdown can put any block at any place, and can make kinds of blocks that the grammar does not have.
// The function `fit` turns these blocks into blocks that satisfy the grammar. The Markdown of the blocks stays the
// same:
//   - Some containers are not allowed in their place, or have content that is not allowed. Such a container is replaced
//     by its content, between two paragraphs that store its tag and its end tag.
//   - Any other block that is not allowed becomes a paragraph with the same text, which stores the block's Markdown.
//   - Unknown HTML and unknown tags become a paragraph that stores their source.
//
// The meta of such a paragraph has the source. If a client edits the paragraph's text, `reworded` makes the same change
// in the source. If this is not possible, the paragraph is written as its text, without the source.

func fit(nodes []schema.Node, parent string) []schema.Node {
	fitted := make([]schema.Node, 0, len(nodes))
	for i := range nodes {
		fitted = append(fitted, fitNode(nodes[i], parent)...)
	}
	return fitted
}

func fitNode(n schema.Node, parent string) []schema.Node {
	switch {
	case n.Type == kindRaw:
		return []schema.Node{kept(content.Member(n.Data, memberSource), rawText(n))}
	case schema.Allows(parent, n.Type) && holdsItsOwn(&n):
		fitInside(&n)
		return []schema.Node{n}
	case n.Type == "expandable":
		open, summary, body := detailsParts(&n)
		nodes := []schema.Node{kept(open, nil), kept(summary, titleOf(&n))}
		return append(append(nodes, fit(body, parent)...), kept("</details>", nil))
	}
	if row := tagOf(&n); row != nil && row.form == formContainer {
		nodes := []schema.Node{kept(tagText(row.name, row.attributes(&n)), nil)}
		return append(append(nodes, fit(n.Nodes, parent)...), kept(tagText("end"+row.name, nil), nil))
	}
	return []schema.Node{kept((writer{}).block(&n), shownAs(&n))}
}

func fitInside(n *schema.Node) {
	if schema.HoldsBlocks(n.Type) {
		n.Nodes = fit(n.Nodes, n.Type)
	}
	for i := range n.Fragments {
		f := &n.Fragments[i]
		within := f.Type
		if n.Type == "table" {
			within = schema.FragmentCell
		}
		if n.Type == "image" || within == fragmentTitle {
			continue
		}
		f.Nodes = filled(fit(f.Nodes, within))
	}
	for i := range n.Nodes { // An annotation is an inline node whose fragments have blocks.
		for j := range n.Nodes[i].Fragments {
			if f := &n.Nodes[i].Fragments[j]; f.Type == fragmentNote {
				f.Nodes = fit(f.Nodes, fragmentNote)
			}
		}
	}
}

// holdsItsOwn reports whether all children of a block have the type that parts of this block must have.
func holdsItsOwn(n *schema.Node) bool {
	part, ok := partKinds[n.Type]
	for i := range n.Nodes {
		if ok && n.Nodes[i].Type != part {
			return false
		}
	}
	return true
}

func titleOf(n *schema.Node) []schema.Node {
	for i := range n.Fragments {
		if n.Fragments[i].Fragment == fragmentTitle {
			return content.Inlines(n.Fragments[i].Nodes)
		}
	}
	return nil
}

// keptMarkdown returns the source that a paragraph stores. The second result is false if reading this source does not
// give the same paragraph again.
func keptMarkdown(n *schema.Node, parent string) (string, bool) {
	source := keptSource(n)
	if source == "" {
		return "", false
	}
	if made, ok := keptAs(source, parent); !ok || !sameNode(made, n) {
		return "", false
	}
	return content.Clean(source), true
}

// keptAs returns the block that a source is read as. The second result is false if the source is not read as a single
// block.
func keptAs(source, parent string) (*schema.Node, bool) {
	made := schema.NewDocument(fit(newReader(source).ideal(), parent)...)
	if len(made.Nodes) != 1 {
		return nil, false
	}
	return &made.Nodes[0], true
}

// sameNode reports whether two nodes are equal, except for their keys.
func sameNode(a, b *schema.Node) bool {
	return a.Object == b.Object && a.Type == b.Type && a.Fragment == b.Fragment && sameData(a.Data, b.Data) &&
		sameMeta(a.Meta, b.Meta) &&
		len(a.Leaves) == len(b.Leaves) && (len(a.Leaves) == 0 || reflect.DeepEqual(a.Leaves, b.Leaves)) &&
		sameNodes(a.Nodes, b.Nodes) && sameNodes(a.Fragments, b.Fragments)
}

func sameNodes(a, b []schema.Node) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameNode(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

func sameData(a, b schema.Data) bool {
	if len(a) != len(b) {
		return false
	}
	for name, value := range a {
		if other, ok := b[name]; !ok || !reflect.DeepEqual(value, other) {
			return false
		}
	}
	return true
}

// sameMeta compares meta without the id that a block gets when it is stored.
func sameMeta(a, b schema.Data) bool {
	withoutID := func(d schema.Data) schema.Data {
		d = maps.Clone(d)
		delete(d, "id")
		return d
	}
	return sameData(withoutID(a), withoutID(b))
}
