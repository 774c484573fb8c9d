package markdown

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// Write writes a document as Markdown. If CommonMark and GFM have no form for a block, Write uses GitBook's tags and
// HTML. If the result is read with Read, it gives the normal form of the document, which the package comment describes.
func Write(d schema.Document) string {
	w := writer{notes: newNoteList(d.Nodes)}
	text := w.blocks(d.Nodes)
	if notes := w.notes.definitions(); notes != "" {
		text += gapAfter(text) + notes
	}
	return text
}

// listMarkers has a row for each kind of list. The second marker is used for a list directly after a list of the same
// kind. With equal markers, both lists would be read as one list.
var listMarkers = map[string][2]string{
	"list-unordered": {"-", "*"}, "list-tasks": {"-", "*"}, "list-ordered": {".", ")"},
}

// dividerLine matches a line with only three or more equal markers.
var dividerLine = regexp.MustCompile(`(?m)^(?:(?:- *){3,}|(?:\* *){3,})$`)

func (w writer) blocks(nodes []schema.Node) string {
	return w.between(nodes, 0, len(nodes), pairKept(nodes))
}

// between writes the blocks from index `from` up to index `to`. `ends` has, for each tag that is stored as source, the
// index of its end tag.
func (w writer) between(nodes []schema.Node, from, to int, ends map[int]int) string {
	var b strings.Builder
	previous := ""
	for i := from; i < to; i++ {
		n := &nodes[i]
		var text, marker string
		if end, ok := ends[i]; ok {
			if text, ok = w.keptContainer(nodes, i, end, ends); ok {
				i = end
			} else {
				text = w.block(n)
			}
		} else if pair, isList := listMarkers[n.Type]; isList {
			marker = pair[0]
			if previous == marker {
				marker = pair[1]
			}
			if text = w.list(n, marker); dividerLine.MatchString(text) {
				marker = "+" // with - or *, nested empty lists would be read as a divider
				text = w.list(n, marker)
			}
		} else {
			text = w.block(n)
		}
		if text == "" {
			continue
		}
		if b.Len() > 0 {
			gap := "\n\n"
			// The text so far ends with an empty item only if its last block is a list.
			if previous != "" {
				gap = gapAfter(b.String())
			}
			b.WriteString(gap)
		}
		b.WriteString(text)
		previous, w.boxed = marker, false
	}
	return b.String()
}

// keptContainer writes a container that is stored as paragraphs with its tags. The second result is false if a client
// has changed one of these paragraphs.
func (w writer) keptContainer(nodes []schema.Node, open, end int, ends map[int]int) (string, bool) {
	first, ok := keptMarkdown(&nodes[open], w.parent)
	last, closed := keptMarkdown(&nodes[end], w.parent)
	if !ok || !closed {
		return "", false
	}
	if body := w.between(nodes, open+1, end, ends); body != "" {
		first += "\n" + body
	}
	return first + "\n" + last, true
}

// pairKept finds the tags that paragraphs store as source and that have an end tag. It maps the index of each tag to
// the index of its end tag.
func pairKept(nodes []schema.Node) map[int]int {
	var ends map[int]int
	var open []int
	var names []string
	for i := range nodes {
		source := keptSource(&nodes[i])
		if source == "" {
			continue
		}
		t, ok := readTagLine([]byte(source))
		if !ok {
			continue
		}
		name, isEnd := strings.CutPrefix(t.name, "end")
		row := tagNamed(name)
		switch last := len(open) - 1; {
		case row == nil || row.form == formAlone:
		case !isEnd:
			open, names = append(open, i), append(names, name)
		case last >= 0 && names[last] == name:
			if ends == nil {
				ends = map[int]int{}
			}
			ends[open[last]] = i
			open, names = open[:last], names[:last]
		}
	}
	return ends
}

func (w writer) block(n *schema.Node) string {
	if write, ok := blockWriters[n.Type]; ok {
		return write(w, n)
	}
	if tagOf(n) != nil {
		return w.tagged(n)
	}
	if content.HoldsText(n) {
		return w.inline(n.Nodes, inParagraph)
	}
	parts := []string{escaped(content.Label(n)), w.blocks(n.Nodes)}
	for i := range n.Fragments {
		parts = append(parts, w.blocks(n.Fragments[i].Nodes))
	}
	return paragraphs(parts...)
}

