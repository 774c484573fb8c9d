package book_test

import (
	"fmt"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/includes"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

// groups returns pages, and some of them are groups: pages without a text, which are headings in the table of contents.
// Groups are on the first level and below, next to each other, without pages of their own, and at the end.
func groups() []page {
	text := strings.Repeat("Words of a page in a group. ", 90)
	pages := []page{{"First group", 0, ""}, {"Empty group", 0, ""}}
	for i := range 5 {
		pages = append(pages,
			page{fmt.Sprintf("Group %d (its pages)", i), 0, ""},
			page{"In it", 1, text + fmt.Sprintf("[group](ref:page/p%d) [last](ref:page/p22)", len(pages))},
			page{"Group below", 1, ""},
			page{"Deeper", 2, text + "[first](ref:page/p0) [own](ref:anchor/own?page=p2)\n\n## Own <a href=\"#own\" id=\"own\"></a>\n"})
	}
	return append(pages, page{"Last group", 0, ""})
}

// reusing returns pages that include the same reusable contents, so several parts have the same headings, notes, tables
// and links. A reusable content that is missing is shown as a card.
func reusing() []page {
	var pages []page
	for i := range 8 {
		long := strings.Repeat("Words before the content. ", 40)
		pages = append(pages, page{fmt.Sprintf("Page %d", i), i % 2 * (i % 3), long + "\n\n{% include \"ref:reusable-content/notice\" %}\n\n" +
			fmt.Sprintf("[its heading](ref:anchor/gap?page=p%d)\n\n", (i+3)%8) +
			"{% include \"ref:reusable-content/table\" %}\n\n{% include \"ref:reusable-content/none\" %}\n\n" +
			"{% include \"ref:reusable-content/notice\" %}\n"})
	}
	return pages
}

var contents = map[string]string{
	"notice": "## Mind the gap <a href=\"#gap\" id=\"gap\"></a>\n\nA word[^1], $$x_1$$ and [the start](ref:page/p0).\n\n" +
		"[^1]: A note of the content.\n",
	"table": "| a | b |\n| - | - |\n| 1 | [own](ref:anchor/gap?page=p5) |\n\n```go\nfunc main() {}\n```\n",
}

// expanded replaces each block that includes a reusable content by the content's blocks.
func expanded(d schema.Document) schema.Document {
	d.Nodes = includes.Replace(d.Nodes, func(id string) ([]schema.Node, bool) {
		text, ok := contents[id]
		read, err := markdown.Read(text)
		return read.Nodes, ok && err == nil
	})
	return d
}
