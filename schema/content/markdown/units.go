package markdown

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/respell"
)

// unit is a block of the source, with the blocks of the document that are read from it. A definition is a unit without
// blocks of the document.
type unit struct {
	from, to int // positions in the source, without the following blank lines
	nodes    []schema.Node
	note     string // the label, if the unit is the definition of a footnote to which a text refers
}

// unitsOf reads the top-level blocks of a text, with their positions. `read` is the state of the parsers. `ok` is false
// if the text has too many nodes.
func unitsOf(source string) (units []unit, read *markdownState, ok bool) {
	r := newReader(source)
	root := r.parse(nil)
	if r.state.tooLarge {
		return nil, nil, false
	}
	units = r.units(root, string(r.source))
	// All references to notes are known only after all blocks are read.
	for i := range units {
		units[i].nodes = schema.NewDocument(fit(r.settleNotes(units[i].nodes), "")...).Nodes
		if len(units[i].nodes) > 0 {
			units[i].note = ""
		}
	}
	for _, at := range r.state.definitions {
		units = append(units, unit{from: lineStart(source, at)})
	}
	slices.SortStableFunc(units, func(a, b unit) int { return a.from - b.from })
	for i := range units {
		end := len(source)
		if i+1 < len(units) {
			end = units[i+1].from
		}
		units[i].to = units[i].from + len(strings.TrimRight(source[units[i].from:end], " \t\n"))
	}
	slices.SortFunc(r.state.links, func(a, b respell.Reference) int { return a.From - b.From })
	return units, r.state, true
}

// units reads the blocks of a container. If a container is stored as paragraphs with its tags, its tags and the blocks
// between them are separate units.
func (r *reader) units(n ast.Node, source string) []unit {
	var units []unit
	joined := -1 // the position at which the attributes of the next heading begin
	for block := n.FirstChild(); block != nil; block = block.NextSibling() {
		read, ok := blockReaders[block.Kind()]
		if !ok {
			continue
		}
		nodes, from := read(r, block), lineStart(source, startOf(block))
		if line, ok := block.(*attributesBlock); ok && len(nodes) == 0 {
			if headingOf(line) == block.NextSibling() {
				joined = from
			}
			continue
		}
		if joined >= 0 {
			from, joined = joined, -1
		}
		t, ok := block.(*tagNode)
		container := ok && t.row != nil && t.row.form == formContainer && t.terminated && t.FirstChild() != nil
		if !container || len(nodes) != 1 || schema.Allows("", nodes[0].Type) {
			u := unit{from: from, nodes: nodes}
			if note, ok := block.(*noteBlock); ok {
				u.note = note.label
			}
			units = append(units, u)
			continue
		}
		units = append(
			units, unit{from: from, nodes: []schema.Node{rawBlock(tagText(t.row.name, t.row.attributes(&nodes[0])))}},
		)
		units = append(units, r.units(t, source)...)
		units = append(units, unit{
			from: lineStart(source, t.endAt), nodes: []schema.Node{rawBlock(tagText("end"+t.row.name, nil))},
		})
	}
	return units
}

func lineStart(source string, at int) int {
	return strings.LastIndexByte(source[:min(at, len(source))], '\n') + 1
}

// startOf returns a position in the first line of a block. A paragraph may begin with definitions, which do not belong
// to it. The position is then in the first line after the definitions.
func startOf(n ast.Node) int {
	at := n.Pos()
	text := n.Kind() == ast.KindParagraph || n.Kind() == ast.KindHeading
	if lines := n.Lines(); lines != nil && lines.Len() > 0 && (at < 0 || text) {
		at = lines.At(0).Start
	}
	return max(at, 0)
}
