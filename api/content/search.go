package content

import (
	"context"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// searches has the operations that search pages by their words.
type searches struct {
	store *store.Store
	view  view.Presenter
}

func searchOperations(h *searches) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}/search", ID: "searchSpaceContent", Tag: "search",
			Doc:   "Find pages of a space's current content by their words, the best match first.",
			Scope: access.Having(access.RightAccess, access.OnSpace), Status: http.StatusOK, Handler: frame.Handle(h.space),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/search", ID: "searchOrganizationContent", Tag: "search",
			Doc:   "Find pages of the spaces of an organization that the caller may see by their words, with the best pages of each space.",
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.organization),
		},
	}
}

type searchRequest struct {
	schema.PageRequest
	Query *string `query:"query" rules:"required,len=..512"`
}

func (h *searches) space(ctx context.Context, c *access.Caller, r *searchRequest) (schema.List[schema.SearchPageResult], error) {
	space := c.Space.Space.ID
	return frame.ListKeyed(ctx, fmt.Sprintf("search %s %q", space, *r.Query), r.PageRequest, 2,
		func(after []string, size int) (store.Page[store.FoundPage], error) {
			position, err := store.ParseCursor[float32](after)
			if err != nil {
				return store.Page[store.FoundPage]{}, err
			}
			return h.store.SearchSpace(ctx, space, *r.Query, position, size)
		},
		func(p store.FoundPage) schema.SearchPageResult { return h.view.FoundPage(space, p) },
		func(p store.FoundPage) []string {
			return store.Cursor[float32]{Key: p.Rank, ID: p.PageID}.Keys()
		})
}

func (h *searches) organization(ctx context.Context, c *access.Caller, r *searchRequest) (schema.List[schema.SearchSpaceResult], error) {
	organization := c.Organization.Organization.ID
	return frame.ListKeyed(ctx, fmt.Sprintf("search organization %s %q", organization, *r.Query), r.PageRequest, 2,
		func(after []string, size int) (store.Page[store.FoundSpace], error) {
			position, err := store.ParseCursor[float32](after)
			if err != nil {
				return store.Page[store.FoundSpace]{}, err
			}
			return h.store.SearchOrganization(ctx, c.Viewer(), organization, *r.Query, position, size)
		},
		func(s store.FoundSpace) schema.SearchSpaceResult {
			result := schema.SearchSpaceResult{ID: s.SpaceID, Title: s.Title, Pages: make([]schema.SearchPageResult, len(s.Pages))}
			for i, page := range s.Pages {
				result.Pages[i] = h.view.FoundPage(s.SpaceID, page)
			}
			return result
		},
		func(s store.FoundSpace) []string {
			return store.Cursor[float32]{Key: s.Best, ID: s.SpaceID}.Keys()
		})
}
