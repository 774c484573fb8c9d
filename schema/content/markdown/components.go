package markdown

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/octavo-docs/octavo/schema"
)

// MDX has components, such as <Tabs.Tab items={[1, 2]}>, and comments, such as {/* text */}. Readers do not see tags
// and comments, but they see the text between two tags. A component with the name of an HTML element is read as HTML.

var (
	// componentName matches the beginning of a component's tag. The name may also be the name of an HTML element,
	// because a tag of an HTML element can have expressions as attributes.
	componentName = regexp.MustCompile(`^<(/?)([A-Za-z][\w-]*(?:\.[A-Za-z]\w*)*)`)
	// componentAlone matches a component's opening tag without attributes.
	componentAlone = regexp.MustCompile(`^<[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*(?:\.[A-Za-z]\w*)*[ \t]*>$`)
	placeholder    = regexp.MustCompile(`^<(?i:your|my)`)
)

// maxComponentTag bounds the length of a tag.
const maxComponentTag = 64 << 10

// isComponent reports whether a tag on a separate line belongs to a component.
func isComponent(tag string) bool {
	return componentAlone.MatchString(tag) && !placeholder.MatchString(tag)
}

// isComponentTag reports whether a source is exactly one tag of a component, and not an HTML tag.
func isComponentTag(source string) bool {
	end, _ := componentEnd([]byte(source))
	return end > 0 && end == len(source)
}

// componentEnd returns the length of a component's tag at the beginning of the source. It returns 0 if the source does
// not begin with a component's tag. `seen` is the number of bytes that were read.
func componentEnd(source []byte) (length, seen int) {
	m := componentName.FindSubmatchIndex(source[:min(len(source), maxComponentTag)])
	if m == nil {
		return 0, 0
	}
	// HTML has no names with dots, so a tag with a dot in its name is a component. A tag with an expression is a
	// component too.
	expressions := bytes.IndexByte(source[m[4]:m[5]], '.') >= 0
	at := m[1]
	for ; at < min(len(source), maxComponentTag); at++ {
		switch c := source[at]; c {
		case '>':
			if !expressions {
				return 0, at // The tag is HTML.
			}
			return at + 1, at
		case '"', '\'':
			end := bytes.IndexByte(source[at+1:], c)
			if end < 0 {
				return 0, len(source)
			}
			at += end + 1
		case '{':
			end := expressionEnd(source[at:])
			if end == 0 || m[2] < m[3] {
				return 0, len(source)
			}
			at, expressions = at+end-1, true
		case '<', '`', '}':
			return 0, at
		}
	}
	return 0, at
}

// expressionEnd returns the length of an expression in braces. It returns 0 if the expression has no end.
func expressionEnd(source []byte) int {
	depth := 0
	for at := 0; at < len(source); at++ {
		switch c := source[at]; c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return at + 1
			}
		case '"', '\'', '`':
			if end := bytes.IndexByte(source[at+1:], c); end >= 0 {
				at += end + 1
			}
		}
	}
	return 0
}

// componentEnd searches for the end of a tag. It returns no end if failed searches have already read too much text.
// `open` is true if the tag has no end in the source.
func (s *markdownState) componentEnd(source []byte) (length int, open bool) {
	if s.failedSearch < 0 {
		return 0, false
	}
	length, seen := componentEnd(source)
	s.steps += seen
	if length == 0 {
		s.failedSearch -= seen
	}
	return length, length == 0 && seen >= len(source)
}

// componentParser reads tags of components, such as `<Tabs>`. Other parsers read HTML.
type componentParser struct{}

func (componentParser) Trigger() []byte { return []byte{'<'} }

func (componentParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	s := stateOf(pc)
	end, open := s.componentEnd(line)
	for most := 256; open && most <= maxComponentTag; most *= 4 {
		rest := restOfBlock(block, most)
		if end, open = s.componentEnd(rest); len(rest) < most {
			break
		}
	}
	if end == 0 {
		return nil
	}
	n := ast.NewRawHTML()
	advanceOver(block, segment, end, n.Segments)
	return n
}

