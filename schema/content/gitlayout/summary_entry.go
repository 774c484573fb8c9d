package gitlayout

import (
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// editedEntry returns an old line with the present title, label and destination of its page. The other parts of the
// line stay unchanged.
func editedEntry(line string, it *item, c *contents) string {
	if c.kind == itemHeading {
		return editedHeading(line, c)
	}
	dest := it.dest
	if strings.HasPrefix(c.key, keyPrefix) && !c.ownDest || it.dest == "" {
		dest = c.dest
	}
	label := it.label
	if !c.ownLabel {
		label = c.label
	}
	if c.own && dest == it.dest && label == it.label {
		return line
	}
	at := entryLine.FindStringSubmatchIndex(line)[6]
	d, err := markdown.Read(line[at:])
	if err != nil || len(d.Nodes) == 0 {
		return line[:at] + entryText(c)
	}
	link := firstLink(d.Nodes[:1])
	if link == nil || dest == "" {
		made := *c
		made.dest, made.label = dest, label
		return line[:at] + entryText(&made)
	}
	link.Data = schema.Data{"ref": map[string]any{"kind": "url", "url": dest}}
	if label != "" {
		link.Data["title"] = label
	}
	if !c.own {
		link.Nodes = []schema.Node{schema.Text(oneLine(c.title))}
	}
	text := strings.TrimRight(line[at:], " \t")
	return line[:at] + inOneLine(markdown.Edit(text, d)) + line[at+len(text):]
}

// editedHeading returns the heading line of a group with the group's present title and slug.
func editedHeading(line string, c *contents) string {
	if c.own {
		return line
	}
	made := headingOf(c.title, c.slug)
	d, err := markdown.Read(line)
	if err != nil || len(d.Nodes) != 1 {
		return made
	}
	wanted, err := markdown.Read(made)
	if err != nil || len(wanted.Nodes) != 1 {
		return made
	}
	n := &d.Nodes[0]
	n.Nodes = wanted.Nodes[0].Nodes
	if id := content.Member(n.Data, "id"); id != "" && id != c.slug || id == "" && tree.Slugify(c.title) != c.slug {
		n.Data = wanted.Nodes[0].Data
	}
	return inOneLine(markdown.Edit(line, d))
}

func inOneLine(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", " ") }

// headingOf returns the Markdown heading of a group. The heading contains the slug if the slug does not follow from the
// title.
func headingOf(title, slug string) string {
	heading := schema.Block("heading-2", schema.Text(oneLine(title)))
	if slug != "" && slug != tree.Slugify(title) {
		if data := (schema.Data{"id": slug}); schema.ValidData(heading.Type, data) {
			heading.Data = data
		}
	}
	return oneLine(markdown.Write(schema.NewDocument(heading)))
}

// entryText returns the Markdown of an entry without its bullet.
func entryText(c *contents) string {
	if c.dest == "" {
		return inlineText(c.title)
	}
	link := schema.Node{
		Object: schema.ObjectInline, Type: "link", Nodes: []schema.Node{schema.Text(oneLine(c.title))},
		Data: schema.Data{"ref": map[string]any{"kind": "url", "url": c.dest}},
	}
	if c.label != "" {
		link.Data["title"] = c.label
	}
	return oneLine(markdown.Write(schema.NewDocument(schema.Block("paragraph", link))))
}
