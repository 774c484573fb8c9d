package content

import (
	"context"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// collections has the operations on collections. The operations on access to collections are in content_access.go.
type collections struct {
	store *store.Store
	view  view.Presenter
}

func collectionOperations(h *collections) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/collections", ID: "listCollectionsInOrganizationById",
			Tag: "collections", Doc: "List the collections of an organization that the caller may see, each before those in it.",
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/collections", ID: "createCollection", Tag: "collections",
			Doc: "Create a collection, at the top or in another collection.",
			// The handler checks the right to create. This right depends on the place where the collection is created.
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: "/collections/{collectionId}", ID: "getCollectionById", Tag: "collections",
			Doc: "Read a collection.", Scope: access.Having(access.RightView, access.OnCollection), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: "/collections/{collectionId}", ID: "updateCollectionById", Tag: "collections",
			Doc: "Change a collection.", Scope: access.Having(access.RightAdmin, access.OnCollection), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: "/collections/{collectionId}", ID: "deleteCollectionById", Tag: "collections",
			Doc:   "Delete a collection. Its content moves up to the parent and keeps the access that the collection gave.",
			Scope: access.Having(access.RightAdmin, access.OnCollection).OrAlreadyGone(), Status: http.StatusNoContent, Handler: frame.Handle(h.remove),
		},
		{
			Method: http.MethodGet, Path: "/collections/{collectionId}/spaces", ID: "listSpacesInCollectionById",
			Tag: "collections", Doc: "List the spaces directly in a collection that the caller may see, in their order.",
			Scope: access.Having(access.RightView, access.OnCollection), Status: http.StatusOK, Handler: frame.Handle(h.listSpaces),
		},
		{
			Method: http.MethodPost, Path: "/collections/{collectionId}/move", ID: "moveCollection", Tag: "collections",
			Doc:   "Put a collection, with all that is in it, to another place in its organization.",
			Scope: access.Having(access.RightAdmin, access.OnCollection), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.move),
		},
		{
			Method: http.MethodPost, Path: "/collections/{collectionId}/transfer", ID: "transferCollection", Tag: "collections",
			Doc:   "Give a collection, with all that is in it, to another organization.",
			Scope: access.Having(access.RightAdmin, access.OnCollection), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.transfer),
		},
	}
}

// requireParent requires the right to create in a collection of the scope's organization. If `parent` is nil, it
// requires the right to create at the top level of the organization. It returns the access that the caller has there.
func requireParent(
	ctx context.Context, c *access.Caller, st *store.Store, parent *string,
) (postgres.ContentAccess, error) {
	if parent == nil {
		top := postgres.ContentAccess{Role: c.Organization.Role, Level: schema.LevelInherit}
		return top, c.Require(access.RightCreate, "organization")
	}
	unknown := schema.Invalid("parent", "names no collection of this organization")
	if !schema.ValidID(*parent) {
		return postgres.ContentAccess{}, unknown
	}
	in, err := st.Collection(ctx, c.Principal.UserID, *parent)
	if err != nil && !schema.IsCode(err, schema.CodeNotFound) {
		return postgres.ContentAccess{}, err
	}
	rights := access.ContentRights(in.ContentAccess)
	if err != nil || in.Collection.OrganizationID != c.Organization.Organization.ID || !rights.Has(access.RightView) {
		return postgres.ContentAccess{}, unknown
	}
	return in.ContentAccess, rights.Require(access.RightCreate, "collection")
}

const defaultCollectionTitle = "Untitled"

type createCollectionRequest struct {
	Body struct {
		Title  *string `json:"title" rules:"len=1..50"`
		Parent *string `json:"parent"`
	} `body:"json,optional"`
}

