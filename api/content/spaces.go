package content

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/mergerules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// spaces has the operations on spaces. The operations on the content of spaces are in other files.
type spaces struct {
	store *store.Store
	view  view.Presenter
}

func spaceOperations(h *spaces) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/spaces", ID: "createSpace", Tag: "spaces",
			Doc: "Create an empty space.",
			// The handler checks the right to create. This right depends on the place where the space is created.
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/spaces", ID: "listSpacesInOrganizationById", Tag: "spaces",
			Doc:   "List the spaces of an organization that the caller may see.",
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}", ID: "getSpaceById", Tag: "spaces",
			Doc: "Read a space.", Scope: access.Having(access.RightView, access.OnSpace).OrReaders().OrInstallation(schema.ScopeSpaceMetadataRead), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: "/spaces/{spaceId}", ID: "updateSpaceById", Tag: "spaces",
			Doc: "Change a space's settings. gitTrusted, an addition to the published contract, lists the " +
				"branches whose imports pass by " +
				"the merge rules.",
			Scope: access.Having(access.RightAdmin, access.OnSpace).
				OrInstallation(schema.ScopeSpaceMetadataWrite, "title", "emoji", "icon", "language"),
			Status:    http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: "/spaces/{spaceId}", ID: "deleteSpaceById", Tag: "spaces",
			Doc:   "Delete a space with its content; it leaves the sites that it is part of.",
			Scope: access.Having(access.RightAdmin, access.OnSpace).OrAlreadyGone(), Status: http.StatusNoContent, Handler: frame.Handle(h.remove),
		},
	}
}

const defaultSpaceTitle = "Untitled"

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
	var c rules.Checker
	if r.Body.Empty != nil && !*r.Body.Empty {
		c.Add("empty", "has no value that is allowed", "true")
	}
	// A template is refused. If the template were ignored, the caller would get an empty space that was not requested.
	if r.Body.Template != nil {
		c.Add("template.id", "names no template")
	}
	if r.Body.ComputedSource != nil {
		c.Add("computedSource", "is not offered: spaces hold their own content")
	}
	return c.Details
}

func (h *spaces) create(ctx context.Context, c *access.Caller, r *createSpaceRequest) (schema.Space, error) {
	found, err := requireParent(ctx, c, h.store, r.Body.Parent)
	if err != nil {
		return schema.Space{}, err
	}
	row, err := h.store.CreateSpace(ctx, store.NewSpace{
		OrganizationID: c.Organization.Organization.ID, ParentID: r.Body.Parent, Title: schema.Or(r.Body.Title, defaultSpaceTitle),
		Emoji: schema.Or(r.Body.Emoji, view.DefaultSpaceEmoji), EditMode: schema.Or(r.Body.EditMode, "live"), Language: r.Body.Language,
	})
	if err != nil {
		return schema.Space{}, err
	}
	// The space inherits its level. So the caller has the same access to the space as to its parent.
	return h.view.Space(store.PlacedSpace{SpaceAccess: store.SpaceAccess{Space: row, ContentAccess: found}})
}

func (h *spaces) list(ctx context.Context, c *access.Caller, r *schema.PageRequest) (schema.List[schema.Space], error) {
	organization := c.Organization.Organization.ID
	return frame.ListMadePage(ctx, "spaces "+organization, *r,
		func(after string, size int) (postgres.Page[store.PlacedSpace], error) {
			return h.store.ListSpaces(ctx, c.Viewer(), organization, after, size)
		},
		h.view.Space, func(row store.PlacedSpace) string { return row.Space.ID })
}

func (h *spaces) get(ctx context.Context, c *access.Caller, _ *struct{}) (schema.Space, error) {
	space, err := placed(ctx, h.store, c)
	if err != nil {
		return schema.Space{}, err
	}
	return h.view.Space(space)
}

// placed returns the caller's space with the places where it is published. A reader sees only the place on the reader's
// own site.
func placed(ctx context.Context, s *store.Store, c *access.Caller) (store.PlacedSpace, error) {
	if c.Reader != nil {
		return store.PlacedSpace{SpaceAccess: *c.Space, Place: c.Reader.Place(c.Space.Space.ID)}, nil
	}
	return s.PlaceSpace(ctx, *c.Space)
}

