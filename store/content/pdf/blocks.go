package pdf

import (
	"fmt"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
)

// pdfBlocks has a row per kind of block with a layout of its own. Others are written as their label and their children.
var pdfBlocks map[string]func(p *pdfWriter, n *schema.Node)

func init() { // In init, because the writers call blocks, which reads the table.
	pdfBlocks = map[string]func(p *pdfWriter, n *schema.Node){
		"paragraph":      (*pdfWriter).text,
		"heading-1":      func(p *pdfWriter, n *schema.Node) { p.heading(n, 16) },
		"heading-2":      func(p *pdfWriter, n *schema.Node) { p.heading(n, 14) },
		"heading-3":      func(p *pdfWriter, n *schema.Node) { p.heading(n, 12) },
		"divider":        (*pdfWriter).divider,
		"blockquote":     (*pdfWriter).quote,
		"hint":           (*pdfWriter).quote,
		"code":           (*pdfWriter).code,
		"list-ordered":   (*pdfWriter).list,
		"list-unordered": (*pdfWriter).list,
		"list-tasks":     (*pdfWriter).list,
		"table":          (*pdfWriter).table,
	}
}

func (p *pdfWriter) blocks(nodes []schema.Node) {
	for i := range nodes {
		if p.full() {
			return
		}
		p.block(&nodes[i])
	}
}

func (p *pdfWriter) block(n *schema.Node) {
	if write, ok := pdfBlocks[n.Type]; ok {
		write(p, n)
		return
	}
	if label := content.Label(n); label != "" {
		p.file.SetFont("go", "B", pdfTextSize)
		p.paragraph(label)
	}
	if content.HoldsText(n) {
		p.text(n)
	} else {
		p.blocks(n.Nodes)
	}
	for i := range n.Fragments {
		p.blocks(n.Fragments[i].Nodes)
	}
}

func (p *pdfWriter) heading(n *schema.Node, size float64) {
	p.file.SetFont("go", "B", size)
	p.file.Ln(2)
	p.paragraph(content.InlineText(n.Nodes))
}

func (p *pdfWriter) divider(*schema.Node) {
	p.file.Ln(2)
	left, _, right, _ := p.file.GetMargins()
	width, _ := p.file.GetPageSize()
	p.file.Line(left, p.file.GetY(), width-right, p.file.GetY())
	p.file.Ln(4)
}

func (p *pdfWriter) quote(n *schema.Node) {
	p.indented(func() { p.blocks(n.Nodes) })
}

func (p *pdfWriter) code(n *schema.Node) {
	lines := make([]string, len(n.Nodes))
	for i := range n.Nodes {
		// A line without height would vanish.
		lines[i] = content.InlineText(n.Nodes[i].Nodes) + " "
	}
	p.indented(func() {
		if title := content.Label(n); title != "" {
			p.file.SetFont("go", "B", pdfCodeSize)
			p.lines(title)
		}
		p.file.SetFont("mono", "", pdfCodeSize)
		p.paragraph(strings.Join(lines, "\n"))
	})
}

// list puts the marker at the margin and the blocks beside it.
func (p *pdfWriter) list(n *schema.Node) {
	number := content.ListStart(n)
	for i := range n.Nodes {
		if p.full() {
			return
		}
		item := &n.Nodes[i]
		marker := "•"
		switch checked, _ := item.Data["checked"].(bool); {
		case n.Type == "list-ordered":
			marker = fmt.Sprintf("%d.", number+i)
		case n.Type == "list-tasks" && checked:
			marker = "[x]"
		case n.Type == "list-tasks":
			marker = "[ ]"
		}
		p.file.SetFont("go", "", pdfTextSize)
		_, size := p.file.GetFontSize()
		p.file.CellFormat(pdfIndent, size*1.35, marker, "", 0, "L", false, 0, "")
		sheet, y := p.file.PageNo(), p.file.GetY()
		p.indented(func() { p.blocks(item.Nodes) })
		if p.file.PageNo() == sheet && p.file.GetY() == y {
			p.file.Ln(size * 1.35) // An empty item still takes a line.
		}
	}
}

// table writes a line per row, with the titles in bold.
func (p *pdfWriter) table(n *schema.Node) {
	for i, row := range content.TableOf(n).Rows() {
		if p.full() {
			return
		}
		style := ""
		if i == 0 {
			style = "B"
		}
		p.file.SetFont("go", style, pdfTextSize)
		p.lines(strings.Join(row, "  |  "))
	}
	p.file.Ln(2)
}

// text lays out a paragraph with its marks and links.
func (p *pdfWriter) text(n *schema.Node) {
	p.file.SetFont("go", "", pdfTextSize)
	_, size := p.file.GetFontSize()
	for _, r := range runs(n.Nodes) {
		if p.full() {
			return
		}
		p.face(r.marks)
		p.pieces(string(r.text), func(piece string) { p.file.Write(size*1.35, p.shown(piece)) })
	}
	p.file.Ln(size * 1.35)
	p.file.Ln(2)
}

func (p *pdfWriter) face(m content.Marks) {
	if m&content.Code != 0 {
		p.file.SetFont("mono", "", pdfCodeSize)
		return
	}
	style := ""
	for _, row := range []struct {
		mark  content.Marks
		style string
	}{{content.Bold, "B"}, {content.Italic, "I"}, {content.Strike, "S"}} {
		if m&row.mark != 0 {
			style += row.style
		}
	}
	p.file.SetFont("go", style, pdfTextSize)
}

// run is a stretch of text with the same marks.
type run struct {
	text  []byte
	marks content.Marks
}

// runs returns the text of inlines, with the address after a link that does not show it. Neighbours with the same marks
// become one run, so that no line breaks inside a word at their boundary.
func runs(nodes []schema.Node) []run {
	var all []run
	add := func(text string, marks content.Marks) {
		switch last := len(all) - 1; {
		case text == "":
		case last >= 0 && all[last].marks == marks:
			all[last].text = append(all[last].text, text...)
		default:
			all = append(all, run{[]byte(text), marks})
		}
	}
	var walk func(nodes []schema.Node)
	walk = func(nodes []schema.Node) {
		for i := range nodes {
			n := &nodes[i]
			for _, leaf := range n.Leaves {
				add(content.Clean(leaf.Text), content.MarksOf(leaf.Marks))
			}
			add(content.Label(n), 0)
			walk(n.Nodes)
			if note := content.Annotation(n); note != "" {
				add(" ("+note+")", 0)
			}
			if link := content.RefLabel(n.Data["ref"]); n.Type == "link" && link != "" && link != content.InlineText(n.Nodes) {
				add(" ("+link+")", 0)
			}
		}
	}
	walk(nodes)
	return all
}
