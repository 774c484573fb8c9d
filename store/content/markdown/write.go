package markdown

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
)

// Write writes a document for people to read. Read gives the same document again where Markdown has the same
// blocks; of the others all text is kept, in the form that comes nearest.
func Write(d schema.Document) string {
	var w writer
	return w.blocks(d.Nodes)
}

// writer writes blocks. Each method gives lines without a newline at the end; what surrounds them indents or quotes them.
type writer struct {
	inItem bool // a divider of hyphens would be read as part of a list
}

// blockWriters has a row per kind of block. A kind without a row is written as its label and its children.
var blockWriters map[string]func(w writer, n *schema.Node) string

func init() { // The writers call blocks, which reads the table.
	blockWriters = map[string]func(w writer, n *schema.Node) string{
		"paragraph":        func(_ writer, n *schema.Node) string { return inlineMarkdown(n.Nodes, inParagraph) },
		"heading-1":        func(_ writer, n *schema.Node) string { return headingMarkdown("#", n) },
		"heading-2":        func(_ writer, n *schema.Node) string { return headingMarkdown("##", n) },
		"heading-3":        func(_ writer, n *schema.Node) string { return headingMarkdown("###", n) },
		"divider":          writer.divider,
		"blockquote":       writer.quote,
		"hint":             writer.hint,
		"code":             writer.code,
		"math":             func(_ writer, n *schema.Node) string { return fenced("math", content.Member(n.Data, "formula")) },
		"images":           writer.images,
		"image":            func(_ writer, n *schema.Node) string { return imageMarkdown(n) },
		"table":            writer.table,
		"expandable":       writer.expandable,
		"tabs-item":        writer.titled,
		"file":             writer.reference,
		"drawing":          writer.reference,
		"content-ref":      writer.reference,
		"reusable-content": writer.reference,
		"embed":            writer.embed,
		"swagger":          writer.reference, "openapi-operation": writer.reference,
		"openapi-webhook": writer.reference, "openapi-schemas": writer.reference,
	}
}

// markers has a row per kind of list: the markers which tell a list from one of a similar kind right before it.
var markers = map[string][2]string{
	"list-unordered": {"-", "*"}, "list-tasks": {"-", "*"}, "list-ordered": {".", ")"},
}

// divider finds a line of nothing but three or more of the same marker.
var divider = regexp.MustCompile(`(?m)^(?:(?:- *){3,}|(?:\* *){3,})$`)

func (w writer) blocks(nodes []schema.Node) string {
	var b strings.Builder
	previous := ""
	for i := range nodes {
		n := &nodes[i]
		var text, marker string
		if pair, isList := markers[n.Type]; isList {
			marker = pair[0]
			if previous == marker {
				marker = pair[1]
			}
			if text = w.list(n, marker); divider.MatchString(text) {
				marker = "+" // Empty lists in each other's items would be read as a divider.
				text = w.list(n, marker)
			}
		} else {
			text = w.block(n)
		}
		if text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(gapAfter(b.String()))
		}
		b.WriteString(text)
		previous = marker
	}
	return b.String()
}

// emptyItem is a line of nothing but markers of lists. No paragraph has such a line: it escapes them.
var emptyItem = regexp.MustCompile(`^ *(?:(?:[-*+]|\d+[.)]) +)*(?:[-*+]|\d+[.)])$`)

// gapAfter gives the lines between what is written and the next block. Behind an empty item it is no blank line: goldmark
// takes one for the end of all lists around that item, not only of its own.
func gapAfter(written string) string {
	if emptyItem.MatchString(written[strings.LastIndexByte(written, '\n')+1:]) {
		return "\n"
	}
	return "\n\n"
}

func (w writer) block(n *schema.Node) string {
	if write, ok := blockWriters[n.Type]; ok {
		return write(w, n)
	}
	if content.HoldsText(n) {
		return inlineMarkdown(n.Nodes, inParagraph)
	}
	parts := []string{escaped(content.Label(n)), w.blocks(n.Nodes)}
	for i := range n.Fragments {
		parts = append(parts, w.blocks(n.Fragments[i].Nodes))
	}
	return paragraphs(parts...)
}

func paragraphs(parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "\n\n")
}

func headingMarkdown(marker string, n *schema.Node) string {
	return strings.TrimSuffix(marker+" "+inlineMarkdown(n.Nodes, inHeading), " ")
}

func (w writer) divider(*schema.Node) string {
	if w.inItem {
		return "___"
	}
	return "---"
}

func (w writer) quote(n *schema.Node) string {
	text := w.blocks(n.Nodes)
	return strings.ReplaceAll(">"+indented(text, " "), "\n", "\n>")
}

// indented puts the indent before each line that has something in it.
func indented(text, indent string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = indent + line
		}
	}
	return strings.Join(lines, "\n")
}

func (w writer) hint(n *schema.Node) string {
	body := w.blocks(n.Nodes)
	if body != "" {
		body += "\n"
	}
	style := content.Member(n.Data, "style")
	if !hintOpens.MatchString(`{% hint style="` + style + `" %}`) {
		style = "info"
	}
	return `{% hint style="` + style + "\" %}\n" + body + "{% endhint %}"
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
		if n.Type == "list-tasks" {
			box = "[ ]"
			if checked, _ := item.Data["checked"].(bool); checked {
				box = "[x]"
			}
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(writer{inItem: true}.item(item, head, box))
	}
	return b.String()
}

