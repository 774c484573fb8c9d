package markdown

import (
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maxInlineNesting bounds the nesting of emphasis and links. Deeper emphasis and links are read as text.
const maxInlineNesting = 32

// emphasisParser reads *, _ and ~. It uses goldmark's rules for openers and closers, but has its own algorithm for
// pairs. Goldmark searches all openers again for each closer, which takes quadratic time.
type emphasisParser struct{}

func (emphasisParser) Trigger() []byte { return []byte{'*', '_', '~'} }

func (emphasisParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	d := parser.ScanDelimiter(line, before, 1, pairing{})
	if d == nil || d.Char == '~' && (d.OriginalLength > 2 || before == '~') {
		return nil
	}
	d.Segment = segment.WithStop(segment.Start + d.OriginalLength)
	block.Advance(d.OriginalLength)
	stateOf(pc).delimiters.push(d)
	return d
}

// CloseBlock pairs the delimiters that were not paired inside of links.
func (emphasisParser) CloseBlock(_ ast.Node, _ text.Reader, pc parser.Context) {
	stateOf(pc).pair(nil)
}

// pairing decides which delimiters form pairs, and which nodes the pairs become.
type pairing struct{}

func (pairing) IsDelimiter(b byte) bool { return b == '*' || b == '_' || b == '~' }

func (pairing) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

// OnMatch exists only because goldmark's interface requires it. Goldmark never calls it for the delimiters of this
// package.
func (pairing) OnMatch(consumes int) ast.Node { return ast.NewEmphasis(consumes) }

func (l *delimiters) push(d *parser.Delimiter) {
	if d.PreviousDelimiter = l.last; l.last == nil {
		l.first = d
	} else {
		l.last.NextDelimiter = d
	}
	l.last = d
}

// drop removes a delimiter from the list. Its remaining characters become text.
func (l *delimiters) drop(d *parser.Delimiter) {
	if d.PreviousDelimiter == nil {
		l.first = d.NextDelimiter
	} else {
		d.PreviousDelimiter.NextDelimiter = d.NextDelimiter
	}
	if d.NextDelimiter == nil {
		l.last = d.PreviousDelimiter
	} else {
		d.NextDelimiter.PreviousDelimiter = d.PreviousDelimiter
	}
	d.PreviousDelimiter, d.NextDelimiter = nil, nil
	if d.Length > 0 {
		ast.MergeOrReplaceTextSegment(d.Parent(), d, d.Segment)
	} else {
		d.Parent().RemoveChild(d.Parent(), d)
	}
}

// closerKind has the properties of a closer that determine which openers it can pair with.
type closerKind struct {
	char    byte
	canOpen bool
	length  int // number of characters of the delimiter, modulo 3
}

// pair turns the delimiters after `bottom` into emphasis, and drops delimiters without a partner. If `bottom` is nil,
// `pair` handles all delimiters.
func (s *markdownState) pair(bottom *parser.Delimiter) {
	l := &s.delimiters
	closer := l.first
	if bottom != nil {
		closer = bottom.NextDelimiter
	}
	// tried has, for each kind of closer, a position. The openers before this position were already tried and do not
	// match.
	var tried map[closerKind]int
	for closer != nil {
		if !closer.CanClose {
			closer = closer.NextDelimiter
			continue
		}
		kind := closerKind{closer.Char, closer.CanOpen, closer.OriginalLength % 3}
		opener, consume := s.openerOf(closer, bottom, tried[kind])
		if consume == 0 {
			if tried == nil {
				tried = map[closerKind]int{}
			}
			tried[kind] = closer.Segment.Start
			next := closer.NextDelimiter
			if !closer.CanOpen {
				l.drop(closer)
			}
			closer = next
			continue
		}
		for d := opener.NextDelimiter; d != closer; {
			next := d.NextDelimiter
			l.drop(d)
			d = next
		}
		if !s.wrap(opener, closer, consume) {
			// A pair around this pair would also be nested too deeply. So the delimiters between the two are dropped.
			next := closer.NextDelimiter
			for d := closer; d != bottom; {
				previous := d.PreviousDelimiter
				l.drop(d)
				d = previous
			}
			closer = next
			continue
		}
		if opener.Length == 0 {
			l.drop(opener)
		}
		if closer.Length == 0 {
			next := closer.NextDelimiter
			l.drop(closer)
			closer = next
		}
	}
	for l.last != bottom {
		l.drop(l.last)
	}
}

// openerOf finds the nearest opener. It also returns how many characters the pair uses from each of its two delimiters.
// The number is 0 if there is no opener.
func (s *markdownState) openerOf(closer, bottom *parser.Delimiter, tried int) (*parser.Delimiter, int) {
	for d := closer.PreviousDelimiter; d != nil && d != bottom && d.Segment.Start >= tried; d = d.PreviousDelimiter {
		s.steps++
		if d.CanOpen && d.Char == closer.Char {
			if consume := d.CalcComsumption(closer); consume > 0 {
				return d, consume
			}
		}
	}
	return nil, 0
}

// wrap puts the text between two delimiters into a node. It returns false if the node would be nested too deeply.
func (s *markdownState) wrap(opener, closer *parser.Delimiter, consume int) bool {
	depth := 0
	for n := opener.NextSibling(); n != nil && n != ast.Node(closer); n = n.NextSibling() {
		s.steps++
		depth = max(depth, s.depths[n])
	}
	if depth >= maxInlineNesting {
		return false
	}
	opener.ConsumeCharacters(consume)
	closer.ConsumeCharacters(consume)
	var node ast.Node = ast.NewEmphasis(consume)
	if opener.Char == '~' {
		node = east.NewStrikethrough()
	}
	s.depths[node] = depth + 1
	for n := opener.NextSibling(); n != nil && n != ast.Node(closer); {
		next := n.NextSibling()
		node.AppendChild(node, n)
		n = next
	}
	opener.Parent().InsertAfter(opener.Parent(), opener, node)
	return true
}
