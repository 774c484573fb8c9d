package sites

import (
	"context"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// shareLinkRows returns the operations on share links. A caller who sees share links can open the site to everybody, so
// reading links requires the same right as creating them.
func shareLinkRows(h *handlers) []frame.Operation {
	const base = "/orgs/{organizationId}/sites/{siteId}/share-links"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: base, ID: "listSiteShareLinks", Tag: "site-share-links",
			Doc:   "List the share links of a site.",
			Scope: access.Having(access.RightCreate, access.OnSite).WideningReaders(), Status: http.StatusOK,
			Handler: frame.Handle(h.listShareLinks),
		},
		{
			Method: http.MethodPost, Path: base, ID: "createSiteShareLink", Tag: "site-share-links",
			Doc:   "Make a share link with a key of its own.",
			Scope: access.Having(access.RightCreate, access.OnSite).WideningReaders(), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.createShareLink),
		},
		{
			Method: http.MethodPatch, Path: base + "/{shareLinkId}", ID: "updateSiteShareLinkById", Tag: "site-share-links",
			Doc:   "Rename a share link, or switch it off or on.",
			Scope: access.Having(access.RightCreate, access.OnSite).WideningReaders(), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.updateShareLink),
		},
		{
			Method: http.MethodDelete, Path: base + "/{shareLinkId}", ID: "deleteSiteShareLinkById", Tag: "site-share-links",
			Doc:   "Delete a share link: its key opens nothing any more.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusNoContent, Handler: frame.Handle(h.removeShareLink),
		},
	}
}

type listShareLinksRequest struct {
	schema.PageRequest
	Search *string `query:"search"`
}

func (h *handlers) listShareLinks(
	ctx context.Context, c *access.Caller, r *listShareLinksRequest,
) (schema.List[schema.ShareLink], error) {
	site := c.Site.Site
	return frame.ListPage(ctx, fmt.Sprintf("share-links %s %q", site.ID, schema.Or(r.Search, "")), r.PageRequest,
		func(after string, size int) (postgres.Page[sites.ShareLink], error) {
			return h.store.Sites.ListShareLinks(ctx, site.ID, r.Search, after, size)
		},
		h.shareLinkResource(site), func(row sites.ShareLink) string { return row.ID })
}

type createShareLinkRequest struct {
	Body struct {
		Name *string `json:"name" rules:"required,len=..50"`
	} `body:"json"`
}

func (h *handlers) createShareLink(
	ctx context.Context, c *access.Caller, r *createShareLinkRequest,
) (schema.ShareLink, error) {
	row, err := h.store.Sites.CreateShareLink(ctx, c.Site.Site.ID, *r.Body.Name)
	return h.shareLinkResource(c.Site.Site)(row), err
}

type updateShareLinkRequest struct {
	ShareLinkID string `path:"shareLinkId"`
	Body        struct {
		Active *bool   `json:"active"`
		Name   *string `json:"name" rules:"len=..50"`
	} `body:"json" rules:"some"`
}

// Widens reports whether the answer may contain the link's key. It contains no key if the request makes the link
// inactive.
func (r *updateShareLinkRequest) Widens(sites.Site) bool { return schema.Or(r.Body.Active, true) }

func (h *handlers) updateShareLink(
	ctx context.Context, c *access.Caller, r *updateShareLinkRequest,
) (schema.ShareLink, error) {
	row, err := h.store.Sites.UpdateShareLink(ctx, c.Site.Site.ID, r.ShareLinkID, sites.ShareLinkChange{
		Name: r.Body.Name, Active: r.Body.Active,
	})
	return h.shareLinkResource(c.Site.Site)(row), err
}

type shareLinkRequest struct {
	ShareLinkID string `path:"shareLinkId"`
}

func (h *handlers) removeShareLink(
	ctx context.Context, c *access.Caller, r *shareLinkRequest,
) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Sites.DeleteShareLink(ctx, c.Site.Site.ID, r.ShareLinkID)
}

// shareLinkResource returns a function that returns the API form of a share link. If the site is published and the link
// is active, the result includes the site's address with the link's key.
func (h *handlers) shareLinkResource(site sites.Site) func(sites.ShareLink) schema.ShareLink {
	return func(s sites.ShareLink) schema.ShareLink {
		link := schema.ShareLink{
			Object: "share-link", ID: s.ID, CreatedAt: s.CreatedAt.UTC(), Name: s.Name, Active: s.Active,
		}
		if site.Published && s.Active {
			link.URLs.Published = view.SharedSite(h.view.PublishedSite(site), s.Key)
		}
		return link
	}
}
