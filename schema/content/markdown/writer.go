package markdown

import (
	"regexp"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// writer writes blocks. Each method returns lines without a trailing newline. The enclosing block indents or quotes the
// lines.
type writer struct {
	parent string // the type of the enclosing block
	inItem bool   // whether the block is in a list item, in which a divider of hyphens would be read as an item
	// inLabel is true in the text of a link. boxed is true after the box of a task. In both places, no block of tags or
	// HTML can begin.
	inLabel, boxed bool
	notes          *noteList
}

// inside returns a writer for the content of a block.
func (w writer) inside(kind string) writer {
	w.parent, w.boxed = kind, false
	return w
}

// place is the kind of place that contains inlines. A heading or a cell has only one line, and a pipe ends a cell.
type place int

const (
	inParagraph place = iota
	inHeading
	inCell
	inTitle
	inHTML
)

// blockWriters has a row per kind of block. A block of a kind without a row is written as its tag. If it has no tag, it
// is written as its label and its children.
var blockWriters map[string]func(w writer, n *schema.Node) string

// noteList collects the footnotes of a document while it is written.
type noteList struct {
	echo           bool // whether annotations are written with the labels that they had when they were read
	labels, bodies []string
	// taken has the labels in Markdown that is written unchanged. The value is true if the label is in a block's
	// source, because such a block may come from another document. It is false for a reference within a line: such a
	// reference stays unchanged only if it has a definition, which is then the note with this label.
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

// emptyItem matches a line that has only list markers. A paragraph contains no such line, because the writer escapes
// the markers.
var emptyItem = regexp.MustCompile(`^ *(?:(?:[-*+]|\d+[.)]) +)*(?:[-*+]|\d+[.)])$`)

// gapAfter returns the separator between the written text and the next block. After an empty list item, the separator
// is only a newline, because goldmark would end all enclosing lists at a blank line.
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

// fencedLines writes a block of code. If the first line contains backticks, the fence consists of tildes.
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
