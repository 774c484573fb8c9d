package content

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// searches has the operations that search for pages by words.
type searches struct {
	store *store.Store
	view  view.Presenter
}

func searchOperations(h *searches) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}/search", ID: "searchSpaceContent", Tag: "search",
			Doc:   "Find pages of a space's current content by their words, the best match first.",
			Scope: access.Having(access.RightAccess, access.OnSpace).OrReaders().OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.space),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/search", ID: "searchOrganizationContent", Tag: "search",
			Doc:   "Find pages of the spaces of an organization that the caller may see by their words, with the best pages of each space.",
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.organization),
		},
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/sites/{siteId}/search", ID: "searchSiteContent", Tag: "search",
			Doc:   "Find pages of the spaces of a site that the caller may see by their words, with the best pages of each space.",
			Scope: access.Having(access.RightAccess, access.OnSite).OrReaders(), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.site),
		},
	}
}

type searchRequest struct {
	schema.PageRequest
	Query *string `query:"query" rules:"required,len=..512"`
}

func (h *searches) space(ctx context.Context, c *access.Caller, r *searchRequest) (schema.List[schema.SearchPageResult], error) {
	space := c.Space.Space.ID
	return frame.ListKeyed(ctx, fmt.Sprintf("search %s %q", space, *r.Query), r.PageRequest, 3,
		func(after []string, size int) (postgres.Page[store.FoundPage], error) {
			position, err := postgres.ParseCursor[float32](after)
			if err != nil {
				return postgres.Page[store.FoundPage]{}, err
			}
			before := int64(0)
			if after != nil {
				if before, err = strconv.ParseInt(after[2], 10, 32); err != nil || before < 0 {
					return postgres.Page[store.FoundPage]{}, schema.Invalid("page", "is not a page of this list")
				}
			}
			found, err := h.store.SearchSpace(ctx, sight(c), space, *r.Query, position, size)
			for i := range found.Rows {
				found.Rows[i].Number = before + int64(i) + 1
			}
			return found, err
		},
		func(p store.FoundPage) schema.SearchPageResult { return h.view.FoundPage(space, p) },
		func(p store.FoundPage) []string {
			return append(postgres.Cursor[float32]{Key: p.Rank, ID: p.PageID}.Keys(), strconv.FormatInt(p.Number, 10))
		})
}

func (h *searches) organization(ctx context.Context, c *access.Caller, r *searchRequest) (schema.List[schema.SearchSpaceResult], error) {
	organization := c.Organization.Organization.ID
	return h.spaces(ctx, fmt.Sprintf("search organization %s %q", organization, *r.Query), r.PageRequest,
		func(after *postgres.Cursor[float32], size int) (postgres.Page[store.FoundSpace], error) {
			return h.store.SearchOrganization(ctx, c.Viewer(), organization, *r.Query, after, size)
		})
}

// spaces returns a list of the spaces in which a search has found pages.
func (h *searches) spaces(
	ctx context.Context, name string, page schema.PageRequest,
	search func(after *postgres.Cursor[float32], size int) (postgres.Page[store.FoundSpace], error),
) (schema.List[schema.SearchSpaceResult], error) {
	return frame.ListKeyed(ctx, name, page, 2,
		func(after []string, size int) (postgres.Page[store.FoundSpace], error) {
			position, err := postgres.ParseCursor[float32](after)
			if err != nil {
				return postgres.Page[store.FoundSpace]{}, err
			}
			return search(position, size)
		},
		h.view.FoundSpace,
		func(s store.FoundSpace) []string {
			return postgres.Cursor[float32]{Key: s.Best, ID: s.SpaceID}.Keys()
		})
}

// These are the values of `mode` in a search of a site. With `default`, the search covers the site spaces that a
// visitor sees first. In the section with the current site space, it covers only this site space. `current` is the
// older name of `default`, and requires the current site space. With `specific`, the search covers the named site
// spaces. With `all`, it covers every site space.
const (
	searchDefault  = "default"
	searchCurrent  = "current"
	searchSpecific = "specific"
	searchAll      = "all"
)

// These are the values of `restrictTo`. They select from the site spaces that the mode `default` covers: either the
// current site space, or all other site spaces.
const (
	searchCurrentOnly = "currentSiteSpace"
	searchOthers      = "otherSiteSpaces"
)

// searchSiteRequest has the members of both forms of the body. The newer form has a scope, and the older form has no
// scope.
type searchSiteRequest struct {
	schema.PageRequest
	Body struct {
		Query        *string          `json:"query" rules:"required,len=..512"`
		Scope        *searchSiteScope `json:"scope"`
		Mode         *string          `json:"mode" rules:"enum=searchMode"`
		SiteSpaceID  *string          `json:"siteSpaceId"`
		SiteSpaceIDs []string         `json:"siteSpaceIds" rules:"len=..1000"`
	} `body:"json"`
}

