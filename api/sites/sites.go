package sites

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// handlers has the operations on sites.
type handlers struct {
	store *store.Store
	view  view.Presenter
}

func siteOperations(h *handlers) []frame.Operation {
	return slices.Concat(siteRows(h), publishedRows(h), siteStructureRows(h), siteSectionRows(h), siteSpaceRows(h), shareLinkRows(h), siteRedirectRows(h))
}

func siteRows(h *handlers) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/sites", ID: "createSite", Tag: "sites",
			Doc:   "Create a site, with the spaces it is made of.",
			Scope: access.Having(access.RightCreate, access.OnOrganization), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/sites", ID: "listSites", Tag: "sites",
			Doc:   "List the sites of an organization.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/sites/{siteId}", ID: "getSiteById", Tag: "sites",
			Doc: "Read a site.", Scope: access.Having(access.RightAccess, access.OnSite).OrReaders().OrInstallation(schema.ScopeSiteMetadataRead), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: "/orgs/{organizationId}/sites/{siteId}", ID: "updateSiteById", Tag: "sites",
			Doc: "Change a site.", Scope: access.Having(access.RightCreate, access.OnSite).WideningReaders(),
			Status:    http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: "/orgs/{organizationId}/sites/{siteId}", ID: "deleteSiteById", Tag: "sites",
			Doc:   "Delete a site; the spaces that it shows stay.",
			Scope: access.Having(access.RightAdmin, access.OnSite).OrAlreadyGone(), Status: http.StatusNoContent, Handler: frame.Handle(h.remove),
		},
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/sites/{siteId}/publish", ID: "publishSite", Tag: "sites",
			Doc:   "Make a site readable at its published address.",
			Scope: access.Having(access.RightCreate, access.OnSite).WideningReaders(), Status: http.StatusOK,
			Handler: frame.Handle(h.publish),
		},
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/sites/{siteId}/unpublish", ID: "unpublishSite", Tag: "sites",
			Doc:   "Take a site from its published address.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusOK, Handler: frame.Handle(h.unpublish),
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
	var c rules.Checker
	for i, space := range r.Body.Spaces {
		field := fmt.Sprintf("spaces[%d]", i)
		if !schema.ValidID(space) {
			c.Add(field, "names no space of this organization")
		} else if slices.Contains(r.Body.Spaces[:i], space) {
			c.Add(field, "names a space twice")
		}
	}
	return c.Details
}

func (h *handlers) create(ctx context.Context, c *access.Caller, r *createSiteRequest) (schema.Site, error) {
	org := c.Organization
	if err := h.mayAttach(ctx, c, org.Organization.ID, func(i int) string { return fmt.Sprintf("spaces[%d]", i) }, r.Body.Spaces...); err != nil {
		return schema.Site{}, err
	}
	row, err := h.store.Sites.Create(ctx, sites.NewSite{
		OrganizationID: c.Organization.Organization.ID, Type: schema.Or(r.Body.Type, "basic"), Title: schema.Or(r.Body.Title, "Untitled site"),
		Visibility: schema.Or(r.Body.Visibility, "public"), Spaces: r.Body.Spaces,
	})
	if err != nil {
		return schema.Site{}, err
	}
	return h.view.Site(row), nil
}

type listSitesRequest struct {
	schema.PageRequest
	Space     *string  `query:"space"`
	Title     *string  `query:"title"`
	Published *bool    `query:"published"`
	Types     []string `query:"type" each:"enum=siteType"`
}

func (h *handlers) list(ctx context.Context, c *access.Caller, r *listSitesRequest) (schema.List[schema.Site], error) {
	organization := c.Organization.Organization.ID
	published := "any"
	if r.Published != nil {
		published = strconv.FormatBool(*r.Published)
	}
	name := fmt.Sprintf("sites %s %q %q %s %q", organization, schema.Or(r.Space, ""), schema.Or(r.Title, ""), published, r.Types)
	filter := sites.Filter{Space: r.Space, Title: r.Title, Published: r.Published, Types: r.Types}
	return frame.ListPage(ctx, name, r.PageRequest,
		func(after string, size int) (postgres.Page[sites.Row], error) {
			return h.store.Sites.List(ctx, organization, filter, after, size)
		},
		h.view.Site, func(row sites.Row) string { return row.Site.ID })
}

func (h *handlers) get(ctx context.Context, c *access.Caller, _ *struct{}) (schema.Site, error) {
	key, err := h.shareKey(ctx, c, nil)
	return h.view.SiteFor(c.Site.Row, key), err
}