// item writes the blocks of an item after its marker, the second and further lines below the first.
func (w writer) item(n *schema.Node, head, box string) string {
	indent := strings.Repeat(" ", len(head)+1)
	body := w.itemBody(n.Nodes)
	if box != "" {
		if len(n.Nodes) > 0 && n.Nodes[0].Type != "paragraph" && body != "" {
			body = "\n\n" + body
		}
		body = strings.TrimSuffix(box+" "+body, " ")
		body = strings.Replace(body, box+" \n", box+"\n", 1)
	}
	if body == "" {
		return head
	}
	return strings.TrimPrefix(indented(head+" "+body, indent), indent)
}

// itemBody keeps a list close to the paragraph above it, which is how most people write.
func (w writer) itemBody(nodes []schema.Node) string {
	if len(nodes) == 2 && nodes[0].Type == "paragraph" && nodes[1].Type == "list-unordered" && len(nodes[1].Nodes) > 0 {
		first, second := w.blocks(nodes[:1]), w.blocks(nodes[1:])
		if first != "" && !strings.HasPrefix(second, "-\n") && second != "-" {
			return first + "\n" + second
		}
	}
	return w.blocks(nodes)
}

var syntaxName = regexp.MustCompile("^[^\\s`~\\\\&]+$")

func (w writer) code(n *schema.Node) string {
	lines := make([]string, len(n.Nodes))
	for i := range n.Nodes {
		lines[i] = content.InlineText(n.Nodes[i].Nodes)
	}
	info := ""
	if syntax := content.Member(n.Data, "syntax"); syntaxName.MatchString(syntax) && !strings.HasPrefix(syntax, "title=\"") {
		info = syntax
	}
	if title := content.Member(n.Data, "title"); title != "" {
		info = strings.TrimSpace(info + ` title="` + titleEscapes.Replace(title) + `"`)
	}
	if len(lines) == 0 {
		return fencedLines(info, nil)
	}
	return fenced(info, strings.Join(lines, "\n"))
}

var titleEscapes = strings.NewReplacer(
	`"`, "&quot;", "`", "&#96;", "~", "&#126;", `\`, "&#92;", "&", "&amp;", "\n", "&#10;", "\t", "&#9;", "\v", "&#11;", "\f", "&#12;")

func fenced(info, text string) string { return fencedLines(info, strings.Split(text, "\n")) }

var backticks = regexp.MustCompile("`+")

func fencedLines(info string, lines []string) string {
	fence := "```"
	for _, line := range lines {
		for _, run := range backticks.FindAllString(line, -1) {
			if len(run) >= len(fence) {
				fence = run + "`"
			}
		}
	}
	text := ""
	for _, line := range lines {
		text += line + "\n"
	}
	return fence + info + "\n" + text + fence
}

func (w writer) images(n *schema.Node) string {
	parts := make([]string, len(n.Nodes))
	for i := range n.Nodes {
		parts[i] = imageMarkdown(&n.Nodes[i])
	}
	return strings.Join(parts, " ")
}

func imageMarkdown(n *schema.Node) string {
	caption := content.Member(n.Data, "caption")
	for _, fragment := range n.Fragments {
		caption = strings.TrimSpace(caption + " " + content.InlineText(content.Inlines(fragment.Nodes)))
	}
	return image(n.Data["ref"], content.Member(n.Data, "alt"), caption)
}

func (w writer) expandable(n *schema.Node) string {
	var parts []string
	for i := range n.Fragments {
		body := w.blocks(n.Fragments[i].Nodes)
		if n.Fragments[i].Fragment == "expandable-title" {
			body = inlineMarkdown(bold(content.Inlines(n.Fragments[i].Nodes)), inParagraph)
		}
		parts = append(parts, body)
	}
	return paragraphs(parts...)
}

func bold(nodes []schema.Node) []schema.Node {
	return []schema.Node{schema.Text(content.InlineText(nodes), "bold")}
}

func (w writer) titled(n *schema.Node) string {
	title := ""
	if label := content.Label(n); label != "" {
		title = inlineMarkdown([]schema.Node{schema.Text(label, "bold")}, inParagraph)
	}
	return paragraphs(title, w.blocks(n.Nodes))
}

// reference writes what points elsewhere as a link.
func (w writer) reference(n *schema.Node) string {
	return linkLine(content.Label(n), n.Data["ref"])
}

func (w writer) embed(n *schema.Node) string {
	return linkLine(content.Label(n), map[string]any{"kind": "url", "url": n.Data["url"]})
}

func linkLine(label string, ref any) string {
	if content.Link(ref) == "" {
		return escaped(label)
	}
	return inlineMarkdown([]schema.Node{{Type: "link", Data: schema.Data{"ref": ref}, Nodes: []schema.Node{schema.Text(label)}}}, inParagraph)
}

func (w writer) table(n *schema.Node) string {
	t := content.TableOf(n)
	if len(t.Titles) == 0 {
		return ""
	}
	titles, rule := make([]string, len(t.Titles)), make([]string, len(t.Titles))
	for i, title := range t.Titles {
		titles[i] = inlineMarkdown([]schema.Node{schema.Text(title)}, inCell)
		rule[i] = cmp.Or(map[string]string{"center": ":---:", "right": "---:"}[t.Alignments[i]], "---")
	}
	lines := []string{tableRow(titles), tableRow(rule)}
	for _, cells := range t.Cells {
		row := make([]string, len(cells))
		for i, cell := range cells {
			row[i] = inlineMarkdown(cell, inCell)
		}
		lines = append(lines, tableRow(row))
	}
	return strings.Join(lines, "\n")
}

func tableRow(cells []string) string {
	return fmt.Sprintf("| %s |", strings.Join(cells, " | "))
}
