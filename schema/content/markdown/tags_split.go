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
	// markersOnly matches the beginning of a quote, and a line with only markers of list items.
	markersOnly = regexp.MustCompile(`^[ \t]*(?:>|(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|\[[ xX]\][ \t]+)*$)`)

	// quoteMarkers begin a line of a quote. lineBegins also matches the preceding newline.
	quoteMarkers = regexp.MustCompile(`^(?:[ \t]*>)+[ \t]*`)
	lineBegins   = regexp.MustCompile(`\n(?:[ \t]*>)*`)

	fenceOpens  = regexp.MustCompile("^(```+|~~~+)")
	itemMarkers = regexp.MustCompile(`^(?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]{1,4}|$))+`)
	taskBox     = regexp.MustCompile(`^\[[ xX]\][ \t]+`)
)

// tagSplitter moves a container's tag to a separate line if text is before or after it, as in {% hint %} text {%
// endhint %}. It replaces a space by a newline, so all other text stays at its position.
type tagSplitter struct {
	out   []byte
	fence string
	// text is the position in the line after the markers of lists. If the line is code without a fence, text is 0.
	text int
	// items has, for each open list item, the column at which its content begins. fenceIn is the number of list items
	// that enclose the fence.
	items   []int
	fenceIn int
	// open has the names of the open tags. `paired` has the positions of the tags that have an end tag.
	open   []string
	paired map[int]bool
}

// splitTags returns the text with the tags of containers on separate lines. The length of the text does not change.
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
		at = s.line(at, end) + 1
	}
	return string(s.out)
}

// line splits a line and returns its end. If a tag continues on the next lines, `line` first joins these lines.
func (s *tagSplitter) line(from, to int) int {
	line := s.out[from:to]
	if s.fences(line) || !bytes.Contains(line, []byte("{%")) {
		return to
	}
	start := from + s.text + len(quoteMarkers.Find(line[s.text:]))
	// A line may have several tags in sequence.
	for {
		to = s.join(start, to, start > from+s.text)
		line = s.out[from:to]
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
		from += bytes.IndexByte(line, '\n') + 1
		start, s.text = from, 0
	}
	line = s.out[from:to]
	s.ends(line)
	return to
}

// join joins the lines of a known tag that begins a line and continues on the next lines. It replaces newlines and the
// markers of a quote by spaces. It returns the position of the end of the joined line.
func (s *tagSplitter) join(from, to int, quoted bool) int {
	if !bytes.HasPrefix(s.out[from:to], []byte("{%")) || bytes.Contains(s.out[from:to], []byte("%}")) {
		return to
	}
	length, _ := tagLength(s.out[from:])
	joined := bytes.ReplaceAll(s.out[from:from+length], []byte("\n"), []byte(" "))
	if quoted {
		joined = lineBegins.ReplaceAllFunc(s.out[from:from+length], func(begin []byte) []byte {
			return bytes.Repeat([]byte{' '}, len(begin))
		})
	}
	t, ok := readTagLine(joined)
	row := tagNamed(strings.TrimPrefix(t.name, "end"))
	if !ok || row == nil || t.position != "" && row.position == "" || blankLine.Match(s.out[from:from+length]) {
		return to
	}
	to = from + copy(s.out[from:], joined)
	if end := bytes.IndexByte(s.out[to:], '\n'); end >= 0 {
		return to + end
	}
	return len(s.out)
}

// tagLength returns the length of the tag at the beginning of a source. It returns 0 if another tag begins before the
// end of the tag. `open` is true if the source ends before the tag does.
func tagLength(source []byte) (length int, open bool) {
	for at := len("{%"); ; at++ {
		next := bytes.IndexByte(source[min(at, len(source)):], '%')
		if next < 0 {
			return 0, true
		}
		switch at += next; {
		case at+1 < len(source) && source[at+1] == '}':
			return at + len("%}"), false
		case source[at-1] == '{':
			return 0, false
		}
	}
}

// fences updates the state of code blocks, and reports whether the line belongs to a code block. A code block ends no
// later than the list item that contains it.
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
	s.text = 0
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
	if indent-in > 3 { // the line is code without a fence
		return false
	}
	s.text = len(line) - len(text)
	match := fenceOpens.FindSubmatch(text)
	if match == nil {
		return false
	}
	s.fence, s.fenceIn = string(match[1]), len(s.items)
	return true
}

// columns returns the width of a line's beginning. After a tab, the width is a multiple of four.
func columns(text []byte) (width int) {
	for _, c := range text {
		if width++; c == '\t' {
			width += util.TabWidth(width-1) - 1
		}
	}
	return width
}

// splitAt puts a newline after a tag. The newline replaces the space after the tag. If no space is there, splitAt
// removes the space before the tag's closing characters, moves these characters, and writes the newline into the free
// byte. It returns false if neither space exists.
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

// ends puts the end tags at the end of a line on separate lines.
func (s *tagSplitter) ends(line []byte) {
	run := endsAtEnd.FindIndex(line)
	if run == nil || run[0] > 0 && line[run[0]-1] == '\\' {
		return
	}
	blank := len(bytes.TrimSpace(line[:run[0]])) == 0
	if !blank && markersOnly.Match(line[:run[0]]) {
		return // the end tag is in a quote or in a list
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