type updateSiteRequest struct {
	Body struct {
		Title           *string `json:"title" rules:"len=2..128"`
		Visibility      *string `json:"visibility" rules:"enum=siteVisibility"`
		Basename        *string `json:"basename" rules:"len=1..100,pattern=sitePath"`
		AdaptiveContent *struct {
			Enabled *bool `json:"enabled" rules:"required"`
		} `json:"adaptiveContent"`
		AgentsContext      *string            `json:"agentsContext" rules:"enum=agentsContext"`
		DefaultSiteSpace   *string            `json:"defaultSiteSpace"`
		DefaultSiteSection *string            `json:"defaultSiteSection"`
		Proxy              schema.Opt[string] `json:"proxy" rules:"len=..512,pattern=proxyOrigin"`
		// Hostname is the site's host name. Readers find the site there after the organization has proved that it owns
		// the name.
		Hostname schema.Opt[string] `json:"hostname" rules:"len=..253,pattern=hostname"`
		// AnonymousEvents allows callers without a token to send events. A rate limit applies to each client address.
		AnonymousEvents *bool `json:"anonymousEvents"`
	} `body:"json"`
}

// openness orders visibilities: a visibility with a smaller number admits more people. Share links and logins have the
// same number, because they admit different people.
var openness = map[string]int{
	"public":                     0,
	"unlisted":                   1,
	schema.VisibilityShareLink:   2,
	schema.VisibilityVisitorAuth: 2,
}

// Widens reports whether the change lets more people read the site, or find it. A change of adaptive content counts as
// well, because it changes which visitors meet the conditions of the site's parts.
func (r *updateSiteRequest) Widens(site sites.Site) bool {
	b := &r.Body
	return b.Visibility != nil && *b.Visibility != site.Visibility &&
		openness[*b.Visibility] <= openness[site.Visibility] ||
		b.AdaptiveContent != nil && *b.AdaptiveContent.Enabled != schema.Or(site.AdaptiveContent, false) ||
		leadsElsewhere(b.Hostname, site.Hostname) || leadsElsewhere(b.Proxy, site.Proxy)
}

// leadsElsewhere reports whether a change gives a site a new address.
func leadsElsewhere(sent schema.Opt[string], now *string) bool {
	return sent.Value != nil && (now == nil || !strings.EqualFold(*sent.Value, *now))
}

func (h *handlers) update(ctx context.Context, c *access.Caller, r *updateSiteRequest) (schema.Site, error) {
	b := &r.Body
	change := sites.Change{
		Title: b.Title, Visibility: b.Visibility, Basename: b.Basename, AgentsContext: b.AgentsContext,
		DefaultSiteSpace: b.DefaultSiteSpace, DefaultSiteSection: sectionOrNone(b.DefaultSiteSection), Proxy: b.Proxy,
		Hostname: b.Hostname, AnonymousEvents: b.AnonymousEvents,
	}
	if !r.Widens(c.Site.Site) {
		change.Was = &c.Site.Site
	}
	if b.Hostname.Value != nil {
		change.Hostname.Value = new(strings.ToLower(*b.Hostname.Value))
	}
	if b.AdaptiveContent != nil {
		change.AdaptiveContent = b.AdaptiveContent.Enabled
	}
	site, err := h.store.Sites.Update(ctx, c.Site.Site.ID, change)
	if err != nil {
		return schema.Site{}, err
	}
	return h.changed(c, site), nil
}

func (h *handlers) remove(ctx context.Context, c *access.Caller, _ *struct{}) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Sites.Delete(ctx, c.Site.Site.ID)
}

func (h *handlers) publish(ctx context.Context, c *access.Caller, _ *struct{}) (schema.Site, error) {
	site, err := h.store.Sites.Publish(ctx, c.Site.Site.ID, true)
	if err != nil {
		return schema.Site{}, err
	}
	return h.changed(c, site), nil
}

func (h *handlers) unpublish(ctx context.Context, c *access.Caller, _ *struct{}) (schema.Site, error) {
	site, err := h.store.Sites.Publish(ctx, c.Site.Site.ID, false)
	if err != nil {
		return schema.Site{}, err
	}
	return h.changed(c, site), nil
}

// changed returns the answer for a changed site. The change must not concern the site's site spaces.
func (h *handlers) changed(c *access.Caller, site sites.Site) schema.Site {
	return h.view.Site(sites.Row{Site: site, SiteSpaces: c.Site.SiteSpaces})
}

// mayAttach returns an error if a space is not in the organization. It also returns an error if the caller may not read
// a space, because the caller could then read it through the site. `field` returns the name of the request's member
// with the space `i`.
func (h *handlers) mayAttach(
	ctx context.Context, c *access.Caller, organization string, field func(i int) string, ids ...string,
) error {
	if len(ids) == 0 {
		return nil
	}
	spaces, err := h.store.SpacesByID(ctx, c.Principal.UserID, ids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		space, ok := spaces[id]
		if !ok || space.Space.OrganizationID != organization || !access.ContentRights(space.ContentAccess).Has(access.RightAccess) {
			return schema.Invalid(field(i), "names no space of this organization")
		}
	}
	return nil
}
