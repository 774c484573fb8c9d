package store

import (
	"context"
	"encoding/json"

	"github.com/octavo-docs/octavo/schema"
)

// pathNode is what the path of a page takes from the tree of a revision.
type pathNode struct {
	ID    string     `json:"id"`
	Slug  string     `json:"slug"`
	Pages []pathNode `json:"pages"`
}

// PagePath gives the path of a page in the newest revision of a space: the slugs from the top of the tree down to the page.
func (s *Store) PagePath(ctx context.Context, spaceID, pageID string) ([]string, error) {
	tree, err := s.queries.HeadPages(ctx, spaceID)
	if err != nil {
		return nil, interpret(err, "space")
	}
	var pages []pathNode
	if err := json.Unmarshal(tree, &pages); err != nil {
		return nil, schema.Internal(err)
	}
	path, ok := findPath(pages, pageID)
	if !ok {
		return nil, schema.NotFound("page")
	}
	return path, nil
}

func findPath(pages []pathNode, id string) ([]string, bool) {
	for _, page := range pages {
		if page.ID == id && page.Slug != "" {
			return []string{page.Slug}, true
		}
		if path, ok := findPath(page.Pages, id); ok {
			return append([]string{page.Slug}, path...), true
		}
	}
	return nil, false
}
