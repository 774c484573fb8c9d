package markdown

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
)

// inlineBuilder collects inlines. Runs of text with the same marks become one leaf.
type inlineBuilder struct {
	nodes  []schema.Node
	marks  content.Marks
	run    []byte        // the text of the leaf being built
	last   content.Marks // the marks of that leaf
	inLink bool
}

func (b *inlineBuilder) text(text string) {
	if b.last != b.marks {
		b.endRun()
	}
	b.run, b.last = append(b.run, text...), b.marks
}

// endRun writes the leaf, to the last node if that is a text.
func (b *inlineBuilder) endRun() {
	if len(b.run) == 0 {
		return
	}
	last := len(b.nodes) - 1
	if last < 0 || b.nodes[last].Object != schema.ObjectText {
		b.nodes = append(b.nodes, schema.Node{Object: schema.ObjectText})
		last++
	}
	leaf := schema.Leaf{Object: schema.ObjectLeaf, Text: string(b.run), Marks: b.last.List()}
	b.nodes[last].Leaves = append(b.nodes[last].Leaves, leaf)
	b.run = b.run[:0]
}

func (b *inlineBuilder) add(node schema.Node) {
	b.endRun()
	b.nodes = append(b.nodes, node)
}

func (b *inlineBuilder) empty() bool { return len(b.nodes) == 0 && len(b.run) == 0 }

// inlines returns the collected inlines.
func (b *inlineBuilder) inlines() []schema.Node {
	b.endRun()
	if b.nodes == nil {
		return []schema.Node{}
	}
	return b.nodes
}

func (r *reader) inlines(n ast.Node) []schema.Node {
	var b inlineBuilder
	r.inline(&b, n)
	return b.inlines()
}

// inline adds the content of n.
func (r *reader) inline(b *inlineBuilder, n ast.Node) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.Text:
			r.text(b, child)
		case *ast.String:
			b.text(string(child.Value))
		case *ast.CodeSpan:
			r.marked(b, child, content.Code)
		case *ast.Emphasis:
			r.marked(b, child, []content.Marks{content.Italic, content.Bold}[child.Level-1])
		case *east.Strikethrough:
			r.marked(b, child, content.Strike)
		case *ast.Link:
			r.link(b, unescape(child.Destination), r.children(b, child))
		case *ast.AutoLink:
			address := string(child.URL(r.source))
			if child.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
				address = "mailto:" + address
			}
			label := inlineBuilder{marks: b.marks}
			label.text(string(child.Label(r.source)))
			r.link(b, address, label.inlines())
		case *ast.Image:
			r.image(b, child)
		}
	}
}

func (r *reader) text(b *inlineBuilder, n *ast.Text) {
	value := n.Segment.Value(r.source)
	if b.marks&content.Code != 0 {
		code := strings.ReplaceAll(string(value), "\n", " ")
		if r.inCell {
			code = strings.ReplaceAll(code, `\|`, "|")
		}
		b.text(code)
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

func (r *reader) marked(b *inlineBuilder, n ast.Node, mark content.Marks) {
	outer := b.marks
	b.marks |= mark
	r.inline(b, n)
	b.marks = outer
}

// children returns the content of a link.
func (r *reader) children(b *inlineBuilder, n ast.Node) []schema.Node {
	inner := inlineBuilder{marks: b.marks, inLink: true}
	r.inline(&inner, n)
	return inner.inlines()
}

// link adds a link. If its scheme is not allowed, it becomes its text followed by the address.
func (r *reader) link(b *inlineBuilder, address string, label []schema.Node) {
	ref, ok := content.Ref(address)
	if ok && !b.inLink {
		b.add(schema.Node{Type: "link", Data: schema.Data{"ref": ref}, Nodes: label})
		return
	}
	for _, node := range label {
		if node.Object != schema.ObjectText {
			b.add(node)
			continue
		}
		outer := b.marks
		for _, leaf := range node.Leaves {
			b.marks = content.MarksOf(leaf.Marks)
			b.text(leaf.Text)
		}
		b.marks = outer
	}
	b.text(" (" + address + ")")
}

func (r *reader) image(b *inlineBuilder, n *ast.Image) {
	alt := content.InlineText(r.inlines(n))
	address := unescape(n.Destination)
	ref, ok := content.Ref(address)
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
	b.add(schema.Node{Type: "inline-image", Data: data})
}

var entity = regexp.MustCompile(`^&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([a-zA-Z][a-zA-Z0-9]*));`)

// unescape removes backslashes before punctuation and resolves character references, in one pass: an escaped & does not
// start a reference.
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
	return content.Clean(b.String())
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
