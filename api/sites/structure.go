package sites

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/section"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

func siteStructureRows(h *handlers) []frame.Operation {
	const base = "/orgs/{organizationId}/sites/{siteId}"
	const groups = base + "/section-groups"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: base + "/structure", ID: "getSiteStructure", Tag: "site-structure",
			Doc:   "Read everything that a site is made of, in order.",
			Scope: access.Having(access.RightAccess, access.OnSite).OrReaders().OrInstallation(schema.ScopeSiteMetadataRead), Status: http.StatusOK, Handler: frame.Handle(h.structure),
		},
		{
			Method: http.MethodPatch, Path: base + "/structure/sort", ID: "sortSiteStructure", Tag: "site-structure",
			Doc:   "Move a site space, a section or a section group before or after another item of the site, or to the end.",
			Scope: access.Having(access.RightCreate, access.OnSite).WideningReaders(), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.sort),
		},
		{
			Method: http.MethodGet, Path: groups, ID: "listSiteSectionGroups", Tag: "site-section-groups",
			Doc:   "List the section groups of a site, those in other groups too, in order.",
			Scope: access.Having(access.RightAccess, access.OnSite).OrInstallation(schema.ScopeSiteMetadataRead), Status: http.StatusOK, Handler: frame.Handle(h.listGroups),
		},
		{
			Method: http.MethodPost, Path: groups, ID: "addSectionGroupToSite", Tag: "site-section-groups",
			Doc:   "Add a section group to a site or to another group, and move sections into it.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.addGroup),
		},
		{
			Method: http.MethodPatch, Path: groups + "/{siteSectionGroupId}", ID: "updateSiteSectionGroupById", Tag: "site-section-groups",
			Doc: "Change a section group.", Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.updateGroup),
		},
		{
			Method: http.MethodDelete, Path: groups + "/{siteSectionGroupId}", ID: "deleteSiteSectionGroupById", Tag: "site-section-groups",
			Doc:   "Delete a section group; its content takes the group's place.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusNoContent, Handler: frame.Handle(h.removeGroup),
		},
		{
			Method: http.MethodPost, Path: groups + "/{siteSectionGroupId}/sections", ID: "addSectionToGroup", Tag: "site-section-groups",
			Doc:   "Move a section to the end of a section group.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.addToGroup),
		},
		{
			Method: http.MethodDelete, Path: groups + "/{siteSectionGroupId}/sections/{siteSectionId}", ID: "removeSectionFromGroup",
			Tag: "site-section-groups", Doc: "Move a section out of a section group, to right behind it.",
			Scope: access.Having(access.RightCreate, access.OnSite), Status: http.StatusNoContent, Handler: frame.Handle(h.removeFromGroup),
		},
	}
}

type structureRequest struct {
	ShareKey *string `query:"shareKey"`
}

func (h *handlers) structure(ctx context.Context, c *access.Caller, r *structureRequest) (schema.SiteStructure, error) {
	seen, err := h.seenBy(ctx, c, r.ShareKey)
	if err != nil {
		return schema.SiteStructure{}, err
	}
	return h.structureAs(ctx, seen)
}

// structureAs returns a site's structure as the caller sees it.
func (h *handlers) structureAs(ctx context.Context, seen siteView) (schema.SiteStructure, error) {
	tree, err := h.siteTree(ctx, seen)
	if err != nil {
		return schema.SiteStructure{}, err
	}
	// If a site has site spaces outside sections, or has nothing, its structure is a list of site spaces. Otherwise it
	// is a list of sections and section groups.
	if items := tree.children(""); len(items) > 0 && len(tree.spaces[""]) == 0 {
		return schema.SiteStructure{Type: schema.StructureOfSections, Structure: items}, nil
	}
	items := make([]schema.SiteItem, len(tree.spaces[""]))
	for i, row := range tree.spaces[""] {
		space, err := tree.siteSpace(row)
		if err != nil {
			return schema.SiteStructure{}, err
		}
		items[i].Space = &space
	}
	return schema.SiteStructure{Type: schema.StructureOfSiteSpaces, Structure: items}, nil
}

// siteTree has the structure of a site. The maps `groups`, `sections` and `spaces` list the children of a parent by the
// parent's id. The id of the root is empty.
type siteTree struct {
	groups    map[string][]sites.SectionGroup
	byID      map[string]sites.SectionGroup
	sections  map[string][]rankedSection
	spaces    map[string][]sites.SiteSpaceRow
	siteSpace func(sites.SiteSpaceRow) (schema.SiteSpace, error)
}

// rankedSection is a section with its rank. Sections and groups of the same parent are sorted by rank.
type rankedSection struct {
	rank string
	schema.SiteSection
}

