package sites

import (
	"context"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/section"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

func siteRedirectRows(h *handlers) []frame.Operation {
	const base = "/orgs/{organizationId}/sites/{siteId}/redirects"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: base, ID: "listSiteRedirects", Tag: "site-redirects",
			Doc:   "List the redirects of a site.",
			Scope: access.Having(access.RightAccess, access.OnSite).OrInstallation(schema.ScopeSiteMetadataRead), Status: http.StatusOK, Handler: frame.Handle(h.listRedirects),
		},
		{
			Method: http.MethodPost, Path: base, ID: "createSiteRedirect", Tag: "site-redirects",
			Doc: "Make a path of a site lead to a section, a site space, a page or another address. A draft " +
				"leads nowhere " +
				"until draft is false.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.createRedirect),
		},
		{
			Method: http.MethodPatch, Path: base + "/{siteRedirectId}", ID: "updateSiteRedirectById", Tag: "site-redirects",
			Doc: "Change a redirect.", Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.updateRedirect),
		},
		{
			Method: http.MethodDelete, Path: base + "/{siteRedirectId}", ID: "deleteSiteRedirectById", Tag: "site-redirects",
			Doc: "Delete a redirect.", Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusNoContent, Handler: frame.Handle(h.removeRedirect),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/sites/{siteId}/redirect", ID: "getSiteRedirectBySource", Tag: "site-redirects",
			Doc:   "Find the redirect of a path, and where it leads to now.",
			Scope: access.Having(access.RightAccess, access.OnSite).OrReaders().OrInstallation(schema.ScopeSiteMetadataRead), Status: http.StatusOK, Handler: frame.Handle(h.findRedirect),
		},
	}
}

type listRedirectsRequest struct {
	schema.PageRequest
	Search *string `query:"search"`
}

func (h *handlers) listRedirects(
	ctx context.Context, c *access.Caller, r *listRedirectsRequest,
) (schema.List[schema.SiteRedirect], error) {
	site := c.Site.Site
	return frame.ListPage(ctx, fmt.Sprintf("redirects %s %q", site.ID, schema.Or(r.Search, "")), r.PageRequest,
		func(after string, size int) (postgres.Page[sites.Redirect], error) {
			return h.store.Sites.ListRedirects(ctx, site.ID, r.Search, after, size)
		},
		redirectResource, func(row sites.Redirect) string { return row.ID })
}

// redirectDestination has the members of every kind of destination. The kind decides which of them are used.
type redirectDestination struct {
	Kind          *string `json:"kind" rules:"required,enum=redirectKind"`
	SiteSectionID *string `json:"siteSectionId"`
	SiteSpaceID   *string `json:"siteSpaceId"`
	PageID        *string `json:"pageId"`
	URL           *string `json:"url" rules:"len=..2048,pattern=uri"`
}

// problems returns an error for each missing member that the destination's kind requires.
func (d *redirectDestination) problems() []schema.Detail {
	var c rules.Checker
	need := func(name string, value *string) {
		if value == nil {
			c.Add("destination."+name, "is required")
		}
	}
	switch *d.Kind {
	case schema.RedirectToSection:
		need("siteSectionId", d.SiteSectionID)
	case schema.RedirectToSpace:
		need("siteSpaceId", d.SiteSpaceID)
	case schema.RedirectToPage:
		need("siteSpaceId", d.SiteSpaceID)
		need("pageId", d.PageID)
	case schema.RedirectToExternal:
		need("url", d.URL)
	}
	return c.Details
}

// resource returns the destination with only the members that its kind uses.
func (d *redirectDestination) resource() schema.SiteRedirectDestination {
	to := schema.SiteRedirectDestination{Kind: *d.Kind}
	switch *d.Kind {
	case schema.RedirectToSection:
		to.SiteSectionID = sectionOrNone(d.SiteSectionID)
	case schema.RedirectToSpace:
		to.SiteSpaceID = d.SiteSpaceID
	case schema.RedirectToPage:
		to.SiteSpaceID, to.PageID = d.SiteSpaceID, d.PageID
	case schema.RedirectToExternal:
		to.URL = d.URL
	}
	return to
}

