package sites

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/section"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

func siteSpaceRows(h *handlers) []frame.Operation {
	const base = "/orgs/{organizationId}/sites/{siteId}/site-spaces"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: base, ID: "listSiteSpaces", Tag: "site-spaces",
			Doc:   "List the site spaces of a site, in order. With default=true these are those that their sections, or the root of a site without sections, open with: one for each section.",
			Scope: access.Having(access.RightAccess, access.OnSite).OrInstallation(schema.ScopeSiteMetadataRead), Status: http.StatusOK, Handler: frame.Handle(h.listSpaces),
		},
		{
			Method: http.MethodPost, Path: base, ID: "addSpaceToSite", Tag: "site-spaces",
			Doc:   "Add a space to a section of a site: to its default section if none is named, to the root of a site without sections.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.addSpace),
		},
		{
			Method: http.MethodPatch, Path: base + "/{siteSpaceId}", ID: "updateSiteSpaceById", Tag: "site-spaces",
			Doc: "Change a site space.", Scope: access.Having(access.RightCreate, access.OnSite).WideningReaders(),
			Status:    http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.updateSpace),
		},
		{
			Method: http.MethodDelete, Path: base + "/{siteSpaceId}", ID: "deleteSiteSpaceById", Tag: "site-spaces",
			Doc:   "Take a space from a site; after a default one the next in order is the default.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusNoContent, Handler: frame.Handle(h.removeSpace),
		},
		{
			Method: http.MethodPost, Path: base + "/{siteSpaceId}/move", ID: "moveSiteSpace", Tag: "site-spaces",
			Doc:   "Move a site space before or after another one, or to the end of its section. Deprecated: use sortSiteStructure.",
			Scope: access.Having(access.RightCreate, access.OnSite).WideningReaders(), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.moveSpace),
		},
	}
}

type listSiteSpacesRequest struct {
	schema.PageRequest
	ShareKey *string `query:"shareKey"`
	Default  *bool   `query:"default"`
}

func (h *handlers) listSpaces(
	ctx context.Context, c *access.Caller, r *listSiteSpacesRequest,
) (schema.List[schema.SiteSpace], error) {
	site := c.Site.Site
	seen, err := h.seenBy(ctx, c, r.ShareKey)
	if err != nil {
		return schema.List[schema.SiteSpace]{}, err
	}
	isDefault := "any"
	if r.Default != nil {
		isDefault = strconv.FormatBool(*r.Default)
	}
	return frame.ListMadePage(ctx, fmt.Sprintf("site-spaces %s %s", site.ID, isDefault), r.PageRequest,
		func(after string, size int) (postgres.Page[sites.SiteSpaceRow], error) {
			return h.store.Sites.ListSiteSpaces(ctx, site.ID, r.Default, after, size)
		},
		h.siteSpaceResource(seen),
		func(row sites.SiteSpaceRow) string { return row.SiteSpace.Rank })
}

type addSiteSpaceRequest struct {
	Body struct {
		SpaceID   *string `json:"spaceId" rules:"required"`
		SectionID *string `json:"sectionId"`

		Draft *rules.Unoffered `json:"draft"`
	} `body:"json"`
}

func (h *handlers) addSpace(ctx context.Context, c *access.Caller, r *addSiteSpaceRequest) (schema.SiteSpace, error) {
	if err := h.mayAttachOne(ctx, c, *r.Body.SpaceID); err != nil {
		return schema.SiteSpace{}, err
	}
	row, err := h.store.Sites.AddSiteSpace(ctx, c.Site.Site.ID, *r.Body.SpaceID, sectionOrNone(r.Body.SectionID))
	if err != nil {
		return schema.SiteSpace{}, err
	}
	return h.oneSiteSpace(ctx, c, row)
}

// sectionOrNone returns the stored form of a section's id, or nil if the request does not have the id.
func sectionOrNone(sent *string) *string {
	if sent == nil {
		return nil
	}
	id := section.ID(*sent)
	return &id
}

func (h *handlers) mayAttachOne(ctx context.Context, c *access.Caller, id string) error {
	return h.mayAttach(ctx, c, c.Site.Site.OrganizationID, func(int) string { return "spaceId" }, id)
}

type updateSiteSpaceRequest struct {
	SiteSpaceID string `path:"siteSpaceId"`
	Body        struct {
		Path      *string            `json:"path" rules:"len=1..100,pattern=sitePath"`
		Condition schema.Opt[string] `json:"condition" rules:"len=..1024"`
		SpaceID   *string            `json:"spaceId"`
		Hidden    *bool              `json:"hidden"`
		Draft     *rules.Unoffered   `json:"draft"`
	} `body:"json"`
}

