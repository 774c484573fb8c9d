package translation

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"github.com/octavo-docs/octavo/schema"
)

// The notation of a segment is HTML that contains only text and numbered tags. A pair of tags encloses text to
// translate, for example <a id="1">here</a>. A single tag, for example <img id="2" alt="npm install">, replaces a part
// that is not translated. Translators do not change HTML tags. The attribute alt tells them what the tag replaces. It
// is ignored in their answers.

// singleTag is the name of single tags, which enclose no text.
const singleTag = "img"

// maxAlt bounds the length of the description in a single tag, in characters.
const maxAlt = 80

// token is a part of a text in the notation.
type token struct {
	kind tokenKind
	// text is the text of a text token, without escapes.
	text string
	// id and name are the id and the name of the tag.
	id, name string
}

type tokenKind int

const (
	textToken tokenKind = iota
	openToken
	closeToken
	singleToken
)

var errBroken = errors.New("the tags are not those of the source")

// tokens parses a text in the notation. It returns an error if the text contains anything except text and numbered
// tags.
func tokens(notation string) ([]token, error) {
	var all []token
	var open []string
	for z := html.NewTokenizer(strings.NewReader(notation)); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) || len(open) > 0 {
				return nil, errBroken
			}
			return all, nil
		case html.TextToken:
			text := string(z.Text())
			if n := len(all); n > 0 && all[n-1].kind == textToken {
				all[n-1].text += text
			} else {
				all = append(all, token{kind: textToken, text: text})
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			tag := z.Token()
			id := ""
			for _, attribute := range tag.Attr {
				if attribute.Key == "id" {
					id = attribute.Val
				}
			}
			switch {
			case id == "":
				return nil, errBroken
			case tag.Data == singleTag:
				all = append(all, token{kind: singleToken, id: id, name: tag.Data})
			case kind == html.SelfClosingTagToken:
				return nil, errBroken
			default:
				all, open = append(all, token{kind: openToken, id: id, name: tag.Data}), append(open, id)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if string(name) == singleTag {
				continue // some translators add an end tag to a single tag
			}
			if len(open) == 0 {
				return nil, errBroken
			}
			all = append(all, token{kind: closeToken, id: open[len(open)-1], name: string(name)})
			open = open[:len(open)-1]
		case html.CommentToken, html.DoctypeToken:
			return nil, errBroken
		}
	}
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// written returns tokens in the notation. It is the reverse of the function `tokens`, but it writes no attribute alt.
func written(all []token) string {
	var b strings.Builder
	for _, t := range all {
		switch t.kind {
		case textToken:
			b.WriteString(escapes.Replace(t.text))
		case openToken:
			fmt.Fprintf(&b, `<%s id="%s">`, t.name, html.EscapeString(t.id))
		case closeToken:
			fmt.Fprintf(&b, "</%s>", t.name)
		case singleToken:
			fmt.Fprintf(&b, `<%s id="%s">`, singleTag, html.EscapeString(t.id))
		}
	}
	return b.String()
}

// hole replaces a tag in the plain text of a segment. A hole is not a letter, so a term cannot match across a tag.
const hole = '\uFFFC'

// plain returns the text of a segment, with holes instead of its tags.
func plain(all []token) string {
	var b strings.Builder
	for _, t := range all {
		switch t.kind {
		case textToken:
			b.WriteString(t.text)
		case singleToken:
			b.WriteRune(hole)
		case openToken, closeToken:
		}
	}
	return b.String()
}

// shape returns the tags, the pair that encloses each tag, and which pairs contain text. Texts with the same tags in
// another order have the same shape.
func shape(all []token) []string {
	var tags, inside []string
	filled := map[string]bool{}
	for _, t := range all {
		within := ""
		if len(inside) > 0 {
			within = inside[len(inside)-1]
		}
		switch t.kind {
		case textToken:
			filled[within] = filled[within] || strings.TrimSpace(t.text) != ""
		case singleToken:
			tags = append(tags, fmt.Sprintf("single %q in %q", t.id, within))
		case openToken:
			tags, inside = append(tags, fmt.Sprintf("pair %q in %q", t.id, within)), append(inside, t.id)
		case closeToken:
			inside = inside[:len(inside)-1]
			if filled[t.id] {
				tags = append(tags, fmt.Sprintf("text in %q", t.id))
			}
		}
	}
	slices.Sort(tags)
	return tags
}

// fits reports whether a translation contains each tag of its source exactly once, in the same pair of tags.
func fits(source, target string) bool {
	from, err := tokens(source)
	if err != nil {
		return false
	}
	to, err := tokens(target)
	return err == nil && slices.Equal(shape(from), shape(to)) && strings.TrimSpace(target) != ""
}

// hasLetters reports whether a segment has text to translate. A segment that is only an address has none.
func hasLetters(all []token) bool {
	text := strings.TrimSpace(strings.ReplaceAll(plain(all), string(hole), " "))
	if !strings.ContainsFunc(text, unicode.IsSpace) && strings.Contains(text, "://") {
		return false
	}
	return strings.ContainsFunc(text, unicode.IsLetter)
}

// keptMarks are the marks of text that is not translated.
var keptMarks = []string{"code", "keyboard"}

// markTags has the names of tags for marks. The name tells the translator the kind of the mark.
var markTags = map[string]string{"bold": "b", "italic": "i", "strikethrough": "s", "superscript": "sup", "subscript": "sub"}

// inlineTags has the names of tags for inlines with text. All other inlines become single tags.
var inlineTags = map[string]string{"link": "a", "annotation": "span"}

