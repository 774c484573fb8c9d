package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/merge"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// GitConflict is the error of an import if people have changed the same parts of pages in the space. The import becomes
// a change request, in which people resolve the conflicts: see [GitImport.Conflicts]. Text names the pages and their
// conflicts.
type GitConflict struct{ Text string }

func (c *GitConflict) Error() string { return c.Text }

const (
	// namedConflicts is the largest number of conflicts that the text of an error names.
	namedConflicts = 10
	// longestExcerpt is the largest number of characters that the text of an error quotes from a paragraph.
	longestExcerpt = 60
)

// gitConflicts returns a text about conflicts. `who` names the people whose changes conflict with the repository.
func gitConflicts(who string, open []merge.Conflict, pages ...[]tree.Node) string {
	titles := map[string]string{}
	for _, list := range pages {
		for _, n := range list {
			titles[n.ID] = n.Title
		}
	}
	var named []string
	for _, c := range open {
		ids := c.Pages
		if c.Page != "" {
			ids = []string{c.Page}
		}
		for _, id := range ids {
			named = append(named, fmt.Sprintf("%q (%s)", titles[id], inConflict(c)))
		}
	}
	named = slices.Compact(slices.Sorted(slices.Values(named)))
	more := ""
	if n := len(named) - namedConflicts; n > 0 {
		named, more = named[:namedConflicts], fmt.Sprintf(" and %d more", n)
	}
	return who + " and the repository both changed the same things of the pages " + strings.Join(named, ", ") + more
}

// inConflict describes the part of a page that is in conflict: a field of the page, or a paragraph.
func inConflict(c merge.Conflict) string {
	switch {
	case c.Kind == merge.KindDelete && c.Block == "":
		return "deleted on one side, changed on the other"
	case c.Field == merge.FieldDocument && c.Block == "":
		return "the whole text"
	case c.Field == merge.FieldDocument:
		for _, version := range []any{c.Theirs, c.Ours, c.Base} {
			if text := quoted(version); text != "" {
				return fmt.Sprintf("the text %q", text)
			}
		}
		return "the block " + c.Block
	case c.Field == "":
		return c.Kind
	}
	return "its " + c.Field
}

func quoted(version any) string {
	var text string
	switch v := version.(type) {
	case schema.Document:
		text = content.Plain(v)
	case schema.Node:
		text = content.Plain(schema.NewDocument(v))
	case *schema.Node:
		if v != nil {
			text = content.Plain(schema.NewDocument(*v))
		}
	case string:
		text = v
	}
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > longestExcerpt {
		return string(runes[:longestExcerpt]) + "…"
	}
	return string(runes)
}
