package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// pairBrackets finds the tags that have an end tag. Only these tags become containers, because a tag without an end tag
// would take all text after it as its content. A tag whose end tag is at a wrong place is also in the result. The
// container of such a tag ends when its parent ends.
func pairBrackets(source []byte) map[int]bool {
	paired, open := map[int]bool{}, map[string][]int{}
	for at := 0; ; at++ {
		next := bytes.IndexAny(source[at:], "{<")
		if next < 0 {
			return paired
		}
		at += next
		name, isEnd := bracketAt(source[at:])
		if stack := open[name]; isEnd && len(stack) > 0 {
			paired[stack[len(stack)-1]] = true
			open[name] = stack[:len(stack)-1]
		} else if name != "" && !isEnd {
			open[name] = append(open[name], at)
		}
	}
}

// bracketAt reads a tag at the beginning of the text, and returns its name if it can begin or end a container.
// Otherwise the name is "".
func bracketAt(text []byte) (name string, isEnd bool) {
	if tag, ok := bytes.CutPrefix(text, []byte("{%")); ok {
		return strings.CutPrefix(nameAt(bytes.TrimLeft(tag, " \t\n\f\r")), "end")
	}
	element, isEnd := bytes.CutPrefix(text[1:], []byte("/"))
	if name = strings.ToLower(nameAt(element)); name != "details" && name != "div" {
		return "", false
	}
	return name, isEnd
}

// nameAt reads a name at the beginning of the text.
func nameAt(text []byte) string {
	inName := func(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '-' }
	end := 0
	for end < len(text) && inName(text[end]) && isLetter(text[0]) {
		end++
	}
	return string(text[:end])
}

// isPaired reports whether a tag in the line has an end tag. The text bracket is the beginning of this tag.
func isPaired(pc parser.Context, line []byte, segment text.Segment, bracket string) bool {
	at := bytes.Index(line, []byte(bracket))
	return at >= 0 && stateOf(pc).paired[segment.Start-segment.Padding+at]
}

// tagParser reads lines that consist of one tag.
type tagParser struct{}

func (tagParser) Trigger() []byte { return []byte{'{', '<'} }

func (tagParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	t, ok := readTagLine(line)
	bracket := "{%"
	if !ok {
		bracket = "<"
		if t, ok = readDivision(line); !ok || tagNamed(t.name) == nil || tagNamed(t.name).form == formAlone ||
			!isPaired(pc, line, segment, bracket) {
			return nil, parser.NoChildren
		}
	}
	n := &tagNode{row: tagNamed(t.name), tag: t, open: strings.TrimSpace(string(line)), division: bracket == "<"}
	ended := isPaired(pc, line, segment, bracket)
	if n.row != nil && n.row.form != formAlone && ended && containersAround(parent) >= maxNesting {
		return nil, parser.NoChildren
	}
	advanceToEnd(reader, line, segment)
	switch {
	case n.row == nil || n.row.form == formAlone:
	case ended:
		return n, parser.HasChildren
	case n.row.form != formCaption:
		n.row = nil
	default:
		n.terminated = true
	}
	return n, parser.NoChildren
}

func (tagParser) Continue(block ast.Node, reader text.Reader, pc parser.Context) parser.State {
	n := block.(*tagNode)
	line, segment := reader.PeekLine()
	afterBlank := n.next(line)
	if n.row == nil || n.row.form == formAlone || n.terminated {
		return parser.Close
	}
	if ends := divisionCloses.Match(line); n.division && ends || !n.division && bytes.Contains(line, []byte("{%")) {
		if t, ok := readTagLine(line); (ends || ok && t.name == "end"+n.row.name) &&
			!belongsInside(n, line, afterBlank, pc.OpenedBlocks()) {
			n.terminated, n.end, n.endAt = true, strings.TrimSpace(string(line)), segment.Start
			advanceToEnd(reader, line, segment)
			return parser.Close
		}
	}
	return parser.Continue | parser.HasChildren
}

var (
	divisionOpens  = regexp.MustCompile(`^ {0,3}(<div data-gb-custom-block(?:\s[^<>]*)?>)\s*$`)
	divisionCloses = regexp.MustCompile(`^ {0,3}</div>\s*$`)
)

// readDivision reads a tag in the form that GitBook writes in lists, for example <div data-gb-custom-block
// data-tag="hint" data-style="info">.
func readDivision(line []byte) (tag, bool) {
	match := divisionOpens.FindSubmatch(trimNewline(line))
	if match == nil {
		return tag{}, false
	}
	elements, ok := parseHTML(string(match[1]) + "</div>")
	if !ok || len(elements) != 1 {
		return tag{}, false
	}
	t := tag{}
	for _, a := range elements[0].attrs {
		name, isData := strings.CutPrefix(a.name, "data-")
		switch {
		case name == "tag":
			t.name = a.value
		case isData && name != "gb-custom-block":
			t.attrs = append(t.attrs, attribute{name: name, value: a.value, flag: a.flag})
		}
	}
	// HTML has only lower-case letters in the names of attributes. So the upper-case letters of known attributes are
	// restored.
	for i, a := range t.attrs {
		for _, known := range tagNamed(t.name).known() {
			if strings.EqualFold(known.name, a.name) {
				t.attrs[i].name = known.name
			}
		}
	}
	return t, t.name != ""
}

// known returns the attributes that a tag can have.
func (row *tagRow) known() []tagAttribute {
	if row == nil {
		return nil
	}
	return row.attrs
}