// notes has, for each kind of inline without a text, the member of its data that describes the inline to a translator.
var notes = map[string]string{"emoji": "code", "icon": "icon", "expression": "expression", "inline-math": "formula", "inline-image": "alt", "button": "label"}

// encoder writes inlines in the notation.
type encoder struct {
	b  strings.Builder
	id int
}

func encode(nodes []schema.Node) string {
	e := &encoder{}
	e.nodes(nodes)
	return e.b.String()
}

func (e *encoder) next() string {
	e.id++
	return strconv.Itoa(e.id)
}

func (e *encoder) nodes(nodes []schema.Node) {
	for i := range nodes {
		n := &nodes[i]
		if n.Object == schema.ObjectText {
			for _, leaf := range n.Leaves {
				e.leaf(leaf)
			}
			continue
		}
		id := e.next()
		if tag, pair := inlineTags[n.Type]; pair {
			fmt.Fprintf(&e.b, `<%s id="%s">`, tag, id)
			e.nodes(n.Nodes)
			fmt.Fprintf(&e.b, "</%s>", tag)
			continue
		}
		note, _ := n.Data[notes[n.Type]].(string)
		e.single(id, note)
	}
}

func (e *encoder) leaf(leaf schema.Leaf) {
	if len(leaf.Marks) == 0 {
		e.b.WriteString(escapes.Replace(leaf.Text))
		return
	}
	id, tag := e.next(), "span"
	for _, mark := range leaf.Marks {
		if slices.Contains(keptMarks, mark.Type) {
			e.single(id, leaf.Text)
			return
		}
		if name, known := markTags[mark.Type]; known {
			tag = name
		}
	}
	fmt.Fprintf(&e.b, `<%s id="%s">%s</%s>`, tag, id, escapes.Replace(leaf.Text), tag)
}

func (e *encoder) single(id, note string) {
	if runes := []rune(note); len(runes) > maxAlt {
		note = string(runes[:maxAlt]) + "…"
	}
	if note == "" {
		fmt.Fprintf(&e.b, `<%s id="%s">`, singleTag, id)
		return
	}
	fmt.Fprintf(&e.b, `<%s id="%s" alt="%s">`, singleTag, id, html.EscapeString(note))
}

// decoder puts the texts of a translation into the inlines of its source.
type decoder struct {
	inlines map[string]schema.Node
	leaves  map[string]schema.Leaf
	id      int
	tokens  []token
}

// decode returns a copy of the source inlines `nodes` with the texts of the translation `target`. The tags of the
// translation must be the tags of the source. `decode` does not change `nodes`.
func decode(nodes []schema.Node, target string) ([]schema.Node, error) {
	if !fits(encode(nodes), target) {
		return nil, errBroken
	}
	all, err := tokens(target)
	if err != nil {
		return nil, err
	}
	d := &decoder{inlines: map[string]schema.Node{}, leaves: map[string]schema.Leaf{}, tokens: all}
	d.number(nodes)
	return d.nodes(), nil
}

// number gives each inline, and each leaf of text with marks, the number that the encoder gives it.
func (d *decoder) number(nodes []schema.Node) {
	for _, n := range nodes {
		if n.Object != schema.ObjectText {
			d.id++
			d.inlines[strconv.Itoa(d.id)] = n
			if _, pair := inlineTags[n.Type]; pair {
				d.number(n.Nodes)
			}
			continue
		}
		for _, leaf := range n.Leaves {
			if len(leaf.Marks) > 0 {
				d.id++
				d.leaves[strconv.Itoa(d.id)] = leaf
			}
		}
	}
}

// nodes decodes the tokens up to the end of the pair that encloses them.
func (d *decoder) nodes() []schema.Node {
	nodes := []schema.Node{}
	leaf := func(leaf schema.Leaf) {
		if n := len(nodes); n > 0 && nodes[n-1].Object == schema.ObjectText {
			nodes[n-1].Leaves = append(nodes[n-1].Leaves, leaf)
		} else {
			nodes = append(nodes, schema.Node{Object: schema.ObjectText, Leaves: []schema.Leaf{leaf}})
		}
	}
	for len(d.tokens) > 0 {
		t := d.tokens[0]
		d.tokens = d.tokens[1:]
		marked, isLeaf := d.leaves[t.id]
		switch {
		case t.kind == closeToken:
			return nodes
		case t.kind == textToken:
			leaf(schema.Leaf{Object: schema.ObjectLeaf, Text: t.text, Marks: []schema.Mark{}})
		case isLeaf && t.kind == singleToken:
			leaf(marked)
		case isLeaf:
			marked.Text = plain(d.within())
			leaf(marked)
		case t.kind == singleToken:
			nodes = append(nodes, d.inlines[t.id])
		default:
			inline := d.inlines[t.id]
			inline.Nodes = d.nodes()
			nodes = append(nodes, inline)
		}
	}
	return nodes
}

// within returns the tokens up to the end of a pair. The pair contains no other pairs.
func (d *decoder) within() []token {
	end := slices.IndexFunc(d.tokens, func(t token) bool { return t.kind == closeToken })
	inside := d.tokens[:end]
	d.tokens = d.tokens[end+1:]
	return inside
}

// split separates the white space at both ends from a text, because translators do not preserve it.
func split(text string) (lead, core, trail string) {
	core = strings.TrimLeftFunc(text, unicode.IsSpace)
	lead = text[:len(text)-len(core)]
	trimmed := strings.TrimRightFunc(core, unicode.IsSpace)
	return lead, trimmed, core[len(trimmed):]
}
