package pdf

import "strings"

// These constants are estimates of the memory that the renderer needs, in bytes.
const (
	costOfStart = 128 << 20
	costOfPage  = 64 << 10
	costOfNode  = 8 << 10
	costOfCell  = 24 << 10
	costOfLine  = 24 << 10 // cost of a line of code
	costOfByte  = 200      // cost of a byte of text
	costOfCode  = 600      // additional cost of a byte of code
)

// costOf estimates how much memory the renderer needs for a block.
func costOf(n *node) int64 {
	cost := int64(costOfNode)
	if n.Text != nil {
		cost += costOfByte * int64(len(*n.Text))
		if n.Kind == "code" {
			cost += costOfLine*int64(strings.Count(*n.Text, "\n")+1) + costOfCode*int64(len(*n.Text))
		}
	}
	for _, list := range [][]node{n.Children, n.Note} {
		for i := range list {
			cost += costOf(&list[i])
		}
	}
	for _, row := range rowsOf(n) {
		for i := range row {
			cost += costOfCell + costOf(&row[i])
		}
	}
	return cost
}

// rowsOf returns the rows of a table's cells. The head is one of the rows.
func rowsOf(n *node) [][]node {
	if n.Columns == nil {
		return nil
	}
	head := make([]node, len(n.Columns))
	for i, column := range n.Columns {
		head[i].Children = column.Children
	}
	return append([][]node{head}, n.Rows...)
}

// notesOf returns the number of notes in a node and its descendants. The notes are shown at the foot of the sheets.
func notesOf(n *node) int {
	notes := 0
	if n.Kind == "note" {
		notes++
	}
	for _, list := range append([][]node{n.Children, n.Note}, rowsOf(n)...) {
		for i := range list {
			notes += notesOf(&list[i])
		}
	}
	return notes
}
