package openapi

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problem is one problem of a document. The person who has sent the document may see it.
type Problem struct {
	// Document is the address of the document, if it is not the specification itself.
	Document string
	// Line and Column are counted from 1. They are 0 if the position is unknown.
	Line, Column int
	// Pointer is a JSON pointer in the form of a URI fragment. It is "" if the text could not be parsed up to the
	// problem.
	Pointer string
	// Text is the end of the sentence "the document ...". If there is a pointer, it is the end of a sentence about the
	// part to which the pointer leads.
	Text string
	Code string
	// Retryable is true if the same document may be readable later.
	Retryable bool
}

// Error returns the problem with its place, for example: line 12, column 5 (#/paths/~1pets/get): responses is missing.
func (p *Problem) Error() string {
	var b strings.Builder
	if p.Document != "" {
		b.WriteString(p.Document)
	}
	if p.Line > 0 {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "line %d", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, ", column %d", p.Column)
		}
	}
	if p.Pointer != "" {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "(%s)", shorten(p.Pointer, 200))
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(shorten(p.Text, 500))
	return strings.Map(storable, b.String())
}

// storable replaces control characters in texts of documents. The database cannot store U+0000.
func storable(r rune) rune {
	if unicode.IsControl(r) {
		return utf8.RuneError
	}
	return r
}

// Problems are the problems of a document, in the order in which they were found. There is at least one problem, and at
// most mostProblems.
type Problems []*Problem

// mostProblems is the largest number of problems that are reported for a document.
const mostProblems = 20

// Error returns the first problem, and the number of further problems.
func (p Problems) Error() string {
	text := p[0].Error()
	if more := len(p) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// shorten cuts a text that quotes a document to at most `longest` characters.
func shorten(text string, longest int) string {
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}