type componentBlockParser struct{}

func (componentBlockParser) Trigger() []byte { return []byte{'<', '{', 'i', 'e'} }

func (componentBlockParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	start := segment.Start + len(line) - len(bytes.TrimLeft(line, " "))
	if segment.Padding > 0 || start > segment.Start+3 || inQuote(parent) {
		return nil, parser.NoChildren
	}
	source := reader.Source()
	end := 0
	switch {
	case bytes.HasPrefix(source[start:], []byte(commentOpens)):
		end = stateOf(pc).commentEnd(source, start)
	case start == segment.Start && parent.Kind() == ast.KindDocument && isLetter(source[start]):
		end = stateOf(pc).moduleEnd(source[start:])
	case source[start] == '<':
		end, _ = stateOf(pc).componentEnd(source[start:])
		if end > 0 && blankLine.Match(source[start:start+end]) {
			end = 0
		}
	}
	rest, _, _ := bytes.Cut(source[start+end:], []byte("\n"))
	if end == 0 || len(bytes.TrimSpace(rest)) > 0 {
		return nil, parser.NoChildren
	}
	n := &componentBlock{end: start + end}
	n.Lines().Append(segment)
	advanceToEnd(reader, line, segment)
	return n, parser.NoChildren
}

// inQuote reports whether a node is in a block quote, in which lines begin with ">".
func inQuote(n ast.Node) bool {
	for ; n != nil; n = n.Parent() {
		if n.Kind() == ast.KindBlockquote {
			return true
		}
	}
	return false
}

func (componentBlockParser) Continue(block ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, segment := reader.PeekLine()
	if n := block.(*componentBlock); segment.Start < n.end {
		n.Lines().Append(segment)
		advanceToEnd(reader, line, segment)
		return parser.Continue | parser.NoChildren
	}
	return parser.Close
}

func (componentBlockParser) Close(ast.Node, text.Reader, parser.Context) {}
func (componentBlockParser) CanInterruptParagraph() bool                 { return false }
func (componentBlockParser) CanAcceptIndentedLine() bool                 { return false }

// component returns a block with the source of a component's tag or a comment on separate lines.
func (r *reader) component(n ast.Node) []schema.Node {
	return []schema.Node{rawBlock(strings.TrimSpace(linesOf(n, r.source)))}
}

// commentEnd returns the length of the comment that begins at `start`. It returns 0 if the comment has no end.
func (s *markdownState) commentEnd(source []byte, start int) int {
	if s.nextComment <= start {
		end := bytes.Index(source[start:], []byte(commentCloses))
		if s.nextComment = len(source) + 1; end >= 0 {
			s.nextComment = start + end + len(commentCloses)
		}
		s.steps += min(s.nextComment, len(source)) - start
	}
	if s.nextComment > len(source) {
		return 0
	}
	return s.nextComment - start
}

// commentOpens begins a comment of MDX, and commentCloses ends it.
const commentOpens, commentCloses = "{/*", "*/}"

type commentParser struct{}

func (commentParser) Trigger() []byte { return []byte{'{'} }

func (commentParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	s := stateOf(pc)
	if !bytes.HasPrefix(line, []byte(commentOpens)) || segment.Start < s.noCommentEnd {
		return nil
	}
	rest := line
	end := bytes.Index(rest, []byte(commentCloses))
	if end < 0 {
		rest = restOfBlock(block, len(block.Source()))
		end = bytes.Index(rest, []byte(commentCloses))
	}
	s.steps += max(end, 0)
	if end < 0 {
		s.noCommentEnd = segment.Start + len(rest)
		return nil
	}
	n := &commentInline{segments: text.NewSegments()}
	advanceOver(block, segment, end+len(commentCloses), n.segments)
	return n
}

// isComment reports whether a source is a comment of MDX.
func isComment(source string) bool {
	return strings.HasPrefix(
		source, commentOpens,
	) && strings.Index(source, commentCloses) == len(source)-len(commentCloses)
}