func (r *updateSiteSpaceRequest) Validate() []schema.Detail {
	var c rules.Checker
	checkCondition(&c, "condition", r.Body.Condition)
	return c.Details
}

// Widens reports whether the request sets or removes the condition that decides who sees the site space.
func (r *updateSiteSpaceRequest) Widens(sites.Site) bool { return r.Body.Condition.Set }

func (h *handlers) updateSpace(
	ctx context.Context, c *access.Caller, r *updateSiteSpaceRequest,
) (schema.SiteSpace, error) {
	if r.Body.SpaceID != nil {
		if err := h.mayAttachOne(ctx, c, *r.Body.SpaceID); err != nil {
			return schema.SiteSpace{}, err
		}
	}
	row, err := h.store.Sites.UpdateSiteSpace(ctx, c.Site.Site.ID, r.SiteSpaceID, sites.SiteSpaceChange{
		Path: r.Body.Path, Condition: conditionOrNone(r.Body.Condition), SpaceID: r.Body.SpaceID, Hidden: r.Body.Hidden,
	})
	if err != nil {
		return schema.SiteSpace{}, err
	}
	return h.oneSiteSpace(ctx, c, row)
}

type siteSpaceRequest struct {
	SiteSpaceID string `path:"siteSpaceId"`
}

func (h *handlers) removeSpace(ctx context.Context, c *access.Caller, r *siteSpaceRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Sites.DeleteSiteSpace(ctx, c.Site.Site.ID, r.SiteSpaceID)
}

type moveSiteSpaceRequest struct {
	SiteSpaceID string `path:"siteSpaceId"`
	Body        struct {
		Position *struct {
			Before *siteSpacePointer `json:"before"`
			After  *siteSpacePointer `json:"after"`
		} `json:"position"`
	} `body:"json,optional"`
}

// Widens reports whether the request can move the site space into another section, which may have another condition.
func (r *moveSiteSpaceRequest) Widens(sites.Site) bool {
	p := r.Body.Position
	return p != nil && (p.Before != nil || p.After != nil)
}

type siteSpacePointer struct {
	Type      *string `json:"type" rules:"enum=siteItemSpace"`
	SiteSpace *string `json:"siteSpace" rules:"required"`
}

func (p *siteSpacePointer) item() *schema.ItemPointer {
	if p == nil {
		return nil
	}
	return &schema.ItemPointer{Type: schema.SiteItemSpace, ID: *p.SiteSpace}
}

func (h *handlers) moveSpace(ctx context.Context, c *access.Caller, r *moveSiteSpaceRequest) (schema.SiteSpace, error) {
	var position schema.SiteItemPosition
	if p := r.Body.Position; p != nil {
		position = schema.SiteItemPosition{Before: p.Before.item(), After: p.After.item()}
	}
	site := c.Site.Site.ID
	err := h.store.Sites.MoveItem(ctx, site, schema.ItemPointer{
		Type: schema.SiteItemSpace, ID: r.SiteSpaceID,
	}, position)
	if err != nil {
		return schema.SiteSpace{}, err
	}
	row, err := h.store.Sites.SiteSpace(ctx, site, r.SiteSpaceID)
	if err != nil {
		return schema.SiteSpace{}, err
	}
	return h.oneSiteSpace(ctx, c, row)
}

// oneSiteSpace returns a changed site space as the answer to the caller.
func (h *handlers) oneSiteSpace(
	ctx context.Context, c *access.Caller, row sites.SiteSpaceRow,
) (schema.SiteSpace, error) {
	seen, err := h.seenBy(ctx, c, nil)
	if err != nil {
		return schema.SiteSpace{}, err
	}
	return h.siteSpaceResource(seen)(row)
}

// siteSpaceResource returns a function that returns the API form of a site space. If the caller may not see the space,
// the result has only the space's id and title.
func (h *handlers) siteSpaceResource(seen siteView) func(sites.SiteSpaceRow) (schema.SiteSpace, error) {
	return func(row sites.SiteSpaceRow) (schema.SiteSpace, error) {
		space, err := h.view.SpaceOfSite(seen.space(row.Space))
		if err != nil {
			return schema.SiteSpace{}, err
		}
		l := row.SiteSpace
		return schema.SiteSpace{
			Object: "site-space", ID: l.ID, Path: l.Path, Section: section.Shown(schema.Or(l.SectionID, "")),
			Space: space, Title: row.Space.Title, Default: l.IsDefault, Condition: schema.Or(l.Condition, ""), HasAdvancedCustomizationFeature: true, Hidden: l.Hidden,
			URLs: seen.published(siteSpacePath(row)),
		}, nil
	}
}
