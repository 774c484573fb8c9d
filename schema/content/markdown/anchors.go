package markdown

import (
	"regexp"
	"strconv"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// A heading gets its id from an anchor. GitBook writes <a href="#x" id="x"></a>. Other tools write <a id="x"></a>, <a
// name="x"></a>, or {#x} at the heading's end or on a line next to it. Readers do not see the anchor. Write writes the
// anchor in the form that Read found.

// memberAnchor is the member that has the source of a heading's anchor, if the source differs from GitBook's form.
const memberAnchor = "anchor"

// anchor has the id of a heading and the source of that id.
type anchor struct{ id, source string }

// maxAnchor bounds the length of an id. The same limit applies to documents that clients send.
const maxAnchor = 256

// anchorName matches the ids that a heading can have.
var anchorName = regexp.MustCompile(`^[^\s"'<>{}` + "`" + `\\\x00-\x1f]+$`)

func validAnchor(id string) bool { return len(id) <= maxAnchor && anchorName.MatchString(id) }

// gitbookAnchor returns the anchor that GitBook writes for an id.
func gitbookAnchor(id string) string { return `<a href="#` + id + `" id="` + id + `"></a>` }

// setAnchor stores the id of a heading, and the source of the id if it differs from GitBook's form.
func setAnchor(data schema.Data, a anchor) {
	member := content.MemberAnchorName
	if schema.ValidData("heading-1", schema.Data{"id": a.id}) {
		member = "id"
	}
	if data[member] = a.id; a.source != gitbookAnchor(a.id) {
		data[memberAnchor] = a.source
	}
}

// anchorAttributes are the attributes that an element can have if it is only an anchor.
var anchorAttributes = []string{"href", "id", "name", "class", "aria-hidden"}

// anchorIn returns the id of an element that is only an anchor. The second result is false for any other element.
func anchorIn(attrs attributes) (string, bool) {
	id, _ := attrs.get("id")
	if id == "" {
		id, _ = attrs.get("name")
	}
	href, linked := attrs.get("href")
	return id, validAnchor(id) && attrs.only(anchorAttributes...) && (!linked || href == "#"+id)
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

// memberLevel is the member of a heading-3 that has its level in Markdown, if the level is 4 to 6.
const memberLevel = "level"

// headingNode makes a heading. Documents have three levels of headings. A deeper heading in Markdown is a heading-3
// with its level in data.
func headingNode(level int, inlines []schema.Node, a anchor) schema.Node {
	n := schema.Node{Type: "heading-" + strconv.Itoa(min(level, 3)), Data: schema.Data{}, Nodes: inlines}
	if level > 3 {
		n.Data[memberLevel] = float64(level)
	}
	if a.id != "" {
		setAnchor(n.Data, a)
	}
	return n
}

func headingLevel(n *schema.Node) int {
	if level, ok := n.Data[memberLevel].(float64); ok && n.Type == "heading-3" &&
		(level == 4 || level == 5 || level == 6) {
		return int(level)
	}
	return int(n.Type[len("heading-")] - '0')
}
