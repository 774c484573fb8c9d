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

// rawText returns the text that a reader sees of HTML and tags. The text does not contain comments, nor tags that only
// structure the text.
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
	b := inlineBuilder{silent: true}
	b.looseHTML(source)
	return b.inlines()
}

// shownHTML adds the visible content of HTML.
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

// player adds a link to the source of an element such as <audio> or <video>.
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

// looseHTML adds the text of HTML that is not well-formed.
func (b *inlineBuilder) looseHTML(source string) {
	z := xhtml.NewTokenizer(strings.NewReader(source))
	var text strings.Builder
	silent, codes := "", 0
	flush := func() {
		shown := collapse(directiveLines.ReplaceAllString(text.String(), ""))
		text.Reset()
		if b.ended(" ") {
			shown = strings.TrimLeft(shown, " ")
		}
		b.marks = 0
		if codes > 0 {
			b.marks = content.Code
		}
		b.htmlText(shown)
	}
	for {
		kind := z.Next()
		name := ""
		if kind == xhtml.StartTagToken || kind == xhtml.EndTagToken {
			tag, _ := z.TagName()
			name = string(tag)
		}
		switch {
		case kind == xhtml.ErrorToken:
			flush()
			b.trimBreaks()
			return
		case silent != "":
			if kind == xhtml.EndTagToken && name == silent {
				silent = ""
			}
		case kind == xhtml.TextToken:
			text.Write(z.Raw())
		case kind == xhtml.StartTagToken && (name == "script" || name == "style"):
			silent = name
		case name == "code" && kind == xhtml.StartTagToken:
			flush()
			codes++
		case name == "code":
			flush()
			codes = max(codes-1, 0)
		case blockNames[name]:
			text.WriteByte(' ')
		}
	}
}

// shownAs returns the inlines that show a block's content in a place where the block is not allowed.
func shownAs(n *schema.Node) []schema.Node {
	var b inlineBuilder
	switch n.Type {
	case "images":
		for i := range n.Nodes {
			data := schema.Data{}
			for _, member := range []string{"ref", "refDark", "alt"} {
				if value, ok := n.Nodes[i].Data[member]; ok {
					data[member] = value
				}
			}
			if caption := captionOf(&n.Nodes[i]); caption != "" {
				data["caption"] = caption
			}
			b.add(schema.Node{Type: "inline-image", Data: data})
		}
	case "drawing":
		if refKind(n.Data["ref"]) != "" {
			data := schema.Data{"ref": n.Data["ref"]}
			if alt := content.Member(n.Data, "alt"); alt != "" {
				data["alt"] = alt
			}
			b.add(schema.Node{Type: "inline-image", Data: data})
		}
	case "math":
		b.add(schema.Node{Type: "inline-math", Data: schema.Data{"formula": content.Member(n.Data, "formula")}})
	case "content-ref":
		label := []schema.Node{schema.Text(content.Label(n))}
		b.add(schema.Node{Type: "link", Data: schema.Data{"ref": n.Data["ref"]}, Nodes: label})
	case "code":
		for i := range n.Nodes {
			if i > 0 {
				b.text("\n")
			}
			b.marks = content.Code
			b.text(content.InlineText(n.Nodes[i].Nodes))
			b.marks = 0
		}
	case "table":
		for _, row := range content.TableOf(n).Rows() {
			if line := strings.TrimSpace(strings.Join(row, " | ")); line != "" {
				if !b.empty() {
					b.text("\n")
				}
				b.text(line)
			}
		}
	default:
		b.text(strings.TrimSpace(content.Plain(schema.Document{Nodes: []schema.Node{*n}})))
	}
	return b.inlines()
}

// addressOf matches an attribute with an address, and its value.
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

// LeftOut returns the names of a document's elements and tags that are not shown with their meaning. Readers see only
// their text, or nothing.
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

// structural has the elements that LeftOut does not list. For these elements, showing only their text is enough.
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
	case strings.HasPrefix(source, "{{") && shortcodeLength([]byte(source)) == len(source):
		if name := strings.Fields(strings.Trim(source, "{<%>} "))[0]; name[0] != '/' {
			names[source[:3]+" "+strings.TrimRight(name, "/")+" "+source[len(source)-3:]] = true
		}
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
