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

// Write writes a document as Markdown for people to read. Read returns an equal document if Markdown has all of its
// blocks; for other blocks all text is kept, in the closest form.
func Write(d schema.Document) string {
	var w writer
	return w.blocks(d.Nodes)
}

// writer writes blocks. Each method returns lines without a trailing newline; the enclosing block indents or quotes
// them.
type writer struct {
	inItem bool // a divider of hyphens would be read as part of a list
}

// blockWriters has a row per kind of block. A kind without a row is written as its label and its children.
var blockWriters map[string]func(w writer, n *schema.Node) string

func init() { // In init, because the writers call blocks, which reads the table.
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

// markers has a row per kind of list: alternating markers separate a list from a similar one directly before it.
var markers = map[string][2]string{
	"list-unordered": {"-", "*"}, "list-tasks": {"-", "*"}, "list-ordered": {".", ")"},
}

// divider matches a line of three or more of the same marker and nothing else.
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
				marker = "+" // Nested empty lists would be read as a divider.
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

// emptyItem matches a line of list markers only. Paragraphs have no such lines: they escape them.
var emptyItem = regexp.MustCompile(`^ *(?:(?:[-*+]|\d+[.)]) +)*(?:[-*+]|\d+[.)])$`)

// gapAfter returns the separator between what is written and the next block. After an empty item it is not a blank
// line: goldmark would end all enclosing lists there, not only the item's own.
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

// indented indents each line that is not empty.
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

// item writes the blocks of an item after its marker, aligning further lines below the first.
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

// itemBody puts no blank line between a paragraph and the list after it, which is how most people write.
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

// reference writes a reference as a link.
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
