package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// pairTags pairs the opening and closing tags among the children of a node. It looks at each tag a bounded number of
// times.
func (r *reader) pairTags(n ast.Node) map[ast.Node]ast.Node {
	var open []ast.Node
	var pairs map[ast.Node]ast.Node
	count := map[string]int{}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		raw, ok := child.(*ast.RawHTML)
		if !ok {
			continue
		}
		source := r.rawSource(raw)
		m := tagStart.FindStringSubmatch(source)
		switch {
		case m == nil || strings.HasSuffix(source, "/>") || slices.Contains(voidElements, tagName(source)):
		case m[1] == "":
			open = append(open, child)
			count[tagName(source)]++
		case count[tagName(source)] > 0:
			for {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				name := tagName(r.rawSource(last.(*ast.RawHTML)))
				count[name]--
				if name == tagName(source) {
					if pairs == nil {
						pairs = map[ast.Node]ast.Node{}
					}
					pairs[last], pairs[child] = child, last
					break
				}
			}
		}
	}
	return pairs
}

func (r *reader) rawSource(n *ast.RawHTML) string {
	if n.Segments.Len() == 1 {
		at := n.Segments.At(0)
		return string(at.Value(r.source))
	}
	return string(n.Segments.Value(r.source))
}

// isTextUntil reports whether no tag is between two tags. It stops at the first tag that it finds. Without this stop,
// nested elements would make it scan the same text many times.
func isTextUntil(n, end ast.Node) bool {
	for n = n.NextSibling(); n != nil && n != end; n = n.NextSibling() {
		if n.Kind() == ast.KindRawHTML {
			return false
		}
	}
	return true
}

// isTagsUntil reports whether all nodes between two tags are tags. After a fixed number of tags, it stops and returns
// true.
func isTagsUntil(n, end ast.Node) bool {
	for range 4 * maxInlineElements {
		if n = n.NextSibling(); n == nil || n == end {
			return true
		}
		if n.Kind() != ast.KindRawHTML {
			return false
		}
	}
	return true
}

// isShort reports whether at most a few nodes are between two tags.
func isShort(n, end ast.Node) bool {
	for range 8 {
		if n = n.NextSibling(); n == nil || n == end {
			return true
		}
	}
	return false
}

// between returns the source between two tags of one block.
func (r *reader) between(open *ast.RawHTML, end ast.Node) string {
	closing, ok := end.(*ast.RawHTML)
	if !ok {
		return ""
	}
	from, to := open.Segments.At(open.Segments.Len()-1).Stop, closing.Segments.At(0).Start
	return string(textOf(r.block, text.NewSegment(from, to), r.source))
}

// missedHTML handles tags that would begin a block of HTML when they are written. It removes hidden tags, and turns
// other tags into text. Goldmark reads such tags as inlines after "> " and a tab, and in an indented line. A remaining
// tag has no marks, because a mark would be written in front of the tag.
func (b *inlineBuilder) missedHTML() {
	startsLine, left := true, maxTags
	for i := range b.pieces {
		p := &b.pieces[i]
		if startsLine && p.raw && bytes.HasPrefix(p.text, []byte("<")) && opensHTML(lineOf(b.pieces[i:]), i > 0) {
			// The number of hidden tags is limited, because the check of each tag reads the rest of the line.
			if p.style = (style{}); hidesTag(string(p.text), false) && left > 0 {
				p.text = nil
				left--
				continue
			}
		}
		startsLine = p.node == nil && bytes.HasSuffix(p.text, []byte("\n"))
	}
}

// lineOf returns the text of pieces up to the end of the line, or up to a piece without text.
func lineOf(pieces []piece) string {
	var b strings.Builder
	for i := range pieces {
		if pieces[i].node != nil {
			b.WriteByte('x')
			break
		}
		line, _, more := bytes.Cut(pieces[i].text, []byte("\n"))
		b.Write(line)
		if more {
			break
		}
	}
	return b.String()
}

// opensHTML reports whether a line begins a block of HTML. If `within` is set, the line is not the first line of its
// paragraph.
func opensHTML(line string, within bool) bool {
	if within {
		line = "a\n" + line
	}
	return newReader(line).parse(nil).LastChild().Kind() == ast.KindHTMLBlock
}
