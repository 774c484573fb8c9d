package markdown

import (
	"regexp"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// writer writes blocks. Each method returns lines without a trailing newline. The enclosing block indents or quotes
// them.
type writer struct {
	parent string // the kind of the block around
	inItem bool   // a divider of hyphens would be read as part of a list
	// inLabel is true for the text of a link. boxed is true after the box of a task. No block of tags or HTML can begin
	// there.
	inLabel, boxed bool
	notes          *noteList
}

// inside returns a writer for the content of a block.
func (w writer) inside(kind string) writer {
	w.parent, w.boxed = kind, false
	return w
}

// place is the kind of block that contains inlines. Headings and cells are one line, and cells end at a pipe.
type place int

const (
	inParagraph place = iota
	inHeading
	inCell
	inTitle
	inHTML
)

// blockWriters has a row per kind of block. A kind without a row is written as its tag, or else as its label and its
// children.
var blockWriters map[string]func(w writer, n *schema.Node) string

// noteList collects the footnotes of a document that is written.
type noteList struct {
	echo           bool // annotations are written with the labels that they had when they were read
	labels, bodies []string
	// taken has the labels in Markdown that is written unchanged. The value is true for labels in blocks, because such
	// a block may come from another document. A reference within a line only stays unchanged if it has a definition,
	// which is the note with its label.
	taken map[string]bool
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

// emptyItem matches a line that has only list markers. Paragraphs contain no such lines, because they escape them.
var emptyItem = regexp.MustCompile(`^ *(?:(?:[-*+]|\d+[.)]) +)*(?:[-*+]|\d+[.)])$`)

// gapAfter returns the separator between the written text and the next block. After an empty item the separator is not
// a blank line. At a blank line, goldmark would end all enclosing lists.
func gapAfter(written string) string {
	if emptyItem.MatchString(written[strings.LastIndexByte(written, '\n')+1:]) {
		return "\n"
	}
	return "\n\n"
}

func fenced(info, text string) string { return fencedLines(info, strings.Split(text, "\n")) }

var (
	backticks = regexp.MustCompile("`+")
	tildes    = regexp.MustCompile("~+")
)

// fencedLines writes a block of code. The first line of one with a fence of backticks cannot have any.
func fencedLines(info string, lines []string) string {
	fence, runs := "```", backticks
	if strings.Contains(info, "`") {
		fence, runs = "~~~", tildes
	}
	for _, line := range lines {
		for _, run := range runs.FindAllString(line, -1) {
			if len(run) >= len(fence) {
				fence = run + fence[:1]
			}
		}
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	return fence + info + "\n" + b.String() + fence
}
