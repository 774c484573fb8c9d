package content

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/octavo-docs/octavo/schema"
)

// marks is a set of the marks that Markdown has.
type marks uint8

const (
	markBold marks = 1 << iota
	markItalic
	markStrike
	markCode
)

// markNames is in the order in which marks are listed in a leaf.
var markNames = []struct {
	mark marks
	name string
}{{markBold, "bold"}, {markItalic, "italic"}, {markStrike, "strikethrough"}, {markCode, "code"}}

func (m marks) list() []schema.Mark {
	list := []schema.Mark{}
	for _, row := range markNames {
		if m&row.mark != 0 {
			list = append(list, schema.Mark{Object: schema.ObjectMark, Type: row.name})
		}
	}
	return list
}

func marksOf(list []schema.Mark) marks {
	var m marks
	for _, mark := range list {
		for _, row := range markNames {
			if row.name == mark.Type {
				m |= row.mark
			}
		}
	}
	return m
}

// inlineBuilder gathers inlines. Runs of text with the same marks become one leaf.
type inlineBuilder struct {
	nodes  []schema.Node
	marks  marks
	last   marks // of the last leaf
	inLink bool
}

func (b *inlineBuilder) text(text string) {
	if text == "" {
		return
	}
	last := len(b.nodes) - 1
	if last < 0 || b.nodes[last].Object != schema.ObjectText {
		b.nodes = append(b.nodes, schema.Node{Object: schema.ObjectText})
		last++
	}
	leaves := &b.nodes[last].Leaves
	if n := len(*leaves); n > 0 && b.last == b.marks {
		(*leaves)[n-1].Text += text
		return
	}
	*leaves = append(*leaves, schema.Leaf{Object: schema.ObjectLeaf, Text: text, Marks: b.marks.list()})
	b.last = b.marks
}

func (r *reader) inlines(n ast.Node) []schema.Node {
	b := inlineBuilder{nodes: []schema.Node{}}
	r.inline(&b, n)
	return b.nodes
}

// inline adds what stands in n.
func (r *reader) inline(b *inlineBuilder, n ast.Node) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.Text:
			r.text(b, child)
		case *ast.String:
			b.text(string(child.Value))
		case *ast.CodeSpan:
			r.marked(b, child, markCode)
		case *ast.Emphasis:
			r.marked(b, child, []marks{markItalic, markBold}[child.Level-1])
		case *east.Strikethrough:
			r.marked(b, child, markStrike)
		case *ast.Link:
			r.link(b, unescape(child.Destination), r.children(b, child))
		case *ast.AutoLink:
			address := string(child.URL(r.source))
			if child.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
				address = "mailto:" + address
			}
			label := inlineBuilder{marks: b.marks}
			label.text(string(child.Label(r.source)))
			r.link(b, address, label.nodes)
		case *ast.Image:
			r.image(b, child)
		}
	}
}

func (r *reader) text(b *inlineBuilder, n *ast.Text) {
	value := n.Segment.Value(r.source)
	if b.marks&markCode != 0 {
		b.text(strings.ReplaceAll(string(value), "\n", " "))
	} else {
		b.text(unescape(value))
	}
	switch {
	case n.HardLineBreak():
		b.text("\n")
	case n.SoftLineBreak():
		b.text(" ")
	}
}

func (r *reader) marked(b *inlineBuilder, n ast.Node, mark marks) {
	outer := b.marks
	b.marks |= mark
	r.inline(b, n)
	b.marks = outer
}

// children gives what stands in a link.
func (r *reader) children(b *inlineBuilder, n ast.Node) []schema.Node {
	inner := inlineBuilder{marks: b.marks, inLink: true}
	r.inline(&inner, n)
	return inner.nodes
}

// link whose scheme is not taken becomes its text, with the address behind it.
func (r *reader) link(b *inlineBuilder, address string, label []schema.Node) {
	ref, ok := refOf(address)
	if ok && !b.inLink {
		b.nodes = append(b.nodes, schema.Node{Type: "link", Data: schema.Data{"ref": ref}, Nodes: label})
		return
	}
	for _, node := range label {
		if node.Object != schema.ObjectText {
			b.nodes = append(b.nodes, node)
			continue
		}
		outer := b.marks
		for _, leaf := range node.Leaves {
			b.marks = marksOf(leaf.Marks)
			b.text(leaf.Text)
		}
		b.marks = outer
	}
	b.text(" (" + address + ")")
}

func (r *reader) image(b *inlineBuilder, n *ast.Image) {
	alt := plainNodes(r.inlines(n))
	address := unescape(n.Destination)
	ref, ok := refOf(address)
	if kind := ref["kind"]; !ok || (kind != "url" && kind != "file") {
		b.text(alt + " (" + address + ")")
		return
	}
	data := schema.Data{"ref": ref}
	if alt != "" {
		data["alt"] = alt
	}
	if title := unescape(n.Title); title != "" {
		data["caption"] = title
	}
	b.nodes = append(b.nodes, schema.Node{Type: "inline-image", Data: data})
}

var entity = regexp.MustCompile(`^&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([a-zA-Z][a-zA-Z0-9]*));`)

// unescape takes out backslashes before punctuation and resolves character references, in one pass: an escaped & starts no
// reference.
func unescape(source []byte) string {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\' && i+1 < len(source) && util.IsPunct(source[i+1]):
			i++
			b.WriteByte(source[i])
		case c == '&':
			if match := entity.FindSubmatch(source[i:]); match != nil {
				if value, ok := resolve(match); ok {
					b.WriteString(value)
					i += len(match[0]) - 1
					continue
				}
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return clean(b.String())
}

func resolve(match [][]byte) (string, bool) {
	if len(match[3]) > 0 {
		named, ok := util.LookUpHTML5EntityByName(string(match[3]))
		if !ok {
			return "", false
		}
		return string(named.Characters), true
	}
	digits, base := string(match[2]), 10
	if len(match[1]) > 0 {
		digits, base = string(match[1]), 16
	}
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || code == 0 || code > 0x10FFFF {
		return "\uFFFD", true
	}
	return string(rune(code)), true
}
