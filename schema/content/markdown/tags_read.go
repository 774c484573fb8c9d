package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// tagBlock reads a tag with its content. If the grammar has no node for the tag, the first block of the result stores
// the tag's source, and the content follows.
func (r *reader) tagBlock(block ast.Node) []schema.Node {
	t := block.(*tagNode)
	children := r.blocks(t)
	if t.row != nil && (t.terminated || t.row.form == formAlone) {
		if n, ok := t.row.node(t.tag); ok && t.row.fill(&n, children) {
			return []schema.Node{n}
		}
	}
	first := rawBlock(t.open)
	// A tag without an end tag has no content, so the blocks after it become its siblings.
	if t.row != nil && t.row.form == formCaption && !t.terminated {
		if n, ok := t.row.node(t.tag); ok {
			first = n
		}
	}
	nodes := append([]schema.Node{first}, children...)
	if t.end != "" {
		nodes = append(nodes, rawBlock(t.end))
	}
	return nodes
}

// fill sets the node's content. It returns false if the row's form does not allow this content.
func (row *tagRow) fill(n *schema.Node, children []schema.Node) bool {
	switch row.form {
	case formContainer:
		if n.Nodes = children; partKinds[n.Type] == "" {
			n.Nodes = filled(children)
		}
		return true
	case formCode:
		if len(children) != 1 || children[0].Type != "code" {
			return false
		}
		for name, value := range children[0].Data {
			if _, given := n.Data[name]; !given {
				n.Data[name] = value
			}
		}
		n.Nodes = children[0].Nodes
		return true
	case formCaption, formLink:
		if len(children) == 0 {
			return row.form == formCaption
		}
		if len(children) > 1 || children[0].Type != "paragraph" || attributed(&children[0]) {
			return false
		}
		text := inlineMarkdown(children[0].Nodes, inParagraph)
		if row.form == formLink {
			if text == row.link(n) {
				return true
			}
			if line := children[0].Nodes; len(line) == 1 && line[0].Type == "link" && sameData(line[0].Data, schema.Data{"ref": n.Data["ref"]}) {
				if n.Data[memberLabel] = inlineMarkdown(line[0].Nodes, inParagraph); row.link(n) == text {
					if row.kind == "content-ref" && content.ByID(content.Link(n.Data["ref"])) {
						delete(n.Data, memberLabel)
					}
					return true
				}
				delete(n.Data, memberLabel)
			}
			n.Data[memberBody] = text
			return true
		}
		n.Data[memberCaption] = text
		return true
	case formAlone:
	}
	return len(children) == 0
}

// link returns the link that GitBook writes between a tag with a target and its end tag.
func (row *tagRow) link(n *schema.Node) string {
	label := content.Link(n.Data["ref"])
	switch row.kind {
	case "content-ref":
		label = refLabel(n.Data["ref"])
	case "swagger":
	default:
		label = "OpenAPI " + content.Member(stringMap(n.Data["ref"]), "spec")
	}
	if text, given := n.Data[memberLabel].(string); given {
		if nodes := newReader("[" + content.Clean(text) + "](/)").ideal(); len(nodes) == 1 && len(nodes[0].Nodes) == 1 && nodes[0].Nodes[0].Type == "link" {
			link := nodes[0].Nodes[0]
			link.Data = schema.Data{"ref": n.Data["ref"]}
			return inlineMarkdown([]schema.Node{link}, inParagraph)
		}
	}
	return inlineMarkdown([]schema.Node{{Type: "link", Data: schema.Data{"ref": n.Data["ref"]}, Nodes: []schema.Node{schema.Text(label)}}}, inParagraph)
}

// tagged writes a node as a tag with its content.
func (w writer) tagged(n *schema.Node) string {
	row := tagOf(n)
	open := tagText(row.name, row.attributes(n))
	body := ""
	switch row.form {
	case formAlone:
		return open
	case formCaption:
		if body = inlineOnly(content.Member(n.Data, memberCaption)); body == "" {
			return open
		}
	case formLink:
		if body = inlineOnly(content.Member(n.Data, memberBody)); body == "" && refKind(n.Data["ref"]) != "" {
			body = row.link(n)
		}
	case formCode:
		return w.code(n)
	case formContainer:
		body = w.inside(n.Type).blocks(n.Nodes)
	}
	if body != "" {
		body += "\n"
	}
	return open + "\n" + body + tagText("end"+row.name, nil)
}

// inlineOnly returns Markdown that is read as one paragraph. If the given Markdown is one paragraph, the result has the
// form that Write gives it. Otherwise the result is the given text, escaped.
func inlineOnly(markdown string) string {
	if strings.TrimSpace(markdown) == "" {
		return ""
	}
	r := newReader(markdown)
	nodes := r.ideal()
	if len(nodes) == 1 && nodes[0].Type == "paragraph" && !attributed(&nodes[0]) {
		return inlineMarkdown(nodes[0].Nodes, inParagraph)
	}
	return escaped(markdown)
}

// details reads an element <details>. Its first block is <summary>.
func (r *reader) details(block ast.Node) []schema.Node {
	d := block.(*detailsNode)
	children := r.blocks(d)
	title, source := []schema.Node(nil), d.title
	if source != "" {
		title, _ = r.summary(source)
	} else if d.terminated && len(children) > 0 && children[0].Type == kindRaw {
		source = content.Member(children[0].Data, memberSource)
		if title, _ = r.summary(source); title != nil {
			children = children[1:]
		}
	}
	tags, ok := parseHTML(d.open + "</details>")
	if title == nil || !ok || len(tags) != 1 || !d.terminated {
		nodes := []schema.Node{rawBlock(d.open)}
		if d.title != "" {
			nodes = append(nodes, rawBlock(d.title))
		}
		nodes = append(nodes, children...)
		if d.terminated {
			nodes = append(nodes, rawBlock("</details>"))
		}
		return nodes
	}
	others := map[string]any{}
	for _, a := range tags[0].attrs {
		if others[a.name] = any(a.value); a.flag {
			others[a.name] = true
		}
	}
	heading := schema.Node{Object: schema.ObjectFragment, Fragment: fragmentTitle, Type: fragmentTitle,
		Nodes: []schema.Node{schema.Block("paragraph", title...)}}
	if len(others) > 0 {
		heading.Meta = schema.Data{memberAttributes: others}
	}
	return []schema.Node{{Type: "expandable", Data: schema.Data{}, Fragments: []schema.Node{heading,
		{Object: schema.ObjectFragment, Fragment: fragmentBody, Type: fragmentBody, Nodes: filled(children)}}}}
}

// summary reads <summary>, the title of an expandable block. The second result is false if the source is not a
// <summary>.
func (r *reader) summary(source string) ([]schema.Node, bool) {
	nodes, ok := parseHTML(strings.TrimSpace(source))
	if !ok || len(nodes) != 1 || nodes[0].name != "summary" || len(nodes[0].attrs) > 0 {
		return nil, false
	}
	return r.htmlInlines(nodes[0].nodes), true
}

// expandable writes <details>.
func (w writer) expandable(n *schema.Node) string {
	open, summary, body := detailsParts(n)
	parts := []string{open, summary, w.inside(fragmentBody).blocks(body), "</details>"}
	return paragraphs(parts...)
}