type searchSiteScope struct {
	Mode             *string  `json:"mode" rules:"required,enum=searchScopeMode"`
	CurrentSiteSpace *string  `json:"currentSiteSpace"`
	RestrictTo       *string  `json:"restrictTo" rules:"enum=searchRestriction"`
	SiteSpaceIDs     []string `json:"siteSpaceIds" rules:"len=..1000"`
}

// Validate checks that the request names the site spaces that its mode requires.
func (r *searchSiteRequest) Validate() []schema.Detail {
	var c rules.Checker
	switch b := r.Body; {
	case b.Scope != nil:
		if *b.Scope.Mode == searchSpecific && b.Scope.SiteSpaceIDs == nil {
			c.Add("scope.siteSpaceIds", "is required for the mode "+searchSpecific)
		}
		if b.Scope.RestrictTo != nil && *b.Scope.Mode != searchDefault {
			c.Add("scope.restrictTo", "goes with the mode "+searchDefault+" only")
		} else if b.Scope.RestrictTo != nil && b.Scope.CurrentSiteSpace == nil {
			c.Add("scope.currentSiteSpace", "is required with restrictTo")
		}
	case schema.Or(b.Mode, "") == searchSpecific && b.SiteSpaceIDs == nil:
		c.Add("siteSpaceIds", "is required for the mode "+searchSpecific)
	case schema.Or(b.Mode, "") == searchCurrent && b.SiteSpaceID == nil:
		c.Add("siteSpaceId", "is required for the mode "+searchCurrent)
	}
	return c.Details
}

// in returns the spaces that the search covers.
func (r *searchSiteRequest) in(organization, site string) store.SiteSearch {
	in := store.SiteSearch{OrganizationID: organization, SiteID: site}
	b := r.Body
	switch {
	case b.Scope != nil && *b.Scope.Mode == searchDefault:
		in.Defaults, in.Current = true, b.Scope.CurrentSiteSpace
		switch schema.Or(b.Scope.RestrictTo, "") {
		case searchCurrentOnly:
			in.SiteSpaces = []string{*in.Current}
		case searchOthers:
			in.Without = in.Current
		}
	case b.Scope != nil && *b.Scope.Mode == searchSpecific:
		in.SiteSpaces = b.Scope.SiteSpaceIDs
	case b.Scope != nil:
	case schema.Or(b.Mode, "") == searchCurrent:
		in.Defaults, in.Current = true, b.SiteSpaceID
	case schema.Or(b.Mode, "") == searchSpecific || b.Mode == nil && b.SiteSpaceIDs != nil:
		in.SiteSpaces = b.SiteSpaceIDs
	}
	return in
}

// current checks the current site space of a search. The site must have it, and the caller must be allowed to see it.
func (h *searches) current(ctx context.Context, c *access.Caller, r *searchSiteRequest, id string) error {
	known := c.Reader != nil && c.Reader.SeesSiteSpace(id)
	if c.Reader == nil {
		_, err := h.store.Sites.SiteSpace(ctx, c.Site.Site.ID, id)
		if known = err == nil; err != nil && !schema.IsCode(err, schema.CodeNotFound) {
			return err
		}
	}
	switch {
	case known:
		return nil
	case r.Body.Scope != nil:
		return schema.Invalid("scope.currentSiteSpace", "is no site space of this site")
	}
	return schema.Invalid("siteSpaceId", "is no site space of this site")
}

func (h *searches) site(ctx context.Context, c *access.Caller, r *searchSiteRequest) (schema.List[schema.SearchSpaceResult], error) {
	in := r.in(c.Site.Site.OrganizationID, c.Site.Site.ID)
	if in.Current != nil {
		if err := h.current(ctx, c, r, *in.Current); err != nil {
			return schema.List[schema.SearchSpaceResult]{}, err
		}
	}
	name := fmt.Sprintf("search site %s %q %q %t %q %q", in.SiteID, *r.Body.Query, in.SiteSpaces, in.Defaults,
		schema.Or(in.Current, ""), schema.Or(in.Without, ""))
	viewer := postgres.Viewer{UserID: c.Principal.UserID, Role: c.Site.Role}
	in.By = sight(c)
	if c.Reader != nil {
		in.Shown = c.Reader.SiteSpaces()
	}
	found := func(after *postgres.Cursor[float32], size int) (postgres.Page[store.FoundSpace], error) {
		return h.store.SearchSite(ctx, viewer, in, *r.Body.Query, after, size)
	}
	return h.spaces(ctx, name, r.PageRequest, found)
}
