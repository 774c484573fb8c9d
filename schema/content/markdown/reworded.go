package markdown

import (
	"maps"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/respell"
)

// reworded returns the source of a paragraph whose text was edited. Before the edit, the paragraph showed the text of
// this source. In the result, the new words replace the old words. The second result is false if the new source would
// be read as a different paragraph. The caller then writes the text without the source.
func reworded(n *schema.Node, parent string) (string, bool) {
	source := keptSource(n)
	if source == "" || strings.TrimSpace(content.InlineText(n.Nodes)) == "" {
		return "", false
	}
	old, ok := keptAs(source, parent)
	if !ok {
		return "", false
	}
	spell := func(n *schema.Node) string { return (writer{}).inline(n.Nodes, inParagraph) }
	if strings.HasPrefix(source, "<") {
		spell = func(n *schema.Node) string { return textEscapes.Replace(content.InlineText(n.Nodes)) }
	}
	edited := respell.Words(source, spell(old), spell(n))
	made, ok := keptAs(edited, parent)
	if !ok {
		return "", false
	}
	want := *n
	want.Meta = maps.Clone(n.Meta)
	want.Meta[memberMarkdown] = keptSource(made)
	return edited, keptSource(made) != "" && sameNode(made, &want)
}

// textEscapes escapes text that stands between tags: the characters that would begin a tag or a character reference.
var textEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;")
