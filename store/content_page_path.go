package store

import (
	"context"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content/tree"
)

// PagePath gives the path of a page in the newest revision of a space: the slugs from the top of the tree down to the page.
func (s *Store) PagePath(ctx context.Context, spaceID, pageID string) ([]string, error) {
	stored, err := s.queries.HeadPages(ctx, spaceID)
	if err != nil {
		return nil, interpret(err, "space")
	}
	pages, err := fromJSON[[]tree.Page](stored)
	if err != nil {
		return nil, err
	}
	page, ok := tree.Find(pages, pageID)
	if !ok || page.Path == "" {
		return nil, schema.NotFound("page")
	}
	return strings.Split(page.Path, "/"), nil
}
