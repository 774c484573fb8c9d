package markdown

import (
	"bytes"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	xhtml "golang.org/x/net/html"

	"github.com/octavo-docs/octavo/schema"
)

// safePasses bounds the number of times that Safe reads a text. Safe reads its result again, because a change can give
// the text after it another meaning.
const safePasses = 4

// Safe returns the Markdown in a form that is safe for readers other than its author. A link whose scheme is not
// allowed leads to "#" instead. A link to "//host" leads to "https://host". HTML may only have passiveElements with
// passiveAttributes. Any other tag is shown as text. Code keeps its bytes, and so does text without such links and
// tags. The result is safe both in GitBook's dialect and in plain CommonMark, because a reader's software may use
// either.
func Safe(markdown string) string {
	if !strings.ContainsAny(markdown, "<]{") {
		return markdown
	}
	for range safePasses {
		edits, found := unsafeParts([]byte(markdown))
		if !found {
			return markdown
		}
		// An unsafe link may have no position in the source. For example, goldmark may have copied its destination.
		if len(edits) == 0 {
			break
		}
		markdown = withEdits(markdown, edits)
	}
	return Write(Verbatim(markdown))
}

// edit replaces `length` bytes of a text by the text `by`.
type edit struct {
	length int
	by     string
}

func withEdits(source string, edits map[int]edit) string {
	var b strings.Builder
	end := 0
	for _, at := range slices.Sorted(maps.Keys(edits)) {
		if at < end {
			continue
		}
		b.WriteString(source[end:at] + edits[at].by)
		end = at + edits[at].length
	}
	return b.String() + source[end:]
}

// plainParser reads CommonMark with tables and without GitBook's dialect, in time proportional to the text's length.
var plainParser = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(nested{parser.NewListParser()}, 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(nested{parser.NewBlockquoteParser()}, 800),
		util.Prioritized(parser.NewHTMLBlockParser(), 900),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	),
	parser.WithInlineParsers(
		util.Prioritized(codeSpanParser{parser.NewCodeSpanParser()}, 100),
		util.Prioritized(linkParser{}, 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewRawHTMLParser(), 400),
		util.Prioritized(emphasisParser{}, 500),
	),
	parser.WithParagraphTransformers(
		util.Prioritized(referenceTransformer{}, 100),
		util.Prioritized(newTableTransformer(), 200),
	),
)

// safeScan has the state and the result of the search for unsafe parts of a text.
type safeScan struct {
	source []byte
	inert  map[int]bool // positions of "<" that begin no tag: in code, or before a destination or an address
	edits  map[int]edit
	found  bool
}

// unsafeParts returns the changes that make a text safe. `found` is true if the text has an unsafe part. If the part
// has no position in the source, `edits` has no change for it.
func unsafeParts(source []byte) (edits map[int]edit, found bool) {
	edits = map[int]edit{}
	var inert []map[int]bool
	for _, p := range []parser.Parser{markdownParser, plainParser} {
		s := &safeScan{source: source, inert: map[int]bool{}, edits: edits}
		pc, _ := newContext(source)
		root := p.Parse(text.NewReader(source), parser.WithContext(pc))
		for _, reference := range pc.References() {
			s.destination(reference.Destination())
		}
		_ = ast.Walk(root, s.visit) // visit never returns an error
		inert, found = append(inert, s.inert), found || s.found
	}
	for at := 0; at < len(source); at++ {
		next := bytes.IndexByte(source[at:], '<')
		if next < 0 {
			break
		}
		if at += next; inert[0][at] && inert[1][at] || passiveTag(source[at:]) {
			continue
		}
		found = true
		if end := bytes.IndexAny(source[at+1:], "<>") + 1; end > 0 && completeTag(edits, source, at, at+end) {
			continue
		}
		if backslashesBefore(source, at)%2 == 1 {
			edits[at-1] = edit{2, "&lt;"}
		} else {
			edits[at] = edit{1, "&lt;"}
		}
	}
	return edits, found
}

