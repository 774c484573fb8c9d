package content

import (
	"fmt"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// pdfBlocks has a row per kind of block that is set in its own way. Others are their label and their children.
var pdfBlocks map[string]func(p *pdfWriter, n *schema.Node)

func init() { // The writers call blocks, which reads the table.
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
	if label := labelOf(n); label != "" {
		p.file.SetFont("go", "B", pdfTextSize)
		p.paragraph(label)
	}
	if holdsText(n) {
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
	p.paragraph(plainNodes(n.Nodes))
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
		lines[i] = plainNodes(n.Nodes[i].Nodes) + " "
	}
	p.indented(func() {
		if title := labelOf(n); title != "" {
			p.file.SetFont("go", "B", pdfCodeSize)
			p.lines(title)
		}
		p.file.SetFont("mono", "", pdfCodeSize)
		p.paragraph(strings.Join(lines, "\n"))
	})
}

// list puts the marker at the margin and the blocks beside it.
func (p *pdfWriter) list(n *schema.Node) {
	number := startOf(n)
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
			p.file.Ln(size * 1.35) // An empty item has its line all the same.
		}
	}
}

// table is a line per row, the titles in bold.
func (p *pdfWriter) table(n *schema.Node) {
	for i, row := range tableOf(n).allRows() {
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

// text sets a paragraph with its marks and links.
func (p *pdfWriter) text(n *schema.Node) {
	p.file.SetFont("go", "", pdfTextSize)
	_, size := p.file.GetFontSize()
	for _, r := range merge(runsIn(n.Nodes)) {
		if p.full() {
			return
		}
		p.face(r.marks)
		p.pieces(r.text, func(piece string) { p.file.Write(size*1.35, p.shown(piece)) })
	}
	p.file.Ln(size * 1.35)
	p.file.Ln(2)
}

func (p *pdfWriter) face(m marks) {
	if m&markCode != 0 {
		p.file.SetFont("mono", "", pdfCodeSize)
		return
	}
	style := ""
	for _, row := range []struct {
		mark  marks
		style string
	}{{markBold, "B"}, {markItalic, "I"}, {markStrike, "S"}} {
		if m&row.mark != 0 {
			style += row.style
		}
	}
	p.file.SetFont("go", style, pdfTextSize)
}

// runsIn gives the text of inlines as runs, with the address behind a link that does not show it.
func runsIn(nodes []schema.Node) []run {
	var runs []run
	for i := range nodes {
		n := &nodes[i]
		for _, leaf := range n.Leaves {
			runs = append(runs, run{text: clean(leaf.Text), marks: marksOf(leaf.Marks)})
		}
		runs = append(runs, run{text: labelOf(n)})
		runs = append(runs, runsIn(n.Nodes)...)
		if note := annotation(n); note != "" {
			runs = append(runs, run{text: " (" + note + ")"})
		}
		if link := refLabel(n.Data["ref"]); n.Type == "link" && link != "" && link != plainNodes(n.Nodes) {
			runs = append(runs, run{text: " (" + link + ")"})
		}
	}
	return runs
}