type createRedirectRequest struct {
	Body struct {
		Source      *string              `json:"source" rules:"required,len=..512,pattern=redirectSource"`
		Destination *redirectDestination `json:"destination" rules:"required"`
		Draft       *bool                `json:"draft" rules:"default=false"`
		Wildcard    *rules.Unoffered     `json:"captureWildcard"`
	} `body:"json"`
}

func (r *createRedirectRequest) Validate() []schema.Detail { return r.Body.Destination.problems() }

func (h *handlers) createRedirect(
	ctx context.Context, c *access.Caller, r *createRedirectRequest,
) (schema.SiteRedirect, error) {
	to := r.Body.Destination.resource()
	if err := h.mustLeadSomewhere(ctx, c, to); err != nil {
		return schema.SiteRedirect{}, err
	}
	row, err := h.store.Sites.CreateRedirect(ctx, c.Site.Site.ID, sites.NewRedirect{
		Source: *r.Body.Source, Destination: to, Draft: schema.Or(r.Body.Draft, false),
	})
	return redirectResource(row), err
}

type updateRedirectRequest struct {
	RedirectID string `path:"siteRedirectId"`
	Body       struct {
		Source      *string              `json:"source" rules:"len=..512,pattern=redirectSource"`
		Destination *redirectDestination `json:"destination"`
		Draft       *bool                `json:"draft"`
		Wildcard    *rules.Unoffered     `json:"captureWildcard"`
	} `body:"json"`
}

func (r *updateRedirectRequest) Validate() []schema.Detail {
	if r.Body.Destination == nil {
		return nil
	}
	return r.Body.Destination.problems()
}

func (h *handlers) updateRedirect(
	ctx context.Context, c *access.Caller, r *updateRedirectRequest,
) (schema.SiteRedirect, error) {
	change := sites.RedirectChange{Source: r.Body.Source, Draft: r.Body.Draft}
	if r.Body.Destination != nil {
		to := r.Body.Destination.resource()
		if err := h.mustLeadSomewhere(ctx, c, to); err != nil {
			return schema.SiteRedirect{}, err
		}
		change.Destination = &to
	}
	row, err := h.store.Sites.UpdateRedirect(ctx, c.Site.Site.ID, r.RedirectID, change)
	return redirectResource(row), err
}

type redirectRequest struct {
	RedirectID string `path:"siteRedirectId"`
}

func (h *handlers) removeRedirect(ctx context.Context, c *access.Caller, r *redirectRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Sites.DeleteRedirect(ctx, c.Site.Site.ID, r.RedirectID)
}

type findRedirectRequest struct {
	ShareKey *string `query:"shareKey"`
	Source   *string `query:"source" rules:"required,len=..512,pattern=redirectSource"`
}

// findRedirect answers with the current address of a redirect's destination, even if the destination was renamed or
// moved. The target is a URL if the caller can read the site, and otherwise a path below the site's address. If the
// destination is a page in a space that the caller may not read, the target is the site space.
func (h *handlers) findRedirect(
	ctx context.Context, c *access.Caller, r *findRedirectRequest,
) (schema.SiteRedirectTarget, error) {
	site := c.Site.Site
	row, err := h.store.Sites.RedirectBySource(ctx, site.ID, *r.Source)
	if err != nil {
		return schema.SiteRedirectTarget{}, err
	}
	key, err := h.shareKey(ctx, c, r.ShareKey)
	if err != nil {
		return schema.SiteRedirectTarget{}, err
	}
	redirect := redirectResource(row)
	found := schema.SiteRedirectTarget{Redirect: redirect}
	if external := redirect.Destination.URL; external != nil {
		found.Target = *external
		return found, nil
	}
	to, err := h.destination(ctx, c, redirectDestinationOf(row))
	if err != nil {
		return schema.SiteRedirectTarget{}, err
	}
	found.Target = view.PublishedPath(h.view.SiteAddress(site, key), to.path)
	return found, nil
}

