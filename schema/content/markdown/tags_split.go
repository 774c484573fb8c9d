package markdown

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/util"
)

var (
	tagAtStart = regexp.MustCompile(
		`^([ \t]*)\{%[ \t]*([a-zA-Z][\w-]*)((?:` + quoted + `|[^"'%\n]|%[^}"'\n])*?)[ \t]*%\}`,
	)
	endsAtEnd = regexp.MustCompile(`(?:\{%[ \t]*end[\w-]+[ \t]*%\}[ \t]*)+$`)
	endTag    = regexp.MustCompile(`\{%([ \t]*)end([\w-]+)[ \t]*%\}`)
	// markersOnly matches the beginning of a quote, and a line of nothing but what begins an item of a list.
	markersOnly = regexp.MustCompile(`^[ \t]*(?:>|(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|\[[ xX]\][ \t]+)*$)`)

	fenceOpens  = regexp.MustCompile("^(```+|~~~+)")
	itemMarkers = regexp.MustCompile(`^(?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]{1,4}|$))+`)
	taskBox     = regexp.MustCompile(`^\[[ xX]\][ \t]+`)
)

// tagSplitter gives the tags of containers lines of their own where text is before or behind them: {% hint %} text {%
// endhint %}. A space becomes a newline, so that all other text stays in its place.
type tagSplitter struct {
	out   []byte
	fence string
	// items are the columns at which the content of the open list items begins; the fence stands in the first
	// fenceIn of them.
	items   []int
	fenceIn int
	// open are the tags that are open, paired has the tags that have an end.
	open   []string
	paired map[int]bool
}

// splitTags returns the text with tags on lines of their own. Its length stays.
func splitTags(source string) string {
	if !strings.Contains(source, "{%") {
		return source
	}
	s := tagSplitter{out: []byte(source), paired: pairBrackets([]byte(source))}
	for at := 0; at < len(source); {
		end := at + strings.IndexByte(source[at:], '\n')
		if end < at {
			end = len(source)
		}
		s.line(at, end)
		at = end + 1
	}
	return string(s.out)
}

func (s *tagSplitter) line(from, to int) {
	line := s.out[from:to]
	if s.fences(line) || !bytes.Contains(line, []byte("{%")) {
		return
	}
	for { // Tags can follow each other in a line.
		m := tagAtStart.FindSubmatchIndex(line)
		if m == nil {
			break
		}
		row := tagNamed(string(line[m[4]:m[5]]))
		if row == nil || row.form != formContainer {
			break
		}
		rest := line[m[1]:]
		if alone := len(bytes.TrimSpace(rest)) == 0; alone || !s.paired[from+m[3]] || !splitAt(line, m[1], m[7]) {
			if alone {
				s.open = append(s.open, row.name)
			}
			break
		}
		s.open = append(s.open, row.name)
		at := bytes.IndexByte(line, '\n') + 1
		from, line = from+at, line[at:]
	}
	s.ends(line)
}

// fences follows blocks of code, and reports whether the line belongs to one. A block ends with the list item that
// it is in.
func (s *tagSplitter) fences(line []byte) bool {
	if len(bytes.TrimSpace(line)) == 0 {
		return s.fence != ""
	}
	indent, _ := util.IndentWidth(line, 0)
	for len(s.items) > 0 && indent < s.items[len(s.items)-1] {
		s.items = s.items[:len(s.items)-1]
	}
	if len(s.items) < s.fenceIn {
		s.fence, s.fenceIn = "", 0
	}
	text := bytes.TrimLeft(line, " \t")
	if s.fence != "" {
		if match := fenceOpens.FindSubmatch(text); match != nil && bytes.HasPrefix(match[1], []byte(s.fence)) {
			s.fence, s.fenceIn = "", 0
		}
		return true
	}
	if markers := itemMarkers.Find(line); markers != nil {
		indent = columns(markers)
		if text = line[len(markers):]; len(text) == 0 {
			indent = columns(bytes.TrimRight(markers, " \t")) + 1
		}
		s.items = append(s.items, indent)
		text = text[len(taskBox.Find(text)):]
	}
	in := 0
	if len(s.items) > 0 {
		in = s.items[len(s.items)-1]
	}
	match := fenceOpens.FindSubmatch(text)
	if match == nil || indent-in > 3 { // More than three columns to the right is code without a fence.
		return false
	}
	s.fence, s.fenceIn = string(match[1]), len(s.items)
	return true
}

// columns returns the width of a line's beginning, in which a tab ends at a multiple of four columns.
func columns(text []byte) (width int) {
	for _, c := range text {
		if width++; c == '\t' {
			width += util.TabWidth(width-1) - 1
		}
	}
	return width
}

// splitAt makes a newline of the space behind a tag, or of the one before its end, which moves; false if there is none.
func splitAt(line []byte, end, space int) bool {
	switch {
	case line[end] == ' ' || line[end] == '\t':
		line[end] = '\n'
	case line[space] == ' ' || line[space] == '\t':
		copy(line[space:], line[space+1:end])
		line[end-1] = '\n'
	default:
		return false
	}
	return true
}

// ends splits a line before the ends that it ends with.
func (s *tagSplitter) ends(line []byte) {
	run := endsAtEnd.FindIndex(line)
	if run == nil || run[0] > 0 && line[run[0]-1] == '\\' {
		return
	}
	blank := len(bytes.TrimSpace(line[:run[0]])) == 0
	if !blank && markersOnly.Match(line[:run[0]]) {
		return // The end is in a quote or in a list.
	}
	for i, m := range endTag.FindAllSubmatchIndex(line[run[0]:], -1) {
		at := run[0] + m[0]
		last := len(s.open) - 1
		if last < 0 || s.open[last] != string(line[run[0]+m[4]:run[0]+m[5]]) {
			return
		}
		s.open = s.open[:last]
		switch {
		case blank && i == 0:
		case at > 0 && (line[at-1] == ' ' || line[at-1] == '\t'):
			line[at-1] = '\n'
		case m[3] > m[2]:
			copy(line[at+1:], line[at:at+2])
			line[at] = '\n'
		default:
			return
		}
	}
}
