package content

import (
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// Section is the part of a page from a heading to the next heading.
type Section struct {
	// Anchor is the anchor of the heading.
	Anchor string
	Title  string
	// Lines has the text of the section without formatting, with one line for each block.
	Lines []string
}

// Sections cuts a document at its headings. Text before the first heading belongs to no section. A heading within
// another block does not start a section. Its text belongs to the surrounding section.
func Sections(d schema.Document) (list []Section) {
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if strings.HasPrefix(n.Type, "heading-") {
			anchor, _ := n.Meta["id"].(string)
			list = append(list, Section{Anchor: anchor, Title: InlineText(n.Nodes)})
			continue
		}
		if len(list) == 0 {
			continue
		}
		var b strings.Builder
		plainBlock(&b, n)
		if text := strings.TrimSuffix(b.String(), "\n"); text != "" {
			last := &list[len(list)-1]
			last.Lines = append(last.Lines, strings.Split(text, "\n")...)
		}
	}
	return list
}
