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
	inItem bool   // whether the block is in a list item, where a divider of hyphens would be read as an item
	// inLabel is true within the text of a link. `boxed` is true directly after the box of a task. At both places, no
	// tag or block of HTML can begin.
	inLabel, boxed bool
	notes          *noteList
}

// inside returns a writer for the content of a block.
func (w writer) inside(kind string) writer {
	w.parent, w.boxed = kind, false
	return w
}

// place is the kind of place where inlines are written. Headings and cells have only one line, and a pipe ends a cell.
type place int

const (
	inParagraph place = iota
	inHeading
	inCell
	inTitle
	inHTML
)

// blockWriters has a row per kind of block. A block of a kind without a row is written as its tag. If such a block has
// no tag, it is written as its label and its children.
var blockWriters map[string]func(w writer, n *schema.Node) string

// noteList collects the footnotes of a document while it is written.
type noteList struct {
	echo           bool // whether annotations are written with the labels with which they were read
	labels, bodies []string
	// at has the index of each label in `labels`. Numbers below `next` are taken.
	at   map[string]int
	next int
	// taken has the labels in Markdown that is written unchanged. If the label is in a block's source, the value is
	// true, because this block may come from another document. If the label is in a reference within a line, the value
	// is false. Such a reference is written unchanged only if the note with this label is its definition.
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

// emptyItem matches a line that has only list markers. A line of a paragraph never matches, because the writer escapes
// the markers.
var emptyItem = regexp.MustCompile(`^ *(?:(?:[-*+]|\d+[.)]) +)*(?:[-*+]|\d+[.)])$`)

// gapAfter returns the separator between the written text and the next block. After an empty list item, the separator
// is only a newline, because at a blank line goldmark would end all enclosing lists.
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
