package api

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// spaces are the operations on spaces themselves; their content has operations of its own.
type spaces struct {
	store *store.Store
	urls  links
}

func spaceOperations(h *spaces) []Operation {
	return []Operation{
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/spaces", ID: "createSpace", Tag: "spaces",
			Doc: "Create an empty space.",
			// What it takes in the end depends on where the space goes.
			Scope: having(RightView, onOrganization), Status: http.StatusCreated,
			BodyLimit: ResourceBodyLimit, Accepts: mediaJSON, Handler: handle(h.create),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/spaces", ID: "listSpacesInOrganizationById", Tag: "spaces",
			Doc:   "List the spaces of an organization that the caller may see.",
			Scope: having(RightView, onOrganization), Status: http.StatusOK, Handler: handle(h.list),
		},
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}", ID: "getSpaceById", Tag: "spaces",
			Doc: "Read a space.", Scope: having(RightView, onSpace), Status: http.StatusOK, Handler: handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: "/spaces/{spaceId}", ID: "updateSpaceById", Tag: "spaces",
			Doc:   "Change a space's settings.",
			Scope: having(RightAdmin, onSpace), Status: http.StatusOK,
			BodyLimit: ResourceBodyLimit, Accepts: mediaJSON, Handler: handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: "/spaces/{spaceId}", ID: "deleteSpaceById", Tag: "spaces",
			Doc:   "Delete a space with its content; it leaves the sites that it is part of.",
			Scope: having(RightAdmin, onSpace).orAlreadyGone(), Status: http.StatusNoContent, Handler: handle(h.remove),
		},
	}
}

const defaultSpaceTitle = "Untitled"

// defaultSpaceEmoji is an open book, as the code point that the contract allows.
const defaultSpaceEmoji = "1f4d6"

type createSpaceRequest struct {
	Body struct {
		Title    *string `json:"title" rules:"len=1..50"`
		Emoji    *string `json:"emoji" rules:"len=..50"`
		Parent   *string `json:"parent"`
		Language *string `json:"language" rules:"enum=language"`
		EditMode *string `json:"editMode" rules:"enum=editMode"`
		Empty    *bool   `json:"empty"`
		Template *struct {
			ID *string `json:"id"`
		} `json:"template"`
		ComputedSource *struct{} `json:"computedSource"`
	} `body:"json,optional"`
}

func (r *createSpaceRequest) Validate() []schema.Detail {
	var c checker
	if r.Body.Empty != nil && !*r.Body.Empty {
		c.add("empty", "has no value that is allowed", "true")
	}
	// A space that silently stayed empty would not be what was asked for.
	if r.Body.Template != nil {
		c.add("template.id", "names no template")
	}
	if r.Body.ComputedSource != nil {
		c.add("computedSource", "is not offered: spaces hold their own content")
	}
	return c.details
}

func (h *spaces) create(ctx context.Context, c *Caller, r *createSpaceRequest) (schema.Space, error) {
	access, err := requireParent(ctx, c, h.store, r.Body.Parent)
	if err != nil {
		return schema.Space{}, err
	}
	row, err := h.store.CreateSpace(ctx, store.NewSpace{
		OrganizationID: c.Organization.Organization.ID, ParentID: r.Body.Parent, Title: schema.Or(r.Body.Title, defaultSpaceTitle),
		Emoji: schema.Or(r.Body.Emoji, defaultSpaceEmoji), EditMode: schema.Or(r.Body.EditMode, "live"), Language: r.Body.Language,
	})
	if err != nil {
		return schema.Space{}, err
	}
	// It inherits, so the caller has there what the caller has in the parent.
	return h.urls.spaceResource(store.SpaceAccess{Space: row, ContentAccess: access}), nil
}

type listSpacesRequest struct {
	schema.PageRequest
}

func (h *spaces) list(ctx context.Context, c *Caller, r *listSpacesRequest) (schema.List[schema.Space], error) {
	organization := c.Organization.Organization.ID
	return listPage(ctx, "spaces "+organization, r.PageRequest,
		func(after string, size int) (store.Page[store.SpaceAccess], error) {
			return h.store.ListSpaces(ctx, c.viewer(), organization, after, size)
		},
		h.urls.spaceResource, func(s schema.Space) string { return s.ID })
}

func (h *spaces) get(_ context.Context, c *Caller, _ *struct{}) (schema.Space, error) {
	return h.urls.spaceResource(*c.Space), nil
}

