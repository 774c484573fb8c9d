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

// A heading gets its id from an anchor in it: <a href="#x" id="x"></a> as GitBook writes it, <a id="x"></a>, <a
// name="x"></a>, or {#x} at its end or on a line next to it, as other tools do. Nothing of the anchor is shown. A
// heading that is written has the form that it was read with.

// memberAnchor of a heading is the source of its anchor, if that is not as GitBook writes it.
const memberAnchor = "anchor"

// anchor is the id of a heading and what gave it.
type anchor struct{ id, source string }

// maxAnchor bounds an id, as in the documents of clients.
const maxAnchor = 256

// anchorName matches the ids that a heading can have.
var anchorName = regexp.MustCompile(`^[^\s"'<>{}` + "`" + `\\\x00-\x1f]+$`)

func validAnchor(id string) bool { return len(id) <= maxAnchor && anchorName.MatchString(id) }

// gitbookAnchor is the anchor that GitBook writes.
func gitbookAnchor(id string) string { return `<a href="#` + id + `" id="` + id + `"></a>` }

// setAnchor gives a heading its id.
func setAnchor(data schema.Data, a anchor) {
	member := content.MemberAnchorName
	if schema.ValidData("heading-1", schema.Data{"id": a.id}) {
		member = "id"
	}
	if data[member] = a.id; a.source != gitbookAnchor(a.id) {
		data[memberAnchor] = a.source
	}
}

// headingAnchor writes the id of a heading in the form that it was read with, or as GitBook does.
func headingAnchor(n *schema.Node) string {
	id := content.Member(n.Data, "id")
	valid := id != "" && schema.ValidData("heading-1", schema.Data{"id": id})
	if !valid {
		id = content.Member(n.Data, content.MemberAnchorName)
	}
	if source := content.Clean(content.Member(n.Data, memberAnchor)); id != "" && anchorOf(source).id == id {
		return source
	}
	if !valid {
		return ""
	}
	return gitbookAnchor(id)
}

// headingAnchorHTML is the anchor within an element of HTML.
func headingAnchorHTML(n *schema.Node) string {
	source := headingAnchor(n)
	if strings.HasPrefix(strings.TrimLeft(source, "\n"), "{") {
		return openTag("a", attributes{{name: "id", value: anchorOf(source).id}}) + "</a>"
	}
	return source
}

// anchorOf reads a text that is one anchor, and returns none for another text.
func anchorOf(source string) anchor {
	if strings.Trim(source, "\n") != source {
		return ownLineAnchor(source)
	}
	if source == "" || len(source) > 2*maxAnchor+64 || strings.Contains(source, "\n") {
		return anchor{}
	}
	r := newReader("# " + source)
	heading, ok := r.parse().FirstChild().(*ast.Heading)
	if !ok {
		return anchor{}
	}
	r.inHeading = true
	var b inlineBuilder
	if r.inline(&b, heading); len(b.pieces) > 0 || b.anchor.source != source {
		return anchor{}
	}
	return b.anchor
}

// anchorAttributes belong to an element that is nothing but an anchor.
var anchorAttributes = []string{"href", "id", "name", "class", "aria-hidden"}

// anchorIn returns the id of an element that is an anchor.
func anchorIn(attrs attributes) (string, bool) {
	id, _ := attrs.get("id")
	if id == "" {
		id, _ = attrs.get("name")
	}
	href, linked := attrs.get("href")
	return id, validAnchor(id) && attrs.only(anchorAttributes...) && (!linked || href == "#"+id)
}

// headingID reads an element that gives a heading its id. The element's content is a part of the heading.
func (r *reader) headingID(b *inlineBuilder, e inlineElement) bool {
	id, ok := anchorIn(e.attrs)
	if !ok || !r.inHeading || b.anchor.id != "" || b.inLink || b.depth >= maxInlineElements {
		return false
	}
	b.anchor = anchor{id, e.open + "</a>"}
	if label, plain := e.plain(); plain && strings.TrimSpace(label) == "" {
		b.trimSpace()
		return true
	}
	b.depth++
	e.read(b)
	b.depth--
	return true
}

// headingIDInline is {#x} at the end of a heading.
type headingIDInline struct {
	ast.BaseInline
	id, source string
}

var kindHeadingID = ast.NewNodeKind("HeadingID")

func (n *headingIDInline) Kind() ast.NodeKind { return kindHeadingID }

// Dump is for goldmark's debugging.
func (n *headingIDInline) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"ID": n.id}, nil)
}

// headingAttributes matches {#id}, { #id .class } and {: #id} at the end of a line.
var headingAttributes = regexp.MustCompile(`^(\{:?[ \t]*#([^\s{}]+)(?:[ \t][^{}\n]*)?\})[ \t]*\n?$`)

type headingIDParser struct{}

func (headingIDParser) Trigger() []byte { return []byte{'{'} }

func (headingIDParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	if parent.Kind() != ast.KindHeading {
		return nil
	}
	line, segment := block.PeekLine()
	if lines := parent.Lines(); lines.Len() == 0 || segment.Start < lines.At(lines.Len()-1).Start {
		return nil
	}
	match := headingAttributes.FindSubmatch(line)
	if match == nil || !validAnchor(string(match[2])) {
		return nil
	}
	block.Advance(len(line))
	return &headingIDInline{id: string(match[2]), source: string(match[1])}
}
