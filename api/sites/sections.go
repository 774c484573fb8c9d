package sites

import (
	"context"
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

func siteSectionRows(h *handlers) []frame.Operation {
	const base = "/orgs/{organizationId}/sites/{siteId}/sections"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: base, ID: "listSiteSections", Tag: "site-sections",
			Doc:   "List the sections of a site with their site spaces, in order.",
			Scope: access.Having(access.RightAccess, access.OnSite).OrInstallation(schema.ScopeSiteMetadataRead), Status: http.StatusOK, Handler: frame.Handle(h.listSections),
		},
		{
			Method: http.MethodPost, Path: base, ID: "addSectionToSite", Tag: "site-sections",
			Doc:   "Add a section with a space to a site. If it is the first section, the site spaces at the root move into a default section in front of it, so the home page stays the same.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.addSection),
		},
		{
			Method: http.MethodPatch, Path: base + "/{siteSectionId}", ID: "updateSiteSectionById", Tag: "site-sections",
			Doc: "Change a section.", Scope: access.Having(access.RightCreate, access.OnSite).WideningReaders(),
			Status:    http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.updateSection),
		},
		{
			Method: http.MethodDelete, Path: base + "/{siteSectionId}", ID: "deleteSiteSectionById", Tag: "site-sections",
			Doc:   "Delete a section with its site spaces; after the default one the next in order is the default.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusNoContent, Handler: frame.Handle(h.removeSection),
		},
		{
			Method: http.MethodPost, Path: base + "/{siteSectionId}/move", ID: "moveSiteSection", Tag: "site-sections",
			Doc:   "Move a section before or after another one, or to the end of the site. Deprecated: use sortSiteStructure.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.moveSection),
		},
	}
}

type listSiteSectionsRequest struct {
	schema.PageRequest
	ShareKey *string `query:"shareKey"`
}

func (h *handlers) listSections(
	ctx context.Context, c *access.Caller, r *listSiteSectionsRequest,
) (schema.List[schema.SiteSection], error) {
	site := c.Site.Site
	seen, err := h.seenBy(ctx, c, r.ShareKey)
	if err != nil {
		return schema.List[schema.SiteSection]{}, err
	}
	return frame.ListMadePage(ctx, "site-sections "+site.ID, r.PageRequest,
		func(after string, size int) (postgres.Page[sites.SectionRow], error) {
			return h.store.Sites.ListSections(ctx, site.ID, after, size)
		},
		h.sectionResource(seen),
		func(row sites.SectionRow) string { return row.Section.Rank })
}

type addSectionRequest struct {
	Body struct {
		SpaceID *string `json:"spaceId" rules:"required"`
		Title   *string `json:"title" rules:"len=2..128"`
		Icon    *string `json:"icon" rules:"len=..50"`

		Draft *rules.Unoffered `json:"draft"`
	} `body:"json"`
}

func (h *handlers) addSection(ctx context.Context, c *access.Caller, r *addSectionRequest) (schema.SiteSection, error) {
	if err := h.mayAttachOne(ctx, c, *r.Body.SpaceID); err != nil {
		return schema.SiteSection{}, err
	}
	row, err := h.store.Sites.AddSection(ctx, c.Site.Site.ID, sites.NewSection{
		SpaceID: *r.Body.SpaceID, Title: r.Body.Title, Icon: r.Body.Icon,
	})
	if err != nil {
		return schema.SiteSection{}, err
	}
	return h.oneSection(ctx, c, row)
}

type updateSectionRequest struct {
	SectionID string `path:"siteSectionId"`
	Body      struct {
		Title            *string            `json:"title" rules:"len=2..128"`
		Path             *string            `json:"path" rules:"len=1..100,pattern=sitePath"`
		DefaultSiteSpace *string            `json:"defaultSiteSpace"`
		Condition        schema.Opt[string] `json:"condition" rules:"len=..1024"`
		Icon             schema.Opt[string] `json:"icon" rules:"len=..50"`
		Description      schema.Opt[string] `json:"description" rules:"len=..256"`
		Draft            *rules.Unoffered   `json:"draft"`
	} `body:"json"`
}