type updateSpaceRequest struct {
	Body struct {
		Title        *string                     `json:"title" rules:"len=1..50"`
		Emoji        schema.Opt[string]          `json:"emoji" rules:"len=1..50"`
		Icon         schema.Opt[string]          `json:"icon" rules:"len=..2048,pattern=uri"`
		EditMode     *string                     `json:"editMode" rules:"enum=editMode"`
		Language     *string                     `json:"language" rules:"enum=language"`
		DefaultLevel schema.Opt[string]          `json:"defaultLevel" rules:"enum=level"`
		MergeRules   *mergerules.SpaceMergeRules `json:"mergeRules"`
		// GitTrusted replaces the list of trusted branches.
		GitTrusted []trustedGitBranch `json:"gitTrusted" rules:"len=..20"`
	} `body:"json"`
}

// trustedGitBranch is a branch whose imports need not meet the merge rules. If a folder is set, only imports of this
// folder bypass the rules.
type trustedGitBranch struct {
	URL                  *string `json:"url" rules:"required,len=..2048,pattern=uri"`
	Ref                  *string `json:"ref" rules:"required,len=..1024,pattern=gitRef"`
	RepoProjectDirectory *string `json:"repoProjectDirectory" rules:"len=..1024"`
}

func (r *updateSpaceRequest) Validate() []schema.Detail {
	var c rules.Checker
	if r.Body.Emoji.Value != nil && r.Body.Icon.Value != nil {
		c.Add("icon", "must not be given together with an emoji")
	}
	if rules := r.Body.MergeRules; rules != nil {
		mergerules.Check(&c, *rules.Type, rules.Rules)
	}
	return c.Details
}

func (h *spaces) update(ctx context.Context, c *access.Caller, r *updateSpaceRequest) (schema.Space, error) {
	change := store.SpaceChange{
		Title: r.Body.Title, Emoji: r.Body.Emoji.Value, Icon: r.Body.Icon, EditMode: r.Body.EditMode, Language: r.Body.Language,
		DefaultLevel: r.Body.DefaultLevel,
	}
	// An emoji replaces the icon. A space without an emoji and without an icon shows the default emoji.
	if r.Body.Emoji.Value != nil {
		change.Icon = schema.Opt[string]{Set: true}
	}
	if r.Body.Emoji.Null() {
		usual := view.DefaultSpaceEmoji
		change.Emoji = &usual
	}
	if rules := r.Body.MergeRules; rules != nil {
		encoded, err := mergerules.Encode(
			ctx, h.store, c.Space.Space.OrganizationID, c.Space.Space.MergeRules, *rules.Type, rules.Rules)
		if err != nil {
			return schema.Space{}, err
		}
		change.MergeRules = encoded
	}
	if r.Body.GitTrusted != nil {
		trusted := make([]schema.GitBranch, len(r.Body.GitTrusted))
		for i, b := range r.Body.GitTrusted {
			trusted[i] = schema.GitBranch{URL: *b.URL, Ref: *b.Ref, RepoProjectDirectory: b.RepoProjectDirectory}
		}
		encoded, err := json.Marshal(trusted)
		if err != nil {
			return schema.Space{}, schema.Internal(err)
		}
		change.GitTrusted = encoded
	}
	if _, err := h.store.UpdateSpace(ctx, c.Space.Space.ID, change); err != nil {
		return schema.Space{}, err
	}
	space, err := h.reread(ctx, c)
	if err != nil {
		return schema.Space{}, err
	}
	placed, err := h.store.PlaceSpace(ctx, space)
	if err != nil {
		return schema.Space{}, err
	}
	return h.view.Space(placed)
}

// reread reads the space again, because a new level may have changed the caller's access.
func (h *spaces) reread(ctx context.Context, c *access.Caller) (store.SpaceAccess, error) {
	if c.Principal.Kind == schema.TokenInstallation { // an installation has no role in the space
		space, err := h.store.SpaceByID(ctx, c.Space.Space.ID)
		return store.SpaceAccess{Space: space, ContentAccess: c.Space.ContentAccess}, err
	}
	return h.store.Space(ctx, c.Principal.UserID, c.Space.Space.ID)
}

func (h *spaces) remove(ctx context.Context, c *access.Caller, _ *struct{}) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.DeleteSpace(ctx, c.Space.Space.ID)
}