func backslashesBefore(source []byte, at int) int {
	return at - len(bytes.TrimRight(source[:at], `\`))
}

func (s *safeScan) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			s.quiet(line.Start, line.Stop)
		}
	case *ast.CodeSpan:
		for child := n.FirstChild(); child != nil; child = child.NextSibling() {
			if leaf, ok := child.(*ast.Text); ok {
				s.quiet(leaf.Segment.Start, leaf.Segment.Stop)
			}
		}
	case *ast.AutoLink:
		at, ok := s.place(n.Label(s.source))
		listed := n.AutoLinkType == ast.AutoLinkEmail || !unsafeLink(string(n.Label(s.source)))
		if ok && at > 0 && listed {
			s.inert[at-1] = true
		}
	case *ast.Link:
		s.destination(n.Destination)
	case *ast.Image:
		s.destination(n.Destination)
	case *tagNode:
		s.tag(n.tag, bytes.LastIndexByte(s.source[:startOf(n)], '\n')+1)
	case *tagInline:
		if t, ok := readTagLine(n.source(s.source)); ok {
			s.tag(t, n.segments.At(0).Start)
		}
	}
	return ast.WalkContinue, nil
}

func (s *safeScan) quiet(from, to int) {
	for at := from; at < to; at++ {
		if s.source[at] == '<' {
			s.inert[at] = true
		}
	}
}

// place returns the position of a part of the source. `ok` is false if the part is not in the source's memory, because
// goldmark has copied it.
func (s *safeScan) place(part []byte) (at int, ok bool) {
	at = cap(s.source) - cap(part)
	return at, len(part) > 0 && at >= 0 && at < len(s.source) && &s.source[at] == &part[0]
}

// destination adds a change if the target of a link, an image or a definition is unsafe.
func (s *safeScan) destination(target []byte) {
	at, ok := s.place(target)
	if ok && at > 0 && s.source[at-1] == '<' {
		s.inert[at-1] = true
	}
	if !unsafeLink(unescape(target)) {
		return
	}
	s.found = true
	switch {
	case ok && bytes.HasPrefix(target, []byte("//")) && schema.ShownLink(string(target)) != "":
		s.edits[at] = edit{0, secureScheme}
	case ok:
		s.edits[at] = edit{len(target), "#"}
	}
}

// secureScheme is the scheme that Safe adds to an address that has a host and no scheme.
const secureScheme = "https:"

// hostInAttribute matches the beginning of an attribute's value whose address has a host and no scheme.
var hostInAttribute = regexp.MustCompile(`=\s*["']?//`)

// completeTag adds the scheme to the addresses of a tag that have a host and no scheme.
func completeTag(edits map[int]edit, source []byte, from, to int) (found bool) {
	for _, match := range hostInAttribute.FindAllIndex(source[from:to], -1) {
		edits[from+match[1]-len("//")] = edit{0, secureScheme}
		found = true
	}
	return found
}

// tag turns a tag into text if the scheme of one of its addresses is not allowed.
func (s *safeScan) tag(t tag, from int) {
	for _, a := range t.attrs {
		if !slices.Contains(addressAttributes, a.name) || !unsafeLink(a.value) {
			continue
		}
		s.found = true
		open := bytes.Index(s.source[from:], []byte("{%"))
		if open < 0 {
			return
		}
		open += from
		if end := bytes.Index(s.source[open:], []byte("%}")); end > 0 &&
			completeTag(s.edits, s.source, open, open+end) {
			return
		}
		s.edits[open] = edit{1, "&#123;"}
		return
	}
}

// addressAttributes are the attributes of GitBook's tags and of HTML that contain one address.
var addressAttributes = []string{"url", "href", "src", "link", "target-url", "content"}

// unsafeLink reports whether a link has a scheme that is not allowed, in any spelling.
func unsafeLink(link string) bool {
	return !schema.LinkAllowed(link) && schema.LinkScheme(link) != "ref"
}

// passiveElements are the elements of HTML that Safe does not change. They are the elements that this package writes,
// and other elements that contain text.
var passiveElements = setOf(
	`a abbr b blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption
	figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q s samp small source span strike strong sub
	summary sup table tbody td tfoot th thead tr tt u ul var wbr`)

// passiveAttributes are the attributes that passiveElements may have. Attributes whose names begin with data- are also
// allowed.
var passiveAttributes = setOf(
	`align alt aria-label checked class colspan height href id lang media open rel rowspan src srcset
	start target title type valign value width`,
)

// beginsTag matches a text that HTML could read as the beginning of a tag, a declaration or an instruction.
var beginsTag = regexp.MustCompile(`^<[A-Za-z/!?]`)

// passiveTag reports whether the "<" at the start of the source is harmless. It is harmless if it begins a comment, or
// does not begin a tag. It is also harmless if it begins a tag that runs no code and whose links have only allowed
// schemes. A tag ends at the next ">", because a tag with ">" in its attributes is treated as unsafe.
func passiveTag(source []byte) bool {
	if !beginsTag.Match(source[:min(len(source), 2)]) || bytes.HasPrefix(source, []byte("<!--")) {
		return true
	}
	end := bytes.IndexAny(source[1:], "<>") + 1
	if end == 0 || source[end] == '<' {
		return false
	}
	z := xhtml.NewTokenizer(bytes.NewReader(source[:end+1]))
	kind := z.Next()
	if kind == xhtml.EndTagToken {
		name, attributes := z.TagName()
		return passiveElements[string(name)] && !attributes
	}
	if kind != xhtml.StartTagToken && kind != xhtml.SelfClosingTagToken {
		return false
	}
	t := z.Token()
	if !passiveElements[t.Data] {
		return false
	}
	return !slices.ContainsFunc(t.Attr, func(a xhtml.Attribute) bool {
		switch {
		case strings.HasPrefix(a.Key, "data-"):
			return unsafeData(a.Val)
		case a.Key == "style":
			_, ok := markColor(a.Val)
			return t.Data != "mark" || !ok
		case a.Key == "srcset":
			parts := strings.FieldsFunc(a.Val, func(r rune) bool { return r == ',' || r <= ' ' })
			return slices.ContainsFunc(parts, unsafeLink)
		case slices.Contains(addressAttributes, a.Key):
			return !passiveAttributes[a.Key] || unsafeLink(a.Val)
		}
		return !passiveAttributes[a.Key]
	})
}

// scripted has the schemes that the value of a data- attribute must not have. All other texts are allowed in the value.
var scripted = []string{"javascript", "vbscript", "data"}

func unsafeData(value string) bool {
	return slices.Contains(scripted, schema.LinkScheme(html.UnescapeString(value)))
}
