package keys

import (
	"maps"
	"strconv"
	"strings"
	"unicode"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// metaID is the member of a block's meta that renderers use as its anchor. A heading's data.id is the anchor that its
// author chose, and meta.id is the anchor that links use.
const metaID = "id"

// maxAnchor bounds the length of an anchor that a client sends.
const maxAnchor = 256

func anchorOf(n *schema.Node) string {
	anchor, _ := n.Meta[metaID].(string)
	return anchor
}

// setAnchor replaces the meta with a changed copy, because other documents may share the old map.
func setAnchor(n *schema.Node, anchor string) {
	meta := maps.Clone(n.Meta)
	if meta == nil {
		meta = schema.Data{}
	}
	meta[metaID] = anchor
	n.Meta = meta
}

func chosenAnchor(n *schema.Node) string {
	if !strings.HasPrefix(n.Type, "heading-") {
		return ""
	}
	if id := content.Member(n.Data, "id"); id != "" {
		return id
	}
	if id := content.Member(n.Data, content.MemberAnchorName); validAnchor(id) {
		return id
	}
	return ""
}

// assignAnchors assigns a unique anchor to every anchored block. All existing anchors stay unchanged, because links may
// lead to them. New anchors differ from all existing anchors.
func assignAnchors(nodes []schema.Node) {
	taken := map[string]bool{}
	anchored := func(visit func(n *schema.Node)) {
		walk(nodes, func(n *schema.Node) {
			if schema.Anchored(n.Type) {
				visit(n)
			}
		})
	}
	anchored(func(n *schema.Node) {
		switch anchor := anchorOf(n); {
		case anchor == "":
		case taken[anchor] || !validAnchor(anchor):
			setAnchor(n, "")
		default:
			taken[anchor] = true
		}
	})
	next := map[string]int{}
	anchored(func(n *schema.Node) {
		if anchorOf(n) != "" {
			return
		}
		base := chosenAnchor(n)
		if base == "" {
			base = anchorText(n)
		}
		anchor := base
		for taken[anchor] {
			next[base]++
			anchor = base + "-" + strconv.Itoa(next[base])
		}
		taken[anchor] = true
		setAnchor(n, anchor)
	})
}

func validAnchor(anchor string) bool {
	return len(anchor) <= maxAnchor && !strings.ContainsFunc(anchor, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	})
}

// anchorText makes an anchor from the visible text of the block.
func anchorText(n *schema.Node) string {
	text := content.InlineText(n.Nodes)
	if !content.HoldsText(n) {
		text = content.Label(n)
	}
	for i := range n.Fragments {
		if f := &n.Fragments[i]; text == "" && f.Fragment == "expandable-title" {
			text = content.InlineText(content.Inlines(f.Nodes))
		}
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return n.Type
	}
	return tree.Slugify(text)
}
