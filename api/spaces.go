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
			Doc:   "Create an empty space.",
			Scope: having(RightCreate, onOrganization), Status: http.StatusCreated,
			BodyLimit: ResourceBodyLimit, Accepts: mediaJSON, Handler: handle(h.create),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/spaces", ID: "listSpacesInOrganizationById", Tag: "spaces",
			Doc:   "List the spaces of an organization that the caller may see.",
			Scope: having(RightAccess, onOrganization), Status: http.StatusOK, Handler: handle(h.list),
		},
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}", ID: "getSpaceById", Tag: "spaces",
			Doc: "Read a space.", Scope: having(RightView, onSpace), Status: http.StatusOK, Handler: handle(h.get),
		},
	}
}

// Defaults of a space that is created without saying more.
const (
	defaultSpaceTitle = "Untitled"
	defaultSpaceEmoji = "1f4d6" // An open book, as the code point that the contract allows.
)

type createSpaceRequest struct {
	Body struct {
		Title    *string `json:"title" rules:"len=..50"`
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
	if r.Body.Parent != nil {
		c.add("parent", "names no collection of this organization")
	}
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
	row, err := h.store.CreateSpace(ctx, store.NewSpace{
		OrganizationID: c.Organization.Organization.ID, Title: or(r.Body.Title, defaultSpaceTitle),
		Emoji: or(r.Body.Emoji, defaultSpaceEmoji), EditMode: or(r.Body.EditMode, "live"), Language: r.Body.Language,
	})
	if err != nil {
		return schema.Space{}, err
	}
	return h.urls.spaceResource(c.Organization.Role)(row), nil
}

type listSpacesRequest struct {
	schema.PageRequest
}

func (h *spaces) list(ctx context.Context, c *Caller, r *listSpacesRequest) (schema.List[schema.Space], error) {
	organization := c.Organization.Organization.ID
	return listPage("spaces "+organization, r.PageRequest,
		func(after string, size int) (store.Page[store.Space], error) {
			return h.store.ListSpaces(ctx, organization, c.Rights.Has(RightAdmin), after, size)
		},
		h.urls.spaceResource(c.Organization.Role), func(s schema.Space) string { return s.ID })
}

func (h *spaces) get(_ context.Context, c *Caller, _ *struct{}) (schema.Space, error) {
	return h.urls.spaceResource(c.Space.Role)(c.Space.Space), nil
}

// spaceResource shows spaces as a member with this role in their organization sees them.
func (l links) spaceResource(role schema.Role) func(store.Space) schema.Space {
	return func(s store.Space) schema.Space {
		return schema.Space{
			Object: "space", ID: s.ID, Title: s.Title, Emoji: s.Emoji, Visibility: s.Visibility,
			CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(), EditMode: s.EditMode,
			MergeRules: schema.MergeRules{Type: "inherit"}, URLs: l.space(s.ID, s.Visibility), Organization: s.OrganizationID,
			Language: or(s.Language, ""), Revision: s.Revision, DefaultLevel: schema.Level(or(s.DefaultLevel, "")),
			Comments: s.OpenComments, ChangeRequests: int64(s.ChangeRequests),
			ChangeRequestsOpen: int64(s.ChangeRequestsOpen), ChangeRequestsDraft: int64(s.ChangeRequestsDraft),
			Permissions: spacePermissions(spaceRights(role, s)),
		}
	}
}