type updateSpaceRequest struct {
	Body struct {
		Title        *string            `json:"title" rules:"len=1..50"`
		Emoji        schema.Opt[string] `json:"emoji" rules:"len=1..50"`
		Icon         schema.Opt[string] `json:"icon" rules:"len=..2048,pattern=uri"`
		EditMode     *string            `json:"editMode" rules:"enum=editMode"`
		Language     *string            `json:"language" rules:"enum=language"`
		DefaultLevel schema.Opt[string] `json:"defaultLevel" rules:"enum=level"`
		MergeRules   *spaceMergeRules   `json:"mergeRules"`
	} `body:"json"`
}

func (r *updateSpaceRequest) Validate() []schema.Detail {
	var c checker
	if r.Body.Emoji.Value != nil && r.Body.Icon.Value != nil {
		c.add("icon", "must not be given together with an emoji")
	}
	if rules := r.Body.MergeRules; rules != nil {
		checkMergeRuleMembers(&c, *rules.Type, rules.Rules)
	}
	return c.details
}

func (h *spaces) update(ctx context.Context, c *Caller, r *updateSpaceRequest) (schema.Space, error) {
	change := store.SpaceChange{
		Title: r.Body.Title, Emoji: r.Body.Emoji.Value, Icon: r.Body.Icon, EditMode: r.Body.EditMode, Language: r.Body.Language,
		DefaultLevel: r.Body.DefaultLevel,
	}
	// An emoji takes the place of an icon, and without either there is the usual emoji.
	if r.Body.Emoji.Value != nil {
		change.Icon = schema.Opt[string]{Set: true}
	}
	if r.Body.Emoji.Null() {
		usual := defaultSpaceEmoji
		change.Emoji = &usual
	}
	if rules := r.Body.MergeRules; rules != nil {
		encoded, err := storedMergeRules(ctx, h.store, c.Space.Space.OrganizationID, *rules.Type, rules.Rules)
		if err != nil {
			return schema.Space{}, err
		}
		change.MergeRules = encoded
	}
	if _, err := h.store.UpdateSpace(ctx, c.Space.Space.ID, change); err != nil {
		return schema.Space{}, err
	}
	// A new level may change what the caller has there.
	space, err := h.store.Space(ctx, c.Principal.UserID, c.Space.Space.ID)
	if err != nil {
		return schema.Space{}, err
	}
	return h.urls.spaceResource(space), nil
}

func (h *spaces) remove(ctx context.Context, c *Caller, _ *struct{}) (NoContent, error) {
	return NoContent{}, h.store.DeleteSpace(ctx, c.Space.Space.ID)
}

// spaceResource shows a space as the member sees it whose access was read with it.
func (l links) spaceResource(a store.SpaceAccess) schema.Space {
	s := a.Space
	return schema.Space{
		Object: "space", ID: s.ID, Title: s.Title, Emoji: s.Emoji, Visibility: s.Visibility,
		CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(), EditMode: s.EditMode,
		MergeRules: mergeRulesResource(s.MergeRules), URLs: l.space(s), Organization: s.OrganizationID, Parent: schema.Or(s.ParentID, ""),
		Language: schema.Or(s.Language, ""), GitSync: gitSyncState(s), Revision: s.Revision, DefaultLevel: schema.Level(schema.Or(s.DefaultLevel, "")),
		Comments: s.OpenComments, ChangeRequests: int64(s.ChangeRequests),
		ChangeRequestsOpen: int64(s.ChangeRequestsOpen), ChangeRequestsDraft: int64(s.ChangeRequestsDraft),
		Permissions: spacePermissions(contentRights(a.ContentAccess)),
	}
}

// spaceOfSite shows a space to somebody who gets to it through its site. Whoever may not see the space learns its id and
// title; the other members that a space must have say nothing. The time of its creation is in the id already.
func (l links) spaceOfSite(a store.SpaceAccess) schema.Space {
	if contentRights(a.ContentAccess).Has(RightView) {
		return l.spaceResource(a)
	}
	s := a.Space
	return schema.Space{
		Object: "space", ID: s.ID, Title: s.Title, Organization: s.OrganizationID, Emoji: defaultSpaceEmoji,
		Visibility: "private", CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.CreatedAt.UTC(),
		MergeRules: schema.MergeRules{Type: "inherit"}, URLs: l.space(store.Space{ID: s.ID, Visibility: "private"}),
	}
}
