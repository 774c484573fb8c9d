package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// sites are the operations on sites.
type sites struct {
	store *store.Store
	urls  links
}

func siteOperations(h *sites) []Operation {
	return []Operation{
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/sites", ID: "createSite", Tag: "sites",
			Doc:   "Create a site, with the spaces it is made of.",
			Scope: having(RightCreate, onOrganization), Status: http.StatusCreated,
			BodyLimit: ResourceBodyLimit, Accepts: mediaJSON, Handler: handle(h.create),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/sites", ID: "listSites", Tag: "sites",
			Doc:   "List the sites of an organization.",
			Scope: having(RightAccess, onOrganization), Status: http.StatusOK, Handler: handle(h.list),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/sites/{siteId}", ID: "getSiteById", Tag: "sites",
			Doc: "Read a site.", Scope: having(RightAccess, onSite), Status: http.StatusOK, Handler: handle(h.get),
		},
	}
}

type createSiteRequest struct {
	Body struct {
		Type       *string  `json:"type" rules:"enum=siteType"`
		Title      *string  `json:"title" rules:"len=2..128"`
		Visibility *string  `json:"visibility" rules:"enum=siteVisibility"`
		Spaces     []string `json:"spaces" rules:"len=..1000"`
	} `body:"json,optional"`
}

func (r *createSiteRequest) Validate() []schema.Detail {
	var c checker
	for i, space := range r.Body.Spaces {
		field := fmt.Sprintf("spaces[%d]", i)
		if !schema.ValidID(space) {
			c.add(field, "names no space of this organization")
		} else if slices.Contains(r.Body.Spaces[:i], space) {
			c.add(field, "names a space twice")
		}
	}
	return c.details
}

func (h *sites) create(ctx context.Context, c *Caller, r *createSiteRequest) (schema.Site, error) {
	row, err := h.store.CreateSite(ctx, store.NewSite{
		OrganizationID: c.Organization.Organization.ID, Type: or(r.Body.Type, "basic"), Title: or(r.Body.Title, "Untitled site"),
		Visibility: or(r.Body.Visibility, "public"), Spaces: r.Body.Spaces,
	})
	if err != nil {
		return schema.Site{}, err
	}
	return h.urls.siteResource(row), nil
}

type listSitesRequest struct {
	schema.PageRequest
	Space     *string  `query:"space"`
	Title     *string  `query:"title"`
	Published *bool    `query:"published"`
	Types     []string `query:"type" each:"enum=siteType"`
}

func (h *sites) list(ctx context.Context, c *Caller, r *listSitesRequest) (schema.List[schema.Site], error) {
	organization := c.Organization.Organization.ID
	published := "any"
	if r.Published != nil {
		published = strconv.FormatBool(*r.Published)
	}
	name := fmt.Sprintf("sites %s %q %q %s %q", organization, or(r.Space, ""), or(r.Title, ""), published, r.Types)
	filter := store.SiteFilter{Space: r.Space, Title: r.Title, Published: r.Published, Types: r.Types}
	return listPage(name, r.PageRequest,
		func(after string, size int) (store.Page[store.SiteRow], error) {
			return h.store.ListSites(ctx, organization, filter, after, size)
		},
		h.urls.siteResource, func(s schema.Site) string { return s.ID })
}

func (h *sites) get(_ context.Context, c *Caller, _ *struct{}) (schema.Site, error) {
	return h.urls.siteResource(c.Site.SiteRow), nil
}

func (l links) siteResource(row store.SiteRow) schema.Site {
	s := row.Site
	return schema.Site{
		Object: "site", ID: s.ID, Type: s.Type, Title: s.Title, Visibility: s.Visibility, Published: s.Published,
		SiteSpaces: row.SiteSpaces, CreatedAt: s.CreatedAt.UTC(), AgentsContext: s.AgentsContext,
		Features: []schema.SiteFeature{}, URLs: l.site(s.OrganizationID, s.ID, s.Published),
	}
}
