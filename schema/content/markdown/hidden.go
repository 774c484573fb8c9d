package markdown

import (
	"html"
	"regexp"
	"slices"
	"strings"

	xhtml "golang.org/x/net/html"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// Readers see no tags. HTML that documents have no place for is hidden: a leaf without text keeps the source of a
// comment or a tag in a line, and a paragraph keeps the source of a block, of which it shows the text, the links
// and the images.

// hiddenLeaf is a leaf that keeps a source and shows nothing.
func hiddenLeaf(source string) schema.Leaf {
	mark := colorMark(defaultColor, defaultColor, "")
	mark.Data[memberSource] = source
	return schema.Leaf{Object: schema.ObjectLeaf, Marks: []schema.Mark{mark}}
}

// hiddenSource is the source that a leaf keeps, if it shows nothing.
func hiddenSource(leaf schema.Leaf) string {
	if leaf.Text != "" || len(leaf.Marks) != 1 || leaf.Marks[0].Type != "color" {
		return ""
	}
	return content.Clean(content.Member(leaf.Marks[0].Data, memberSource))
}

// hide adds a source that is not shown.
func (b *inlineBuilder) hide(source string) {
	if source = content.Clean(source); source != "" && !b.silent {
		b.pieces = append(b.pieces, piece{text: []byte(source), style: style{raw: true, hidden: true}})
	}
}

// htmlNames are the elements of HTML: a tag of one is never text.
var htmlNames = setOf(
	`a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink blockquote body br button
	canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed
	fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe
	img input ins kbd label legend li link main map mark marquee math menu meta meter nav nobr noscript object ol
	optgroup option output p param path picture pre progress q rect rp rt ruby s samp script search section select
	small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time
	title tr track tt u ul var video wbr`)

// blockNames are the elements whose text stands on lines of its own.
var blockNames = setOf(
	`address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure
	footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol option p pre section summary table tbody td
	tfoot th thead tr ul`)

// silentNames are the elements whose content is no text. Of players, the address is shown.
var (
	silentNames = setOf("canvas head math noscript object script select style svg template title")
	playerNames = setOf("audio embed iframe video")
)

// hidesTag reports whether a tag is not shown. A name that is none of HTML, as in <your-key> or List<String>, is text
// that the author means, unless it has an end or attributes, as components have.
func hidesTag(source string, paired bool) bool {
	m := tagStart.FindStringSubmatch(source)
	return m == nil || m[1] != "" || paired || isHTMLName(m[2]) || strings.HasSuffix(source, "/>") ||
		strings.Contains(source, "=")
}

// isHTMLName tells the names of elements from names of types, as in Option<Address> and Set<A>.
func isHTMLName(name string) bool {
	lower := strings.ToLower(name)
	return htmlNames[lower] && (name == lower || len(name) > 1 && name == strings.ToUpper(name))
}

// rawText is what a reader sees of HTML and tags: no tags that only structure the text, and no comments.
func rawText(n schema.Node) []schema.Node {
	source := content.Member(n.Data, memberSource)
	if t, ok := readTagLine([]byte(source)); ok && tagNamed(strings.TrimPrefix(t.name, "end")) != nil {
		return nil
	}
	if isAttributes(source) || isComment(source) || isComponentTag(source) || isModule(source) {
		return nil
	}
	if !strings.HasPrefix(source, "<") {
		return []schema.Node{schema.Text(source, "code")}
	}
	if lines, data, ok := preLines(source); ok {
		return shownAs(&schema.Node{Type: "code", Data: data, Nodes: lines})
	}
	if nodes, ok := parseHTML(source); ok {
		b := inlineBuilder{silent: true}
		r := &reader{}
		r.shownHTML(&b, nodes)
		b.trimBreaks()
		return b.inlines()
	}
	if tag := strings.TrimSpace(source); wholeTag.MatchString(tag) && !hidesTag(tag, false) && !isComponent(tag) {
		return []schema.Node{schema.Text(source, "code")}
	}
	if text := textOfHTML(source); text != "" {
		return []schema.Node{schema.Text(text)}
	}
	return nil
}

// shownHTML adds what a reader sees of HTML.
func (r *reader) shownHTML(b *inlineBuilder, nodes []*element) {
	for _, n := range nodes {
		switch {
		case n.name == "":
			b.htmlText(directiveLines.ReplaceAllString(n.text, ""))
		case playerNames[n.name]:
			r.player(b, n)
		case silentNames[n.name]:
		case blockNames[n.name]:
			b.lineEnd()
			r.shownHTML(b, n.nodes)
			b.lineEnd()
		case !r.element(b, r.elementIn(n)):
			r.shownHTML(b, n.nodes)
		}
	}
}

// player shows the address of what an element plays.
func (r *reader) player(b *inlineBuilder, n *element) {
	src, given := n.attrs.get("src")
	for _, child := range n.nodes {
		if !given && child.name == "source" {
			src, given = child.attrs.get("src")
		}
	}
	if ref, ok := content.Ref(src); ok && given && src != "" && !b.inLink {
		b.lineEnd()
		b.add(
			schema.Node{
				Type:  "link",
				Data:  schema.Data{"ref": ref},
				Nodes: []schema.Node{schema.Text(fileLabel(content.Link(ref)))},
			},
		)
		b.lineEnd()
	}
}

// lineEnd ends a line that has anything in it.
func (b *inlineBuilder) lineEnd() {
	b.trimSpace()
	if !b.empty() && !b.ended("\n") {
		b.text("\n")
	}
}

// trimBreaks removes white space from the end.
func (b *inlineBuilder) trimBreaks() {
	for last := len(b.pieces) - 1; last >= 0 && b.pieces[last].blank(); last-- {
		b.pieces = b.pieces[:last]
	}
	if last := len(b.pieces) - 1; last >= 0 && b.pieces[last].node == nil {
		b.pieces[last].text = []byte(strings.TrimRight(string(b.pieces[last].text), " \n"))
	}
}

// textOfHTML returns the text of HTML that is not well-formed.
func textOfHTML(source string) string {
	z := xhtml.NewTokenizer(strings.NewReader(source))
	var b strings.Builder
	silent := ""
	for {
		kind := z.Next()
		name := ""
		if kind == xhtml.StartTagToken || kind == xhtml.EndTagToken {
			tag, _ := z.TagName()
			name = string(tag)
		}
		switch {
		case kind == xhtml.ErrorToken:
			return strings.Join(strings.Fields(content.Clean(b.String())), " ")
		case silent != "":
			if kind == xhtml.EndTagToken && name == silent {
				silent = ""
			}
		case kind == xhtml.TextToken:
			b.WriteString(html.UnescapeString(string(z.Raw())))
		case kind == xhtml.StartTagToken && (name == "script" || name == "style"):
			silent = name
		case blockNames[name]:
			b.WriteByte(' ')
		}
	}
}

// addressOf matches an attribute that holds an address, with its value.
var addressOf = regexp.MustCompile(`(?i)(\s(?:href|src)\s*=\s*)("[^"]*"|'[^']*')`)

// elementTag matches a tag of HTML.
var elementTag = regexp.MustCompile(`<[A-Za-z][^<>]*>`)

// mapHTML changes the references in the source of a block of HTML.
func mapHTML(source string, change func(ref map[string]any) map[string]any) string {
	if !strings.HasPrefix(source, "<") || strings.HasPrefix(source, "<!") {
		return source
	}
	return elementTag.ReplaceAllStringFunc(source, func(tag string) string {
		return addressOf.ReplaceAllStringFunc(tag, func(attr string) string {
			parts := addressOf.FindStringSubmatch(attr)
			ref, ok := content.Ref(html.UnescapeString(parts[2][1 : len(parts[2])-1]))
			if !ok {
				return attr
			}
			changed := change(ref)
			if changed == nil {
				return attr
			}
			return parts[1] + `"` + escapeHTML.Replace(content.Link(changed)) + `"`
		})
	})
}

// LeftOut names the elements and tags of a document that are not shown as what they are: their text is shown, or
// nothing.
func LeftOut(d schema.Document) []string {
	names := map[string]bool{}
	leftOut(d.Nodes, names)
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// structural are the elements that need no mention: the text of them is all that they have.
var structural = setOf(
	`a aside br code hr img pre center div font html body head p span section article main header footer nav b i u s em
	strong small big sub sup tt tbody thead tfoot tr td th table li ul ol dl dt dd h1 h2 h3 h4 h5 h6 summary details
	figure figcaption picture source wbr nobr label`,
)

func leftOut(nodes []schema.Node, names map[string]bool) {
	for i := range nodes {
		n := &nodes[i]
		leftOutSource(keptSource(n), names)
		for _, leaf := range n.Leaves {
			if source := hiddenSource(leaf); source != "" {
				leftOutSource(source, names)
			} else if styleOf(leaf.Marks).raw {
				leftOutSource(leaf.Text, names)
			}
		}
		leftOut(n.Nodes, names)
		leftOut(n.Fragments, names)
	}
}

func leftOutSource(source string, names map[string]bool) {
	switch {
	case isAttributes(source):
		names[strings.TrimSpace(source)] = true
	case strings.HasPrefix(source, "{%"):
		if t, ok := readTagLine([]byte(source)); ok && tagNamed(strings.TrimPrefix(t.name, "end")) == nil &&
			!strings.HasPrefix(t.name, "end") {
			names["{% "+t.name+" %}"] = true
		}
	case strings.HasPrefix(source, "<"):
		for _, tag := range elementTag.FindAllString(source, -1) {
			if name := componentName.FindStringSubmatch(tag)[2]; !structural[strings.ToLower(name)] {
				names["<"+name+">"] = true
			}
		}
	}
}

// hides reports whether a text has a source that is not shown.
func hides(leaves []schema.Leaf) bool {
	return slices.ContainsFunc(leaves, func(leaf schema.Leaf) bool { return hiddenSource(leaf) != "" })
}

// shownNothing reports whether a line has nothing but what is hidden, and has that.
func (b *inlineBuilder) shownNothing() bool {
	return len(b.pieces) > 0 && !slices.ContainsFunc(b.pieces, func(p piece) bool { return !p.hidden && !p.blank() })
}

// tag adds a tag of GitBook within a line. A known tag is hidden, because it has no meaning there. Others are shown as
// text.
func (b *inlineBuilder) tag(source string) {
	if t, ok := readTagLine([]byte(source)); ok && tagNamed(strings.TrimPrefix(t.name, "end")) != nil {
		b.hide(source)
		return
	}
	b.source(source)
}