// wholeTree returns the structure of the caller's site, as seen without a share key.
func (h *handlers) wholeTree(ctx context.Context, c *access.Caller) (*siteTree, error) {
	seen, err := h.seenBy(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	return h.siteTree(ctx, seen)
}

// siteTree reads the whole structure of a site with one query, however many groups there are.
func (h *handlers) siteTree(ctx context.Context, seen siteView) (*siteTree, error) {
	all, err := h.store.Sites.Structure(ctx, seen.id)
	if err != nil {
		return nil, err
	}
	tree := &siteTree{
		groups: map[string][]sites.SectionGroup{}, byID: map[string]sites.SectionGroup{},
		sections: map[string][]rankedSection{}, spaces: map[string][]sites.SiteSpaceRow{},
		siteSpace: h.siteSpaceResource(seen),
	}
	for _, g := range all.Groups {
		tree.groups[schema.Or(g.ParentID, "")] = append(tree.groups[schema.Or(g.ParentID, "")], g)
		tree.byID[g.ID] = g
	}
	for _, row := range all.Spaces {
		if !seen.sees(row.SiteSpace.ID) {
			continue
		}
		tree.spaces[schema.Or(row.SiteSpace.SectionID, "")] = append(tree.spaces[schema.Or(row.SiteSpace.SectionID, "")], row)
	}
	sectionResource := h.sectionResource(seen)
	for _, s := range all.Sections {
		if !seen.seesSection(s.ID) {
			continue
		}
		resource, err := sectionResource(sites.SectionRow{Section: s, Spaces: tree.spaces[s.ID]})
		if err != nil {
			return nil, err
		}
		group := schema.Or(s.GroupID, "")
		tree.sections[group] = append(tree.sections[group], rankedSection{s.Rank, resource})
	}
	return tree, nil
}

// children returns the sections and subgroups of a group, merged into one list by rank. Both input lists are already
// sorted.
func (t *siteTree) children(group string) []schema.SiteItem {
	groups, items := t.groups[group], []schema.SiteItem{}
	for _, s := range t.sections[group] {
		for len(groups) > 0 && groups[0].Rank < s.rank {
			items, groups = append(items, t.group(groups[0])), groups[1:]
		}
		items = append(items, schema.SiteItem{Section: &s.SiteSection})
	}
	for _, g := range groups {
		items = append(items, t.group(g))
	}
	return items
}

func (t *siteTree) group(g sites.SectionGroup) schema.SiteItem {
	resource := t.groupResource(g)
	return schema.SiteItem{Group: &resource}
}

func (t *siteTree) groupResource(g sites.SectionGroup) schema.SiteSectionGroup {
	group := schema.SiteSectionGroup{
		Object: "site-section-group", ID: g.ID, Title: g.Title, SectionGroup: schema.Or(g.ParentID, ""), Icon: schema.Or(g.Icon, ""),
		Sections: []schema.SiteSection{}, Children: t.children(g.ID),
	}
	for _, item := range group.Children {
		if item.Section != nil {
			group.Sections = append(group.Sections, *item.Section)
		}
	}
	return group
}

type sortRequest struct {
	Body struct {
		Item     *itemPointer `json:"item" rules:"required"`
		Position *struct {
			Before *itemPointer `json:"before"`
			After  *itemPointer `json:"after"`
		} `json:"position"`
	} `body:"json"`
}

// Widens reports whether the request can move a site space into another section, which may have another condition.
func (r *sortRequest) Widens(sites.Site) bool {
	p := r.Body.Position
	return r.Body.Item != nil && *r.Body.Item.Type == schema.SiteItemSpace &&
		p != nil && (p.Before != nil || p.After != nil)
}

type itemPointer struct {
	Type *string `json:"type" rules:"required,enum=siteItem"`
	ID   *string `json:"id" rules:"required"`
}

func (p *itemPointer) item() *schema.ItemPointer {
	if p == nil {
		return nil
	}
	item := &schema.ItemPointer{Type: *p.Type, ID: *p.ID}
	if item.Type == schema.SiteItemSection {
		item.ID = section.ID(item.ID)
	}
	return item
}

func (h *handlers) sort(ctx context.Context, c *access.Caller, r *sortRequest) (schema.SiteItem, error) {
	var position schema.SiteItemPosition
	if p := r.Body.Position; p != nil {
		position = schema.SiteItemPosition{Before: p.Before.item(), After: p.After.item()}
	}
	item, site := *r.Body.Item.item(), c.Site.Site.ID
	if err := h.store.Sites.MoveItem(ctx, site, item, position); err != nil {
		return schema.SiteItem{}, err
	}
	switch item.Type {
	case schema.SiteItemSpace:
		row, err := h.store.Sites.SiteSpace(ctx, site, item.ID)
		if err != nil {
			return schema.SiteItem{}, err
		}
		space, err := h.oneSiteSpace(ctx, c, row)
		return schema.SiteItem{Space: &space}, err
	case schema.SiteItemSection:
		row, err := h.store.Sites.Section(ctx, site, item.ID)
		if err != nil {
			return schema.SiteItem{}, err
		}
		resource, err := h.oneSection(ctx, c, row)
		return schema.SiteItem{Section: &resource}, err
	}
	group, err := h.oneGroup(ctx, c, item.ID)
	return schema.SiteItem{Group: &group}, err
}

func (h *handlers) listGroups(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[schema.SiteSectionGroup], error) {
	tree, err := h.wholeTree(ctx, c)
	if err != nil {
		return schema.List[schema.SiteSectionGroup]{}, err
	}
	site := c.Site.Site.ID
	return frame.ListPage(ctx, "section-groups "+site, *r,
		func(after string, size int) (postgres.Page[sites.SectionGroup], error) {
			return h.store.Sites.ListSectionGroups(ctx, site, after, size)
		},
		tree.groupResource, func(row sites.SectionGroup) string { return row.Rank })
}

type addGroupRequest struct {
	Body struct {
		Title    *string  `json:"title" rules:"required,len=1..100"`
		Icon     *string  `json:"icon" rules:"len=..50"`
		Sections []string `json:"sections" rules:"len=..1000"`
		Parent   *string  `json:"parent"`

		Draft *rules.Unoffered `json:"draft"`
	} `body:"json"`
}

func (r *addGroupRequest) Validate() []schema.Detail {
	var c rules.Checker
	for i, sent := range r.Body.Sections {
		r.Body.Sections[i] = section.ID(sent)
		if slices.Contains(r.Body.Sections[:i], r.Body.Sections[i]) {
			c.Add(fmt.Sprintf("sections[%d]", i), "names a section twice")
		}
	}
	return c.Details
}

func (h *handlers) addGroup(
	ctx context.Context, c *access.Caller, r *addGroupRequest,
) (schema.SiteSectionGroup, error) {
	row, err := h.store.Sites.AddSectionGroup(ctx, c.Site.Site.ID, sites.NewSectionGroup{
		Title: *r.Body.Title, Icon: r.Body.Icon, Parent: r.Body.Parent, Sections: r.Body.Sections,
	})
	if err != nil {
		return schema.SiteSectionGroup{}, err
	}
	return h.oneGroup(ctx, c, row.ID)
}

type updateGroupRequest struct {
	GroupID string `path:"siteSectionGroupId"`
	Body    struct {
		Title *string            `json:"title" rules:"len=1..100"`
		Icon  schema.Opt[string] `json:"icon" rules:"len=..50"`
		Draft *rules.Unoffered   `json:"draft"`
	} `body:"json"`
}

func (h *handlers) updateGroup(
	ctx context.Context, c *access.Caller, r *updateGroupRequest,
) (schema.SiteSectionGroup, error) {
	err := h.store.Sites.UpdateSectionGroup(ctx, c.Site.Site.ID, r.GroupID, sites.SectionGroupChange{
		Title: r.Body.Title, Icon: r.Body.Icon,
	})
	if err != nil {
		return schema.SiteSectionGroup{}, err
	}
	return h.oneGroup(ctx, c, r.GroupID)
}

type groupRequest struct {
	GroupID string `path:"siteSectionGroupId"`
}

func (h *handlers) removeGroup(ctx context.Context, c *access.Caller, r *groupRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Sites.DeleteSectionGroup(ctx, c.Site.Site.ID, r.GroupID)
}

type addToGroupRequest struct {
	GroupID string `path:"siteSectionGroupId"`
	Body    struct {
		SectionID *string `json:"sectionId" rules:"required"`
	} `body:"json"`
}

func (h *handlers) addToGroup(
	ctx context.Context, c *access.Caller, r *addToGroupRequest,
) (schema.SiteSectionGroup, error) {
	if err := h.store.Sites.AddSectionToGroup(
		ctx, c.Site.Site.ID, r.GroupID, section.ID(*r.Body.SectionID),
	); err != nil {
		return schema.SiteSectionGroup{}, err
	}
	return h.oneGroup(ctx, c, r.GroupID)
}

type groupSectionRequest struct {
	GroupID   string `path:"siteSectionGroupId"`
	SectionID string `path:"siteSectionId"`
}

func (h *handlers) removeFromGroup(
	ctx context.Context, c *access.Caller, r *groupSectionRequest,
) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Sites.RemoveSectionFromGroup(
		ctx, c.Site.Site.ID, r.GroupID, section.ID(r.SectionID),
	)
}

// oneGroup returns a changed group as the answer to the caller.
func (h *handlers) oneGroup(ctx context.Context, c *access.Caller, id string) (schema.SiteSectionGroup, error) {
	tree, err := h.wholeTree(ctx, c)
	if err != nil {
		return schema.SiteSectionGroup{}, err
	}
	group, ok := tree.byID[id]
	if !ok {
		return schema.SiteSectionGroup{}, schema.NotFound("site section group")
	}
	return tree.groupResource(group), nil
}