// mustLeadSomewhere returns an error if the site does not have the destination. The error names the member of the
// request with the wrong id.
func (h *handlers) mustLeadSomewhere(ctx context.Context, c *access.Caller, to schema.SiteRedirectDestination) error {
	if to.Kind == schema.RedirectToExternal {
		return nil
	}
	found, err := h.destination(ctx, c, to)
	// If the caller may not read a page, the error is the same as for a missing page. So the answer does not reveal the
	// pages of a space that is closed to the caller.
	if schema.IsCode(err, schema.CodeNotFound) || err == nil && found.closed {
		return schema.Invalid("destination."+found.member, "names nothing in this site")
	}
	return err
}

// destination is the place to which a redirect leads. `path` is its path below the site's address. `member` is the
// member of the request that contains its id. `closed` is true if the destination is a page in a space that the caller
// may not read. The path is then the path of the site space.
type destination struct {
	path   []string
	member string
	closed bool
}

// destination finds the place to which a redirect leads. If the place does not exist, the result still has `member`.
func (h *handlers) destination(
	ctx context.Context, c *access.Caller, to schema.SiteRedirectDestination,
) (destination, error) {
	site := c.Site.Site.ID
	if to.Kind == schema.RedirectToSection {
		row, err := h.store.Sites.Section(ctx, site, *to.SiteSectionID)
		if err == nil && c.Reader != nil && !c.Reader.SeesSection(row.Section.ID) {
			err = schema.NotFound("redirect")
		}
		return destination{path: view.SectionPath(row.Section.Path, row.Section.IsDefault), member: "siteSectionId"}, err
	}
	row, err := h.store.Sites.SiteSpace(ctx, site, *to.SiteSpaceID)
	if err == nil && c.Reader != nil && !c.Reader.SeesSiteSpace(row.SiteSpace.ID) {
		err = schema.NotFound("redirect")
	}
	if err != nil || to.Kind == schema.RedirectToSpace {
		return destination{path: siteSpacePath(row), member: "siteSpaceId"}, err
	}
	found := destination{path: siteSpacePath(row), member: "pageId"}
	if c.Reader == nil {
		if found.closed, err = h.closedTo(ctx, c, row.Space.ID); err != nil || found.closed {
			return found, err
		}
	}
	page, err := h.store.PagePath(ctx, row.Space, *to.PageID)
	if err == nil && c.Reader != nil {
		err = h.store.CheckShown(ctx, row.Space.ID, row.Space.Revision, *to.PageID, c.Reader.Allows)
	}
	found.path = append(found.path, page...)
	return found, err
}

// closedTo reports whether a member may not read a space.
func (h *handlers) closedTo(ctx context.Context, c *access.Caller, space string) (bool, error) {
	spaces, err := h.store.SpacesByID(ctx, c.Principal.UserID, []string{space})
	return !access.ContentRights(spaces[space].ContentAccess).Has(access.RightAccess), err
}

func redirectResource(r sites.Redirect) schema.SiteRedirect {
	to := redirectDestinationOf(r)
	if to.SiteSectionID != nil {
		shown := section.Shown(*to.SiteSectionID)
		to.SiteSectionID = &shown
	}
	return schema.SiteRedirect{Object: "site-redirect", ID: r.ID, Source: r.Source, Destination: to, Draft: r.Draft}
}

// redirectDestinationOf returns the destination of a redirect, with the ids as they are stored.
func redirectDestinationOf(r sites.Redirect) schema.SiteRedirectDestination {
	return schema.SiteRedirectDestination{
		Kind: r.Kind, SiteSectionID: r.SiteSectionID, SiteSpaceID: r.SiteSpaceID, PageID: r.PageID, URL: r.Url,
	}
}
