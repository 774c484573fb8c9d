package markdown

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/octavo-docs/octavo/schema/content/respell"
)

const (
	// maxParentheses bounds the nesting of parentheses in a link's destination. CommonMark requires at least three.
	maxParentheses = 32
	// maxLabel is CommonMark's limit on the length of a reference's label.
	maxLabel = 999
	// mailScheme is the beginning of the address of a mail.
	mailScheme = "mailto:"
)

// linkParser reads links and images. Unlike goldmark's parser, it looks at each bracket a bounded number of times.
type linkParser struct{}

func (linkParser) Trigger() []byte { return []byte{'!', '[', ']'} }

// toText turns the bracket into plain text.
func (b *bracket) toText() { ast.MergeOrReplaceTextSegment(b.Parent(), b, b.segment) }

func (p linkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	s := stateOf(pc)
	line, segment := block.PeekLine()
	switch {
	case line[0] == '[':
		return s.open(block, segment.WithStop(segment.Start+1), false)
	case line[0] == ']':
		return p.close(parent, block, pc, s)
	case len(line) > 1 && line[1] == '[':
		return s.open(block, segment.WithStop(segment.Start+2), true)
	}
	return nil
}

// open pushes a bracket on the stack. If the stack is full, the outermost bracket becomes text. So the links that begin
// later are still read as links.
func (s *markdownState) open(block text.Reader, segment text.Segment, image bool) ast.Node {
	if len(s.brackets) == maxInlineNesting {
		s.brackets[0].toText()
		s.brackets = slices.Delete(s.brackets, 0, 1)
		s.inactive = max(0, s.inactive-1)
	}
	b := &bracket{segment: segment, image: image, before: s.delimiters.last}
	s.brackets = append(s.brackets, b)
	block.Advance(segment.Len())
	return b
}

// close makes a link from the text after the last open bracket. If the text is not a link, both brackets stay text.
func (p linkParser) close(parent ast.Node, block text.Reader, pc parser.Context, s *markdownState) ast.Node {
	last := len(s.brackets) - 1
	if last < 0 {
		return nil
	}
	open := s.brackets[last]
	s.brackets = s.brackets[:last]
	// An inactive bracket is text: a link begins and ends after it, and a link cannot contain another link.
	inactive := !open.image && last < s.inactive
	s.inactive = min(s.inactive, last)
	depth := 0
	for n := open.NextSibling(); n != nil && !inactive; n = n.NextSibling() {
		depth = max(depth, s.depths[n])
	}
	if inactive || depth >= maxInlineNesting {
		open.toText()
		return nil
	}
	_, segment := block.PeekLine()
	block.Advance(1)
	link := ast.NewLink()
	if !s.inlineTarget(link, block) && !s.reference(link, parent, block, pc, text.NewSegment(open.segment.Stop, segment.Start)) {
		open.toText()
		return nil
	}
	s.pair(open.before)
	for n := open.NextSibling(); n != nil; {
		next := n.NextSibling()
		link.AppendChild(link, n)
		n = next
	}
	parent.RemoveChild(parent, open)
	var node ast.Node = link
	if open.image {
		node = ast.NewImage(link)
	} else {
		s.inactive = last
	}
	s.depths[node] = depth + 1
	return node
}

// inlineTarget reads (destination "title") after a label. If the text does not match, the reader stays at its position.
func (s *markdownState) inlineTarget(link *ast.Link, block text.Reader) bool {
	if block.Peek() != '(' {
		return false
	}
	line, position := block.Position()
	block.Advance(1)
	block.SkipSpaces()
	ok := true
	if block.Peek() != ')' {
		if link.Destination, ok = s.destination(block); ok {
			block.SkipSpaces()
			if block.Peek() != ')' {
				link.Title, ok = linkTitle(block)
				block.SkipSpaces()
			}
		}
	}
	if !ok || block.Peek() != ')' {
		block.SetPosition(line, position)
		link.Destination, link.Title = nil, nil
		return false
	}
	block.Advance(1)
	return true
}

func (s *markdownState) destination(block text.Reader) ([]byte, bool) {
	line, _ := block.PeekLine()
	start, end, depth := 0, 0, 0
	angle := len(line) > 0 && line[0] == '<'
	if angle {
		start, end = 1, 1
	}
scan:
	for ; end < len(line); end++ {
		s.steps++
		switch c := line[end]; {
		case c == '\\' && end+1 < len(line) && util.IsPunct(line[end+1]):
			end++
		case angle && c == '>':
			block.Advance(end + 1)
			return line[start:end], true
		case angle && (c == '<' || c == '\n'):
			return nil, false
		case angle:
		case c == '(':
			if depth++; depth > maxParentheses {
				return nil, false
			}
		case c == ')':
			if depth--; depth < 0 {
				break scan
			}
		case util.IsSpace(c):
			break scan
		}
	}
	if angle || end == 0 {
		return nil, false
	}
	block.Advance(end)
	return line[:end], true
}

