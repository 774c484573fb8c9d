package content

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/octavo-docs/octavo/schema"
)

// labels has a row for each kind of node whose data contains a text. The function in the row returns this text.
var labels = map[string]func(data schema.Data) string{
	"emoji":             func(d schema.Data) string { return emojiText(Member(d, "code")) },
	"icon":              func(d schema.Data) string { return ":" + Member(d, "icon") + ":" },
	"expression":        func(d schema.Data) string { return "{{" + Member(d, "expression") + "}}" },
	"inline-math":       func(d schema.Data) string { return Member(d, "formula") },
	"inline-image":      func(d schema.Data) string { return cmp.Or(Member(d, "alt"), Member(d, "caption")) },
	"mention":           func(d schema.Data) string { return RefLabel(d["ref"]) },
	"button":            func(d schema.Data) string { return Member(d, "label") },
	"math":              func(d schema.Data) string { return Member(d, "formula") },
	"image":             func(d schema.Data) string { return Member(d, "alt") },
	"file":              func(d schema.Data) string { return RefLabel(d["ref"]) },
	"drawing":           func(d schema.Data) string { return RefLabel(d["ref"]) },
	"embed":             func(d schema.Data) string { return Member(d, "url") },
	"content-ref":       func(d schema.Data) string { return RefLabel(d["ref"]) },
	"reusable-content":  func(d schema.Data) string { return RefLabel(d["ref"]) },
	"swagger":           methodAndPath,
	"openapi-operation": methodAndPath,
	"openapi-webhook": func(d schema.Data) string {
		return strings.TrimSpace(strings.ToUpper(Member(d, "method")) + " " + Member(d, "name"))
	},
	"openapi-schemas": func(d schema.Data) string {
		names, _ := d["schemas"].([]any)
		return strings.Join(texts(names), ", ")
	},
	"integration": func(d schema.Data) string {
		return cmp.Or(Member(d, "url"), Member(d, "integration")+"/"+Member(d, "block"))
	},
	"tabs-item": func(d schema.Data) string { return Member(d, "title") },
	"code":      func(d schema.Data) string { return Member(d, "title") },
}

func methodAndPath(d schema.Data) string {
	return strings.TrimSpace(strings.ToUpper(Member(d, "method")) + " " + Member(d, "path"))
}

// Member returns a member of the data that is a text. The text is cleaned for storage and display.
func Member(data map[string]any, name string) string {
	value, _ := data[name].(string)
	return Clean(value)
}

func texts(values []any) []string {
	var list []string
	for _, value := range values {
		if text, ok := value.(string); ok {
			list = append(list, Clean(text))
		}
	}
	return list
}

func Label(n *schema.Node) string {
	if label, ok := labels[n.Type]; ok {
		return label(n.Data)
	}
	return ""
}

// Emoji returns the characters of a code such as "1f468-200d-1f4bb". `ok` is false if the text is not a code.
func Emoji(code string) (characters string, ok bool) {
	var b strings.Builder
	for part := range strings.SplitSeq(code, "-") {
		point, err := strconv.ParseUint(part, 16, 32)
		if err != nil || point < ' ' || point > unicode.MaxRune || (point >= 0xD800 && point < 0xE000) {
			return "", false
		}
		b.WriteRune(rune(point))
	}
	return b.String(), true
}

func emojiText(code string) string {
	if characters, ok := Emoji(code); ok {
		return characters
	}
	return ":" + code + ":"
}

// MemberAnchorName is a member of a heading's data. It has the id that the author chose if the member `id` does not
// allow this id.
const MemberAnchorName = "anchorName"

// Plain returns the text of a document without formatting, with one line for each block. Search uses this text, and
// words are counted in it.
func Plain(d schema.Document) string {
	var b strings.Builder
	for i := range d.Nodes {
		plainBlock(&b, &d.Nodes[i])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Headings returns the text of all headings of a document, with one line for each heading.
func Headings(d schema.Document) string {
	var b strings.Builder
	headings(&b, d.Nodes)
	return b.String()
}

func headings(b *strings.Builder, nodes []schema.Node) {
	for i := range nodes {
		if n := &nodes[i]; strings.HasPrefix(n.Type, "heading-") {
			plainBlock(b, n)
		} else if !HoldsText(n) {
			headings(b, n.Nodes)
			for j := range n.Fragments {
				headings(b, n.Fragments[j].Nodes)
			}
		}
	}
}

func plainBlock(b *strings.Builder, n *schema.Node) {
	if n.Type == "table" {
		for _, row := range TableOf(n).Rows() {
			line(b, strings.Join(row, "\t"))
		}
		return
	}
	line(b, Label(n))
	if HoldsText(n) {
		line(b, InlineText(n.Nodes))
	} else {
		for i := range n.Nodes {
			plainBlock(b, &n.Nodes[i])
		}
	}
	for i := range n.Fragments {
		for j := range n.Fragments[i].Nodes {
			plainBlock(b, &n.Fragments[i].Nodes[j])
		}
	}
}

func line(b *strings.Builder, text string) {
	if text != "" {
		b.WriteString(text)
		b.WriteByte('\n')
	}
}

// HoldsText reports whether a node has text or inlines as children.
func HoldsText(n *schema.Node) bool {
	return slices.ContainsFunc(n.Nodes, func(child schema.Node) bool {
		return child.Object == schema.ObjectText || child.Object == schema.ObjectInline
	})
}

// InlineText returns the text of inlines.
func InlineText(nodes []schema.Node) string {
	var b strings.Builder
	for i := range nodes {
		n := &nodes[i]
		b.WriteString(LeafText(n.Leaves))
		b.WriteString(Label(n))
		b.WriteString(InlineText(n.Nodes))
		if note := Annotation(n); note != "" {
			b.WriteString(" (" + note + ")")
		}
	}
	return b.String()
}

func LeafText(leaves []schema.Leaf) string {
	var b strings.Builder
	for _, leaf := range leaves {
		b.WriteString(Clean(leaf.Text))
	}
	return b.String()
}

// Annotation returns the note of an annotation as one line. It returns "" if the inline is not an annotation.
func Annotation(n *schema.Node) string {
	if n.Type != "annotation" {
		return ""
	}
	var b strings.Builder
	for i := range n.Fragments {
		for j := range n.Fragments[i].Nodes {
			plainBlock(&b, &n.Fragments[i].Nodes[j])
		}
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", " ")
}

// Blank reports whether readers see nothing of a body.
func Blank(body schema.Body) bool {
	switch {
	case body.Markdown != nil:
		return strings.TrimSpace(*body.Markdown) == ""
	case body.Document != nil:
		return !slices.ContainsFunc(body.Document.Nodes, shows)
	}
	return true
}

// shows reports whether a node has text, or is visible even without text.
func shows(n schema.Node) bool {
	return n.IsVoid != nil && *n.IsVoid && n.Type != "divider" || strings.TrimSpace(LeafText(n.Leaves)) != "" ||
		slices.ContainsFunc(n.Nodes, shows) || slices.ContainsFunc(n.Fragments, shows)
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD")

// Clean removes characters that JSON or the database does not accept.
func Clean(text string) string {
	return newlines.Replace(strings.ToValidUTF8(text, "\uFFFD"))
}

// MaxListNumber is the highest number with which a CommonMark list can start.
const MaxListNumber = 999_999_999

// ListStart returns the first number of an ordered list.
func ListStart(n *schema.Node) int {
	start, ok := n.Data["start"].(float64)
	if !ok || start < 0 || start > MaxListNumber || start != math.Trunc(start) {
		return 1
	}
	return int(start)
}
