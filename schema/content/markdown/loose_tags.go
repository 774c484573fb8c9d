package markdown

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// A loose tag is a tag that browsers accept and CommonMark does not accept: it has curly quotes around a value, or no
// space between two attributes. Its name is the name of an HTML element, and at least one attribute has a value.
var (
	looseTag       = regexp.MustCompile(`^<[a-z][a-z0-9]*[ \t][^<>` + "`" + `\n]*=[^<>` + "`" + `\n]*>`)
	curlyQuoted    = regexp.MustCompile(`=[ \t]*[“”]([^“”"<>]*)[“”]`)
	attributeNamed = regexp.MustCompile(`^[A-Za-z_:][\w:.-]*$`)
)

// looseTagParser reads loose tags.
type looseTagParser struct{}

func (looseTagParser) Trigger() []byte { return []byte{'<'} }

func (looseTagParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	end := bytes.IndexAny(line[1:], "<>") + 2
	if end < 2 || !looseTag.Match(line[:end]) || !isHTMLName(tagName(string(line[:end]))) {
		return nil
	}
	n := ast.NewRawHTML()
	n.SetAttributeString(looseAttribute, true)
	advanceOver(block, segment, end, n.Segments)
	return n
}

const looseAttribute = "loose"

// strictTag returns the source of a tag in CommonMark's form. If the tag is loose, it removes all text that is not an
// attribute.
func strictTag(n *ast.RawHTML, source string) string {
	if _, loose := n.AttributeString(looseAttribute); !loose {
		return source
	}
	straight, name := curlyQuoted.ReplaceAllString(source, `="$1"`), tagName(source)
	closing := ""
	if !slices.Contains(voidElements, name) {
		closing = "</" + name + ">"
	}
	nodes, ok := parseHTML(straight + closing)
	if !ok || len(nodes) != 1 {
		return source
	}
	named := slices.DeleteFunc(nodes[0].attrs, func(a attribute) bool { return !attributeNamed.MatchString(a.name) })
	return openTag(name, named)
}