var titleClosers = map[byte]byte{'"': '"', '\'': '\'', '(': ')'}

func linkTitle(block text.Reader) ([]byte, bool) {
	opener := block.Peek()
	closer, ok := titleClosers[opener]
	if !ok {
		return nil, false
	}
	block.Advance(1)
	return closure(block, opener, closer)
}

// closure returns the text before the closing character, which may be on a later line.
func closure(block text.Reader, opener, closer byte) ([]byte, bool) {
	segments, found := block.FindClosure(opener, closer, text.FindClosureOptions{Newline: true, Advance: true})
	if !found {
		return nil, false
	}
	var all []byte
	for _, segment := range segments.Sliced(0, segments.Len()) {
		all = append(all, segment.Value(block.Source())...)
	}
	return all, true
}

// reference reads [label][reference], [reference][] or [reference].
func (s *markdownState) reference(
	link *ast.Link, parent ast.Node, block text.Reader, pc parser.Context, label text.Segment,
) bool {
	if s.references == nil {
		known := len(pc.References()) > 0 // All blocks have been read, so all definitions are known.
		s.references = &known
	}
	if !*s.references {
		return false
	}
	line, position := block.Position()
	full := false
	var name []byte
	if block.Peek() == '[' {
		block.Advance(1)
		if name, full = closure(block, '[', ']'); !full {
			block.SetPosition(line, position)
		}
	}
	if util.IsBlank(name) && label.Len() <= maxLabel {
		name = textOf(parent, label, block.Source())
	}
	if ref, ok := s.lookUp(pc, name); ok {
		link.Destination, link.Title = ref.Destination(), ref.Title()
		_, end := block.Position()
		s.refer(link, block.Source(), label, name, end.Start, full)
		return true
	}
	if full {
		block.SetPosition(line, position)
	}
	return false
}

// refer records the reference of a link. `after` is a position after the reference. `bracketed` is true if a label in
// brackets follows the link's text. This label may be empty.
func (s *markdownState) refer(
	link *ast.Link, source []byte, text text.Segment, label []byte, after int, bracketed bool,
) {
	r := respell.Reference{
		From: text.Stop + 1, To: text.Stop + 1, Text: string(source[text.Start:text.Stop]),
		Label: strings.Join(strings.Fields(string(label)), " "), Target: "(" + string(link.Destination) + ")",
	}
	if len(link.Title) > 0 {
		r.Target = "(" + string(link.Destination) + ` "` + string(link.Title) + `")`
	}
	if bracketed {
		r.To += bytes.LastIndexByte(source[r.To:after], ']') + 1
	}
	s.links = append(s.links, r)
}

// lookUp finds the definition of a reference. It bounds the total length of the destinations and titles that it
// returns, because many references may have one long destination. Above this bound it finds no definitions.
func (s *markdownState) lookUp(pc parser.Context, name []byte) (parser.Reference, bool) {
	if len(name) == 0 || len(name) > maxLabel {
		return nil, false
	}
	ref, ok := pc.Reference(util.ToLinkReference(name))
	if !ok {
		return nil, false
	}
	if s.expanded += len(ref.Destination()) + len(ref.Title()); s.expanded > s.maxExpanded {
		return nil, false
	}
	return ref, true
}

// textOf returns the text of a block between two positions.
func textOf(block ast.Node, within text.Segment, source []byte) []byte {
	lines := block.Lines()
	from := sort.Search(lines.Len(), func(i int) bool { return lines.At(i).Stop > within.Start })
	var all []byte
	for i := from; i < lines.Len() && lines.At(i).Start < within.Stop; i++ {
		line := lines.At(i)
		all = append(all, source[max(line.Start, within.Start):min(line.Stop, within.Stop)]...)
	}
	return all
}

// autoLinkParser reads <https://a.example> and <me@a.example>. It records the position of each link.
type autoLinkParser struct{ parser.InlineParser }

func newAutoLinkParser() parser.InlineParser { return autoLinkParser{parser.NewAutoLinkParser()} }

func (p autoLinkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	_, segment := block.PeekLine()
	link, ok := p.InlineParser.Parse(parent, block, pc).(*ast.AutoLink)
	if !ok {
		return nil
	}
	s := stateOf(pc)
	s.links = append(s.links, respell.Reference{
		From: segment.Start, To: segment.Start + len("<>") + len(link.Label(block.Source())),
	})
	return link
}

// autoLinkAddress returns the address to which a link in angle brackets leads.
func autoLinkAddress(n *ast.AutoLink, source []byte) string {
	address := string(n.URL(source))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), mailScheme) {
		return mailScheme + address
	}
	return address
}

// CloseBlock turns unclosed brackets into text.
func (linkParser) CloseBlock(_ ast.Node, _ text.Reader, pc parser.Context) {
	s := stateOf(pc)
	for _, b := range s.brackets {
		b.toText()
	}
	s.brackets, s.inactive = s.brackets[:0], 0
}