// belongsInside reports whether a line that could end the container belongs to a block inside it. Such a block is a
// nested container of the same name, an open code block, or a list item. If a list item is still empty at a blank line,
// the item and its enclosing lists end there. So a line after the blank line does not belong to them.
func belongsInside(container ast.Node, line []byte, afterBlank bool, open []parser.Block) bool {
	at := slices.IndexFunc(open, func(b parser.Block) bool { return b.Node == container })
	indent, _ := util.IndentWidth(line, 0)
	last, isItem := open[len(open)-1].Node.(*ast.ListItem)
	listsEnd := afterBlank && isItem && last.ChildCount() == 0
	for _, b := range open[at+1:] {
		switch n := b.Node.(type) {
		case *tagNode:
			outer, ok := container.(*tagNode)
			if ok && !n.terminated && n.row != nil && n.division == outer.division && (n.division ||
				n.row == outer.row) {
				return true
			}
		case *detailsNode:
			if _, ok := container.(*detailsNode); ok {
				return true
			}
		case *ast.FencedCodeBlock, *mathBlock:
			return true
		case *ast.Blockquote:
			return false
		case *ast.ListItem:
			return indent >= n.Offset && !listsEnd
		}
	}
	return false
}

func (tagParser) Close(ast.Node, text.Reader, parser.Context) {}
func (tagParser) CanInterruptParagraph() bool                 { return true }
func (tagParser) CanAcceptIndentedLine() bool                 { return false }

var (
	detailsOpens  = regexp.MustCompile(`^ {0,3}(<details(?:\s[^<>]*)?>)\s*(?:<summary>(.*)</summary>\s*)?$`)
	detailsCloses = regexp.MustCompile(`^ {0,3}</details>\s*$`)
)

// detailsParser reads expandable blocks. The content of such a block is always read as Markdown. GitHub reads the
// content as Markdown only if it is between blank lines.
type detailsParser struct{}

func (detailsParser) Trigger() []byte { return []byte{'<'} }

func (detailsParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	match := detailsOpens.FindSubmatch(trimNewline(line))
	if match == nil || !isPaired(pc, line, segment, "<details") || containersAround(parent) >= maxNesting {
		return nil, parser.NoChildren
	}
	advanceToEnd(reader, line, segment)
	n := &detailsNode{open: string(match[1])}
	if match[2] != nil {
		n.title = "<summary>" + string(match[2]) + "</summary>"
	}
	return n, parser.HasChildren
}

func (detailsParser) Continue(block ast.Node, reader text.Reader, pc parser.Context) parser.State {
	n := block.(*detailsNode)
	line, segment := reader.PeekLine()
	afterBlank := n.next(line)
	if detailsCloses.Match(line) && !belongsInside(n, line, afterBlank, pc.OpenedBlocks()) {
		n.terminated = true
		advanceToEnd(reader, line, segment)
		return parser.Close
	}
	return parser.Continue | parser.HasChildren
}

func (detailsParser) Close(ast.Node, text.Reader, parser.Context) {}
func (detailsParser) CanInterruptParagraph() bool                 { return true }
func (detailsParser) CanAcceptIndentedLine() bool                 { return false }

type tagInlineParser struct{}

func (tagInlineParser) Trigger() []byte { return []byte{'{'} }

func (tagInlineParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	s := stateOf(pc)
	if len(line) > 2 && line[1] == '{' {
		return s.shortcode(line, segment, block)
	}
	if len(line) < 3 || line[1] != '%' {
		return nil
	}
	// A tag that is alone on its line is usually a block. After "> " and a tab, or after a large indentation, goldmark
	// begins no block. The tag is then text, and is also written as text. In headings and cells, a tag is never a
	// block.
	begins := parent.Kind() != ast.KindHeading && parent.Kind() != east.KindTableCell && startsLine(parent)
	if begins {
		if _, alone := readTagLine(line); alone {
			return nil
		}
	}
	length := 0
	if segment.Start >= s.noTagEnd {
		end := bytes.Index(line[2:], []byte("%}"))
		s.steps += max(end, 0)
		if end < 0 {
			s.noTagEnd = segment.Stop
		}
		length = end + 4
	}
	if segment.Start < s.noTagEnd {
		length = s.longTag(line, block)
	}
	if length == 0 {
		return nil
	}
	n := &tagInline{segments: text.NewSegments()}
	begin, position := block.Position()
	advanceOver(block, segment, length, n.segments)
	if after, _ := block.PeekLine(); begins && len(bytes.TrimSpace(after)) == 0 {
		if _, alone := readTagLine(n.source(block.Source())); alone {
			block.SetPosition(begin, position)
			return nil
		}
	}
	return n
}

// shortcode reads a shortcode of Hugo, which may continue on the next lines.
func (s *markdownState) shortcode(line []byte, segment text.Segment, block text.Reader) ast.Node {
	if segment.Start < s.noShortcodeEnd || shortcodeEnd(line) == "" {
		return nil
	}
	rest := line[:min(len(line), maxShortcode)]
	if !bytes.Contains(rest, []byte("}}")) {
		rest = restOfBlock(block, maxShortcode)
	}
	s.steps += len(rest)
	length := shortcodeLength(rest)
	if length == 0 {
		if !bytes.Contains(rest, []byte("}}")) {
			s.noShortcodeEnd = segment.Start + len(rest)
		}
		return nil
	}
	n := &tagInline{segments: text.NewSegments()}
	advanceOver(block, segment, length, n.segments)
	return n
}

// longTag returns the length of a tag that continues on the next lines. It returns 0 if the tag has no end.
func (s *markdownState) longTag(line []byte, block text.Reader) int {
	length, open := tagLength(line)
	for most := 256; open; most *= 4 {
		rest := restOfBlock(block, most)
		s.steps += len(rest)
		if length, open = tagLength(rest); len(rest) < most {
			break
		}
	}
	return length
}
