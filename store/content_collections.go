package store

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Collection is a row of the table collections.
type Collection = db.Collection

// kindCollection is the type of a collection in the view placed_content and in requests of the API.
const kindCollection = "collection"

// MaxNesting is the largest depth of nested collections. Recursive queries stop at this depth.
const MaxNesting = 16

// CollectionAccess has a collection, and the access that a member of its organization has to it.
type CollectionAccess struct {
	Collection Collection
	postgres.ContentAccess
}

// NewCollection has the values of a new collection. ParentID is nil for a collection at the top.
type NewCollection struct {
	OrganizationID string
	ParentID       *string
	Title          string
}

// CreateCollection adds a collection at the end of its parent. The parent must be in the same organization.
func (s *Store) CreateCollection(ctx context.Context, collection NewCollection) (Collection, error) {
	var row Collection
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		position, err := takePlace(ctx, q, collection.OrganizationID, collection.ParentID, 1)
		if err != nil {
			return err
		}
		row, err = q.InsertCollection(ctx, db.InsertCollectionParams{
			ID: schema.NewID(), OrganizationID: collection.OrganizationID, ParentID: collection.ParentID,
			Title: collection.Title, Position: position,
		})
		if err != nil {
			return postgres.Interpret(err, "collection")
		}
		return s.db.Within(ctx, q, postgres.QuotaCollections, collection.OrganizationID)
	})
	return row, err
}

// Collection reads a collection. It returns not_found if the user is not in the collection's organization.
func (s *Store) Collection(ctx context.Context, userID, collectionID string) (CollectionAccess, error) {
	row, err := s.db.Queries.CollectionForUser(ctx, db.CollectionForUserParams{
		CollectionID: collectionID, UserID: userID,
	})
	if err != nil {
		return CollectionAccess{}, postgres.Interpret(err, "collection")
	}
	return CollectionAccess{
		Collection: row.Collection, ContentAccess: postgres.AccessOf(row.Role, row.Level, row.GrantRank),
	}, nil
}

// CollectionCursor is the place after which a list of collections continues: the depth of nesting, and the position at
// this depth.
type CollectionCursor struct {
	Depth int32
	postgres.Cursor[int64]
}

// Keys returns the cursor as the sort keys of a page token.
func (c CollectionCursor) Keys() []string {
	return append([]string{strconv.FormatInt(int64(c.Depth), 10)}, c.Cursor.Keys()...)
}

// ParseCollectionCursor reads the sort keys of a page token. For the first page, `keys` and the result are nil.
func ParseCollectionCursor(keys []string) (*CollectionCursor, error) {
	if keys == nil {
		return nil, nil // The first page has no cursor.
	}
	depth, err := strconv.ParseInt(keys[0], 10, 32)
	if err != nil {
		return nil, schema.Invalid("page", "is not a page of this list")
	}
	place, err := postgres.ParseCursor[int64](keys[1:])
	if err != nil {
		return nil, err
	}
	return &CollectionCursor{int32(depth), *place}, nil
}

// ListCollections lists the collections of an organization that the viewer may see, parents before their children. If
// `nested` is false, it lists only the collections at the top.
func (s *Store) ListCollections(
	ctx context.Context, viewer postgres.Viewer, organizationID string, nested bool, after *CollectionCursor, size int,
) (postgres.Page[CollectionAccess], error) {
	role := viewer.Role.Nullable()
	total, err := s.db.Planned.CountCollections(ctx, db.CountCollectionsParams{
		UserID: viewer.UserID, OrganizationID: organizationID, Role: role, Nested: nested,
	})
	if err != nil {
		return postgres.Page[CollectionAccess]{}, postgres.Interpret(err, "collections")
	}
	var from CollectionCursor
	if after != nil {
		from = *after
	}
	rows, err := s.db.Planned.ListCollections(ctx, db.ListCollectionsParams{
		UserID: viewer.UserID, OrganizationID: organizationID, Role: role, Nested: nested,
		AfterDepth: from.Depth, AfterPosition: from.Key, After: from.ID, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[CollectionAccess]{}, postgres.Interpret(err, "collections")
	}
	collections := make([]CollectionAccess, len(rows))
	for i, row := range rows {
		collections[i] = CollectionAccess{
			Collection: row.Collection, ContentAccess: postgres.AccessOf(role, row.Level, row.GrantRank),
		}
	}
	return postgres.PageOf(collections, size, total), nil
}

// CollectionChange has the new values of a collection. Nil and unset fields leave the value unchanged.
type CollectionChange struct {
	Title        *string
	Description  *string
	DefaultLevel schema.Opt[string]
}

// UpdateCollection changes the fields of a collection. Its content does not change.
func (s *Store) UpdateCollection(ctx context.Context, id string, change CollectionChange) (Collection, error) {
	row, err := s.db.Queries.UpdateCollection(ctx, db.UpdateCollectionParams{
		ID: id, Title: change.Title, Description: change.Description,
		SetLevel: change.DefaultLevel.Set, DefaultLevel: change.DefaultLevel.Value,
	})
	return row, postgres.Interpret(err, "collection")
}

// DeleteCollection deletes a collection but not its content. The content moves to the collection's place in the parent.
// The content gets the collection's level and grants, so that nobody's access changes. If the collection does not
// exist, DeleteCollection succeeds.
func (s *Store) DeleteCollection(ctx context.Context, organizationID, id string) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err := lockCollection(ctx, q, organizationID, id)
		if schema.IsCode(err, schema.CodeNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := q.LiftAccess(ctx, id); err != nil {
			return postgres.Interpret(err, "collection")
		}
		if err := liftContent(ctx, q, row); err != nil {
			return err
		}
		return postgres.Interpret(q.DeleteCollection(ctx, id), "collection")
	})
}

// liftContent moves the content of a collection to the collection's place in its parent.
func liftContent(ctx context.Context, q *db.Queries, row Collection) error {
	others, err := contentIn(ctx, q, row.OrganizationID, row.ParentID, nil)
	if err != nil {
		return err
	}
	inside, err := contentIn(ctx, q, row.OrganizationID, &row.ID, nil)
	if err != nil {
		return err
	}
	at := others.Index(schema.ItemPointer{Type: kindCollection, ID: row.ID})
	positions, err := others.MakeRoom(ctx, q, at, len(inside))
	if err != nil {
		return err
	}
	if err := q.LiftContent(ctx, db.LiftContentParams{ID: row.ID, ParentID: row.ParentID}); err != nil {
		return postgres.Interpret(err, "collection")
	}
	return inside.MoveTo(ctx, q, positions)
}

// lockCollection locks the organization, so that its structure does not change, and reads one of its collections.
func lockCollection(ctx context.Context, q *db.Queries, organizationID, id string) (Collection, error) {
	if _, err := q.LockOrganization(ctx, organizationID); err != nil {
		return Collection{}, postgres.Interpret(err, "organization")
	}
	row, err := q.CollectionInOrganization(ctx, db.CollectionInOrganizationParams{ID: id, OrganizationID: organizationID})
	return row, postgres.Interpret(err, "collection")
}
