package pdf

import (
	"cmp"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// markLetters has a row for each mark without data.
var markLetters = []struct {
	mark   content.Marks
	letter string
}{
	{content.Code, "c"}, {content.Bold, "b"}, {content.Italic, "i"}, {content.Strike, "s"}, {content.Superscript, "u"},
	{content.Subscript, "l"}, {content.Keyboard, "k"},
}

// inlineKinds has a row for each kind of inline with its own layout. All other inlines are shown as their label.
var inlineKinds map[string]func(b *builder, n *schema.Node) node

func init() { // The table is set in init, because the rows call inlines, and inlines uses the table.
	inlineKinds = map[string]func(b *builder, n *schema.Node) node{
		"link": func(b *builder, n *schema.Node) node {
			return b.lead(n.Data["ref"], node{Kind: "link", Children: b.inlines(n.Nodes)})
		},
		"mention":      func(b *builder, n *schema.Node) node { return b.reference(n.Data["ref"]) },
		"annotation":   (*builder).annotation,
		"inline-image": (*builder).inlineImage,
		"inline-math":  func(b *builder, n *schema.Node) node { return b.formula("formula", n) },
		"button": func(b *builder, n *schema.Node) node {
			return b.lead(n.Data["ref"], node{Kind: "button", Text: text(oneLine(content.Label(n)))})
		},
	}
}

func (b *builder) inlines(nodes []schema.Node) []node {
	var made []node
	for i := range nodes {
		n := &nodes[i]
		if show, ok := inlineKinds[n.Type]; ok {
			made = append(made, show(b, n))
			continue
		}
		for _, leaf := range n.Leaves {
			made = append(made, leafNodes(leaf)...)
		}
		if label := content.Label(n); label != "" {
			made = append(made, node{Kind: "s", Text: text(oneLine(label))})
		}
		made = append(made, b.inlines(n.Nodes)...)
	}
	return made
}

// leafNodes splits a leaf at its line breaks.
func leafNodes(leaf schema.Leaf) []node {
	like := node{Kind: "s"}
	marks := content.MarksOf(leaf.Marks)
	for _, row := range markLetters {
		if marks&row.mark != 0 {
			like.Marks += row.letter
		}
	}
	for _, mark := range leaf.Marks {
		if mark.Type == "color" {
			like.Color, like.Back = colorOf(mark.Data, "text"), colorOf(mark.Data, "background")
		}
	}
	var made []node
	for i, line := range strings.Split(content.Clean(leaf.Text), "\n") {
		if i > 0 {
			made = append(made, node{Kind: "br"})
		}
		if line = oneLine(line); line != "" {
			like.Text = &line
			made = append(made, like)
		}
	}
	return made
}

// colorOf returns a color's name in the layout's palette. It returns "" if the text has the color of the surrounding
// text.
func colorOf(data schema.Data, member string) string {
	if name := strings.TrimPrefix(content.Member(data, member), "$"); name != "default" {
		return name
	}
	return ""
}

// lead turns a node into a link if the link works in a PDF. A link works if its target is a page of the PDF, or an
// absolute address.
func (b *builder) lead(ref any, n node) node {
	r, _ := ref.(map[string]any)
	if _, elsewhere := r["space"]; elsewhere {
		return n
	}
	kind, _ := r["kind"].(string)
	switch kind {
	case "url":
		if link := content.Link(r); slices.Contains(standalone, schema.LinkScheme(link)) {
			n.To = link
		}
	case "page", "anchor":
		page := b.page
		if id, given := r["page"].(string); given {
			at, there := b.index[id]
			if !there {
				return n
			}
			page = at
		}
		n.Page, n.Anchor = &page, content.Member(r, "anchor")
	}
	return n
}

// standalone has the schemes of links whose target does not depend on the page that contains the link.
var standalone = []string{"http", "https", "mailto", "tel"}

// reference returns a link with the name of its target.
func (b *builder) reference(ref any) node {
	return b.lead(ref, node{Kind: "link", Children: []node{{Kind: "s", Text: text(b.refName(ref))}}})
}

// refName returns the text that is shown for a reference without a text. It is the reference's title, or the title of
// the target page in the PDF, or a word for the kind of the target.
func (b *builder) refName(ref any) string {
	if label := content.RefLabel(ref); label != "" {
		return oneLine(label)
	}
	r, _ := ref.(map[string]any)
	if _, elsewhere := r["space"]; !elsewhere {
		id, _ := r["page"].(string)
		if i, there := b.index[id]; there {
			return b.plain(b.Pages[i].Title)
		}
	}
	return content.RefWord(r)
}

// annotation makes the node of an annotation. Its note is shown at the foot of the sheet.
func (b *builder) annotation(n *schema.Node) node {
	made := node{Kind: "note", Children: b.inlines(n.Nodes)}
	for i := range n.Fragments {
		made.Note = append(made.Note, b.snug(n.Fragments[i].Nodes)...)
	}
	return made
}

func (b *builder) inlineImage(n *schema.Node) node {
	alt := oneLine(cmp.Or(content.Member(n.Data, "alt"), content.Member(n.Data, "caption")))
	return node{Kind: "glyph", Text: &alt, Source: b.image(n.Data["ref"]), Original: content.Member(n.Data, "size") == "original"}
}