func (h *collections) create(ctx context.Context, c *access.Caller, r *createCollectionRequest) (schema.Collection, error) {
	found, err := requireParent(ctx, c, h.store, r.Body.Parent)
	if err != nil {
		return schema.Collection{}, err
	}
	row, err := h.store.CreateCollection(ctx, store.NewCollection{
		OrganizationID: c.Organization.Organization.ID, ParentID: r.Body.Parent, Title: schema.Or(r.Body.Title, defaultCollectionTitle),
	})
	if err != nil {
		return schema.Collection{}, err
	}
	// The collection inherits its level. So the caller has the same access to the collection as to its parent.
	return h.view.Collection(store.CollectionAccess{Collection: row, ContentAccess: found}), nil
}

type listCollectionsRequest struct {
	schema.PageRequest
	Nested *bool `query:"nested" rules:"default=true"`
}

func (h *collections) list(
	ctx context.Context, c *access.Caller, r *listCollectionsRequest,
) (schema.List[schema.Collection], error) {
	organization, nested := c.Organization.Organization.ID, schema.Or(r.Nested, true)
	return frame.ListKeyed(ctx, fmt.Sprintf("collections %s %t", organization, nested), r.PageRequest, 3,
		func(after []string, size int) (postgres.Page[store.CollectionAccess], error) {
			place, err := store.ParseCollectionCursor(after)
			if err != nil {
				return postgres.Page[store.CollectionAccess]{}, err
			}
			return h.store.ListCollections(ctx, c.Viewer(), organization, nested, place, size)
		},
		h.view.Collection, func(row store.CollectionAccess) []string {
			return store.CollectionCursor{
				Depth: row.Collection.Depth, Cursor: postgres.Cursor[int64]{
					Key: row.Collection.Position, ID: row.Collection.ID,
				},
			}.Keys()
		})
}

func (h *collections) get(_ context.Context, c *access.Caller, _ *struct{}) (schema.Collection, error) {
	return h.view.Collection(*c.Collection), nil
}

type updateCollectionRequest struct {
	Body struct {
		Title        *string            `json:"title" rules:"len=1..50"`
		Description  *string            `json:"description" rules:"len=..100"`
		DefaultLevel schema.Opt[string] `json:"defaultLevel" rules:"enum=level"`
	} `body:"json"`
}

func (h *collections) update(ctx context.Context, c *access.Caller, r *updateCollectionRequest) (schema.Collection, error) {
	_, err := h.store.UpdateCollection(ctx, c.Collection.Collection.ID, store.CollectionChange{
		Title: r.Body.Title, Description: r.Body.Description, DefaultLevel: r.Body.DefaultLevel,
	})
	if err != nil {
		return schema.Collection{}, err
	}
	return h.read(ctx, c)
}

// read reads the collection again after a change. The change may have removed the caller's own access. The permissions
// in the response then show this, and later requests of the caller do not find the collection.
func (h *collections) read(ctx context.Context, c *access.Caller) (schema.Collection, error) {
	found, err := h.store.Collection(ctx, c.Principal.UserID, c.Collection.Collection.ID)
	if err != nil {
		return schema.Collection{}, err
	}
	return h.view.Collection(found), nil
}

func (h *collections) remove(ctx context.Context, c *access.Caller, _ *struct{}) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.DeleteCollection(ctx, c.Collection.Collection.OrganizationID, c.Collection.Collection.ID)
}

func (h *collections) listSpaces(ctx context.Context, c *access.Caller, r *schema.PageRequest) (schema.List[schema.Space], error) {
	return frame.ListMade(ctx, "spaces in "+c.Collection.Collection.ID, *r, 2,
		func(after []string, size int) (postgres.Page[store.PlacedSpace], error) {
			place, err := postgres.ParseCursor[int64](after)
			if err != nil {
				return postgres.Page[store.PlacedSpace]{}, err
			}
			return h.store.ListSpacesInCollection(ctx, c.Principal.UserID, *c.Collection, place, size)
		},
		h.view.Space, func(row store.PlacedSpace) []string {
			return postgres.Cursor[int64]{Key: row.Space.Position, ID: row.Space.ID}.Keys()
		})
}