func (w writer) paragraph(n *schema.Node) string {
	if source, ok := keptMarkdown(n, w.parent); ok {
		return source
	}
	if source, ok := reworded(n, w.parent); ok {
		return source
	}
	if attrs := ownAttributes(n); len(attrs) > 0 {
		return openTag("p", attrs) + inlinesHTML(n.Nodes) + "</p>"
	}
	nodes := n.Nodes
	if imagesOrParagraph(nodes).Type == "images" {
		nodes = sizedImages(nodes) // without sizes, the paragraph would be read as a block of images
	}
	return w.inline(nodes, inParagraph)
}

func (w writer) heading(n *schema.Node) string {
	level := headingLevel(n)
	if len(ownAttributes(n)) > 0 {
		return blockHTML(n)
	}
	text := w.inline(n.Nodes, inHeading)
	before, after, anchor := "", "", headingAnchor(n)
	switch {
	case strings.HasSuffix(anchor, "\n"):
		before = anchor
	case strings.HasPrefix(anchor, "\n"):
		after = anchor
	case anchor != "":
		text = strings.TrimPrefix(text+" "+anchor, " ")
	}
	return before + strings.TrimSuffix(strings.Repeat("#", level)+" "+text, " ") + after
}

// drawing writes a drawing in GitBook's form: as an image whose source is the drawing's file.
func (w writer) drawing(n *schema.Node) string {
	src, _ := kindFile.write(n.Data["ref"])
	attrs := attributes{
		{
			name:  "src",
			value: src,
		}, {name: "alt", value: content.Member(n.Data, "alt")}, {name: "class", value: "gitbook-drawing"},
	}
	return openTag("img", append(attrs, otherAttributes(stringMap(n.Data[memberAttributes]), attrs)...))
}

func (w writer) divider(*schema.Node) string {
	if w.inItem {
		return "___"
	}
	return "---"
}

func (w writer) quote(n *schema.Node) string {
	text := w.inside(n.Type).blocks(n.Nodes)
	return strings.ReplaceAll(">"+indented(text, " "), "\n", "\n>")
}

func (w writer) list(n *schema.Node, marker string) string {
	var b strings.Builder
	number := content.ListStart(n)
	for i := range n.Nodes {
		item := &n.Nodes[i]
		head := marker
		if n.Type == "list-ordered" {
			head = strconv.Itoa(number) + marker
			number = min(number+1, content.MaxListNumber)
		}
		box := ""
		if checked, task := taskOf(n, item); task {
			box = map[bool]string{true: "[x]", false: "[ ]"}[checked]
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		inner := w.inside("list-item")
		inner.inItem, inner.boxed = true, box != "" && len(item.Nodes) > 0 && followsBox(&item.Nodes[0])
		b.WriteString(inner.item(item, head, box))
	}
	return b.String()
}

// followsBox reports whether a block can be on the same line as a task's box. If a paragraph stores its source, the
// source would be read as another kind of block after the box. An aligned paragraph is written as a block of HTML,
// which cannot follow the box.
func followsBox(n *schema.Node) bool {
	return n.Type == "paragraph" && keptSource(n) == "" && len(ownAttributes(n)) == 0
}

// item writes the blocks of an item after its marker, and indents the following lines to the column of the first line.
func (w writer) item(n *schema.Node, head, box string) string {
	indent := strings.Repeat(" ", len(head)+1)
	body := w.itemBody(n.Nodes)
	if box != "" {
		if len(n.Nodes) > 0 && !followsBox(&n.Nodes[0]) && body != "" {
			body = "\n\n" + body
		}
		switch {
		case body == "":
			body = box
		case body[0] == '\n':
			body = box + body
		default:
			body = box + " " + body
		}
	}
	if body == "" {
		return head
	}
	return strings.TrimPrefix(indented(head+" "+body, indent), indent)
}

// itemBody writes the blocks of an item. It writes no blank line between a paragraph and a following list, because most
// authors write none.
func (w writer) itemBody(nodes []schema.Node) string {
	if len(nodes) == 2 && nodes[0].Type == "paragraph" && len(nodes[0].Data)+len(nodes[0].Meta) == 0 && nodes[1].Type == "list-unordered" && len(nodes[1].Nodes) > 0 {
		first, second := w.blocks(nodes[:1]), w.blocks(nodes[1:])
		if first != "" && !strings.HasPrefix(second, "-\n") && second != "-" {
			return first + "\n" + second
		}
	}
	return w.blocks(nodes)
}

// Verbatim returns a document with the Markdown as plain text. Callers use it for stored Markdown that would give a
// document with too many nodes.
func Verbatim(markdown string) schema.Document {
	return schema.NewDocument(schema.Block("paragraph", schema.Text(content.Clean(markdown))))
}
