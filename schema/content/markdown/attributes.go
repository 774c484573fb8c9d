package markdown

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// Markdown of other tools has attributes of blocks: {#id}, { .class key=value } or kramdown's {: .class }. Attributes
// are on a separate line, at the end of a heading, or after a link, an image or code. mdBook has directives, such as
// {{#include file}}. Readers see neither attributes nor directives. An id next to a heading is the heading's anchor.
// All other attributes are stored as source text.

// attributeList matches a list of attributes in braces. After a colon, the list has kramdown's form. Otherwise it
// contains ids, classes and values.
const attributeList = `\{(?:::?[^{}\n]*|[ \t]*` + oneAttribute + `(?:[ \t]+` + oneAttribute + `)*[ \t]*)\}`

const oneAttribute = `(?:[#.][^\s{}"'=*<>\\\[\]` + "`" + `]+|[A-Za-z][\w-]*=(?:"[^"{}\n]*"|'[^'{}\n]*'|[^\s"'{}=]+))`

var (
	attributesOnly   = regexp.MustCompile(`^ {0,3}(` + attributeList + `)[ \t]*$`)
	attributesNext   = regexp.MustCompile(`^` + attributeList)
	attributesAtEnd  = regexp.MustCompile(`^(` + attributeList + `)[ \t]*\n?$`)
	directivesOnly   = regexp.MustCompile(`^ {0,3}((?:\{\{#[A-Za-z][^{}\n]*\}\}[ \t]*)+)$`)
	directiveLines   = regexp.MustCompile(`(?m)^[ \t]*(?:\{\{#[A-Za-z][^{}\n]*\}\}[ \t]*)+$`)
	idInAttributes   = regexp.MustCompile(`^\{:?[ \t]*#([^\s{}]+)`)
	attributesSource = regexp.MustCompile(`^(?:` + attributeList + `|(?:\{\{#[A-Za-z][^{}\n]*\}\}[ \t]*)+)$`)
)

type attributesParser struct{}

func (attributesParser) Trigger() []byte { return []byte{'{'} }

func (attributesParser) Open(_ ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	match := attributesOnly.FindSubmatch(trimNewline(line))
	if match == nil {
		match = directivesOnly.FindSubmatch(trimNewline(line))
	}
	if match == nil || segment.Padding > 0 {
		return nil, parser.NoChildren
	}
	n := &attributesBlock{source: strings.TrimSpace(string(match[1]))}
	n.Lines().Append(segment)
	advanceToEnd(reader, line, segment)
	return n, parser.NoChildren
}

func (attributesParser) Continue(ast.Node, text.Reader, parser.Context) parser.State {
	return parser.Close
}
func (attributesParser) Close(ast.Node, text.Reader, parser.Context) {}
func (attributesParser) CanInterruptParagraph() bool                 { return true }
func (attributesParser) CanAcceptIndentedLine() bool                 { return false }

// attributes returns a block with the source of a line of attributes. It returns nil if the line has the anchor of a
// heading, because the line is then a part of the heading.
func (r *reader) attributes(block ast.Node) []schema.Node {
	n := block.(*attributesBlock)
	if headingOf(n) != nil {
		return nil
	}
	return []schema.Node{rawBlock(n.source)}
}

// headingOf returns the heading that gets its anchor from a line of attributes. The heading is directly before or after
// the line, without a blank line between them.
func headingOf(n *attributesBlock) *ast.Heading {
	match := idInAttributes.FindStringSubmatch(n.source)
	if match == nil || !validAnchor(match[1]) {
		return nil
	}
	if heading, ok := n.PreviousSibling().(*ast.Heading); ok && !n.HasBlankPreviousLines() {
		return withoutAnchor(heading)
	}
	if heading, ok := n.NextSibling().(*ast.Heading); ok && !heading.HasBlankPreviousLines() {
		if behind, ok := heading.NextSibling().(*attributesBlock); !ok || headingOf(behind) != heading {
			return withoutAnchor(heading)
		}
	}
	return nil
}

// withoutAnchor returns the heading if its own line contains nothing that could be an anchor. Otherwise it returns nil.
func withoutAnchor(heading *ast.Heading) *ast.Heading {
	for child := heading.FirstChild(); child != nil; child = child.NextSibling() {
		if kind := child.Kind(); kind == kindHeadingID || kind == ast.KindRawHTML {
			return nil
		}
	}
	return heading
}

// anchorBeside returns the anchor of a heading from the line before or after the heading. The line after the heading
// has precedence.
func anchorBeside(heading ast.Node) anchor {
	if n, ok := heading.NextSibling().(*attributesBlock); ok && headingOf(n) == heading {
		return anchor{idInAttributes.FindStringSubmatch(n.source)[1], "\n" + n.source}
	}
	if n, ok := heading.PreviousSibling().(*attributesBlock); ok && headingOf(n) == heading {
		return anchor{idInAttributes.FindStringSubmatch(n.source)[1], n.source + "\n"}
	}
	return anchor{}
}

// ownLineAnchor returns the anchor in the source of a separate line.
func ownLineAnchor(source string) anchor {
	line := strings.Trim(source, "\n")
	match := idInAttributes.FindStringSubmatch(line)
	if match == nil || !validAnchor(match[1]) || !attributesOnly.MatchString(line) ||
		source != "\n"+line && source != line+"\n" {
		return anchor{}
	}
	return anchor{match[1], source}
}

// isAttributes reports whether a source text consists only of attributes or directives. Readers do not see these.
func isAttributes(source string) bool { return attributesSource.MatchString(content.Clean(source)) }

type attributesInlineParser struct{}

func (attributesInlineParser) Trigger() []byte { return []byte{'{'} }

func (attributesInlineParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if parent.Kind() == ast.KindHeading {
		lines := parent.Lines()
		if match := attributesAtEnd.FindSubmatch(line); match != nil && lines.Len() > 0 &&
			segment.Start >= lines.At(lines.Len()-1).Start {
			block.Advance(len(line))
			return &attributesInline{source: string(match[1])}
		}
	}
	switch parent.LastChild().(type) {
	case *ast.Link, *ast.Image, *ast.CodeSpan:
	default:
		return nil
	}
	match := attributesNext.Find(line[:min(len(line), maxAttributeList)])
	if match == nil {
		return nil
	}
	block.Advance(len(match))
	return &attributesInline{source: string(match)}
}

// maxAttributeList bounds the bytes of a list of attributes in a line.
const maxAttributeList = 512

// attributes hides the attributes after a link, an image or code, and the attributes at the end of a block. Other
// attributes stay as text.
func (b *inlineBuilder) attributes(source string, atEnd bool) {
	last := len(b.pieces) - 1
	owned := last >= 0 && (b.pieces[last].node != nil && (b.pieces[last].node.Type == "link" ||
		b.pieces[last].node.Type == "inline-image") || b.pieces[last].node == nil &&
		b.pieces[last].marks&content.Code != 0)
	if owned && !b.inLink || atEnd {
		b.hide(source)
		return
	}
	b.text(source)
}