func (r *updateSectionRequest) Validate() []schema.Detail {
	var c rules.Checker
	checkCondition(&c, "condition", r.Body.Condition)
	return c.Details
}

// Widens reports whether the request sets or removes the condition that decides who sees the section.
func (r *updateSectionRequest) Widens(sites.Site) bool { return r.Body.Condition.Set }

func (h *handlers) updateSection(
	ctx context.Context, c *access.Caller, r *updateSectionRequest,
) (schema.SiteSection, error) {
	b := &r.Body
	row, err := h.store.Sites.UpdateSection(ctx, c.Site.Site.ID, section.ID(r.SectionID), sites.SectionChange{
		Title: b.Title, Path: b.Path, DefaultSiteSpace: b.DefaultSiteSpace,
		Condition: conditionOrNone(b.Condition), Icon: b.Icon, Description: b.Description,
	})
	if err != nil {
		return schema.SiteSection{}, err
	}
	return h.oneSection(ctx, c, row)
}

type sectionRequest struct {
	SectionID string `path:"siteSectionId"`
}

func (h *handlers) removeSection(ctx context.Context, c *access.Caller, r *sectionRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Sites.DeleteSection(ctx, c.Site.Site.ID, section.ID(r.SectionID))
}

type moveSectionRequest struct {
	SectionID string `path:"siteSectionId"`
	Body      struct {
		Position *struct {
			Before *sectionPointer `json:"before"`
			After  *sectionPointer `json:"after"`
		} `json:"position"`
	} `body:"json,optional"`
}

type sectionPointer struct {
	Type        *string `json:"type" rules:"enum=siteItemSection"`
	SiteSection *string `json:"siteSection" rules:"required"`
}

func (p *sectionPointer) item() *schema.ItemPointer {
	if p == nil {
		return nil
	}
	return &schema.ItemPointer{Type: schema.SiteItemSection, ID: section.ID(*p.SiteSection)}
}

func (h *handlers) moveSection(
	ctx context.Context, c *access.Caller, r *moveSectionRequest,
) (schema.SiteSection, error) {
	var position schema.SiteItemPosition
	if p := r.Body.Position; p != nil {
		position = schema.SiteItemPosition{Before: p.Before.item(), After: p.After.item()}
	}
	site, id := c.Site.Site.ID, section.ID(r.SectionID)
	err := h.store.Sites.MoveItem(ctx, site, schema.ItemPointer{Type: schema.SiteItemSection, ID: id}, position)
	if err != nil {
		return schema.SiteSection{}, err
	}
	row, err := h.store.Sites.Section(ctx, site, id)
	if err != nil {
		return schema.SiteSection{}, err
	}
	return h.oneSection(ctx, c, row)
}

// oneSection returns a changed section as the answer to the caller.
func (h *handlers) oneSection(ctx context.Context, c *access.Caller, row sites.SectionRow) (schema.SiteSection, error) {
	seen, err := h.seenBy(ctx, c, nil)
	if err != nil {
		return schema.SiteSection{}, err
	}
	return h.sectionResource(seen)(row)
}

func (h *handlers) sectionResource(seen siteView) func(sites.SectionRow) (schema.SiteSection, error) {
	siteSpace := h.siteSpaceResource(seen)
	return func(row sites.SectionRow) (schema.SiteSection, error) {
		s := row.Section
		resource := schema.SiteSection{
			Object: "site-section", ID: section.Shown(s.ID), Title: s.Title, Description: schema.Or(s.Description, ""), Default: s.IsDefault, Path: s.Path,
			Condition: schema.Or(s.Condition, ""), SectionGroup: schema.Or(s.GroupID, ""), Icon: schema.Or(s.Icon, ""),
			SiteSpaces: make([]schema.SiteSpace, len(row.Spaces)),
			URLs:       seen.published(view.SectionPath(s.Path, s.IsDefault)),
		}
		for i, space := range row.Spaces {
			var err error
			if resource.SiteSpaces[i], err = siteSpace(space); err != nil {
				return schema.SiteSection{}, err
			}
		}
		return resource, nil
	}
}
