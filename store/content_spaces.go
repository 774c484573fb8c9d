package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// SpaceAccess has a space, and the access that a member of its organization has to it.
type SpaceAccess struct {
	Space Space
	postgres.ContentAccess
}

// NewSpace has the values of a new space.
type NewSpace struct {
	OrganizationID string
	// ParentID is the collection that contains the new space. nil means that the space is at the top. The collection
	// must be in the organization.
	ParentID *string
	Title    string
	Emoji    string
	EditMode string
	Language *string
}

// CreateSpace adds a space at the end of its parent. The space's first revision is empty.
func (s *Store) CreateSpace(ctx context.Context, space NewSpace) (Space, error) {
	var row Space
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		position, err := takePlace(ctx, q, space.OrganizationID, space.ParentID, 0)
		if err != nil {
			return err
		}
		row, err = q.InsertSpace(ctx, db.InsertSpaceParams{
			ID: schema.NewID(), OrganizationID: space.OrganizationID, ParentID: space.ParentID, Position: position,
			Title: space.Title, Emoji: space.Emoji, EditMode: space.EditMode, Language: space.Language, Revision: schema.NewID(),
		})
		if err != nil {
			return postgres.Interpret(err, "space")
		}
		err = q.InsertRevision(ctx, db.InsertRevisionParams{
			ID: row.Revision, SpaceID: row.ID, Branch: row.ID, Seq: 1, Type: RevisionEdits, Parents: []string{},
		})
		if err != nil {
			return postgres.Interpret(err, "revision")
		}
		return s.db.Within(ctx, q, postgres.QuotaSpaces, space.OrganizationID)
	})
	return row, err
}

// Space reads a space. It returns not_found if the user is not in the space's organization.
func (s *Store) Space(ctx context.Context, userID, spaceID string) (SpaceAccess, error) {
	spaces, err := s.SpacesByID(ctx, userID, []string{spaceID})
	if err != nil {
		return SpaceAccess{}, err
	}
	space, ok := spaces[spaceID]
	if !ok {
		return SpaceAccess{}, schema.NotFound("space")
	}
	return space, nil
}

// SpacesByID returns spaces by id. It leaves out spaces of organizations in which the user is not a member. For each
// returned space, api.RightsOf decides whether the user may see and change the space.
func (s *Store) SpacesByID(ctx context.Context, userID string, ids []string) (map[string]SpaceAccess, error) {
	rows, err := s.db.Queries.SpacesForUser(ctx, db.SpacesForUserParams{UserID: userID, Ids: ids})
	if err != nil {
		return nil, postgres.Interpret(err, "spaces")
	}
	spaces := make(map[string]SpaceAccess, len(rows))
	for _, row := range rows {
		spaces[row.Space.ID] = SpaceAccess{
			Space: row.Space, ContentAccess: postgres.AccessOf(row.Role, row.Level, row.GrantRank),
		}
	}
	return spaces, nil
}

// AccessToSpace returns the access of users to a space, by user id. It leaves out users outside of the space's
// organization.
func (s *Store) AccessToSpace(
	ctx context.Context, spaceID string, users []string,
) (map[string]postgres.ContentAccess, error) {
	rows, err := s.db.Queries.AccessOfUsers(ctx, db.AccessOfUsersParams{SpaceID: spaceID, Users: users})
	if err != nil {
		return nil, postgres.Interpret(err, "space")
	}
	access := make(map[string]postgres.ContentAccess, len(rows))
	for _, row := range rows {
		access[row.UserID] = postgres.AccessOf(row.Role, row.Level, row.GrantRank)
	}
	return access, nil
}

// ListSpaces lists the spaces of an organization that the viewer may see, the oldest first. The list continues after
// the id `after`.
func (s *Store) ListSpaces(
	ctx context.Context, viewer postgres.Viewer, organizationID, after string, size int,
) (postgres.Page[PlacedSpace], error) {
	role := viewer.Role.Nullable()
	total, err := s.db.Planned.CountSpaces(ctx, db.CountSpacesParams{
		UserID: viewer.UserID, OrganizationID: organizationID, Role: role,
	})
	if err != nil {
		return postgres.Page[PlacedSpace]{}, postgres.Interpret(err, "spaces")
	}
	rows, err := s.db.Planned.ListSpaces(ctx, db.ListSpacesParams{
		UserID: viewer.UserID, OrganizationID: organizationID, Role: role, After: after,
		PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[PlacedSpace]{}, postgres.Interpret(err, "spaces")
	}
	spaces := make([]SpaceAccess, len(rows))
	for i, row := range rows {
		spaces[i] = SpaceAccess{Space: row.Space, ContentAccess: postgres.AccessOf(role, row.Level, row.GrantRank)}
	}
	placed, err := s.place(ctx, spaces)
	return postgres.PageOf(placed, size, total), err
}

// ListSpacesInCollection lists the spaces directly in a collection that the user may see, in the order of the
// collection.
func (s *Store) ListSpacesInCollection(
	ctx context.Context, userID string, in CollectionAccess, after *postgres.Cursor[int64], size int,
) (postgres.Page[PlacedSpace], error) {
	// a rank is at most 6, so it fits into 32 bits
	role, level, grant := in.Role.Nullable(), string(in.Level), int32(in.Grant.Rank())
	organization, from := in.Collection.OrganizationID, after.OrFirst(0)
	total, err := s.db.Queries.CountSpacesInCollection(ctx, db.CountSpacesInCollectionParams{
		CollectionID: in.Collection.ID, UserID: userID, OrganizationID: organization, Role: role, Level: level, GrantRank: grant,
	})
	if err != nil {
		return postgres.Page[PlacedSpace]{}, postgres.Interpret(err, "spaces")
	}
	rows, err := s.db.Queries.ListSpacesInCollection(ctx, db.ListSpacesInCollectionParams{
		CollectionID: in.Collection.ID, UserID: userID, OrganizationID: organization, Role: role, Level: level, GrantRank: grant,
		AfterPosition: from.Key, After: from.ID, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[PlacedSpace]{}, postgres.Interpret(err, "spaces")
	}
	spaces := make([]SpaceAccess, len(rows))
	for i, row := range rows {
		spaces[i] = SpaceAccess{Space: row.Space, ContentAccess: postgres.AccessOf(role, row.Level, row.GrantRank)}
	}
	placed, err := s.place(ctx, spaces)
	return postgres.PageOf(placed, size, total), err
}

// SpaceChange has the new values of a space. Nil and unset fields leave the value unchanged.
type SpaceChange struct {
	Title        *string
	Emoji        *string
	Icon         schema.Opt[string]
	EditMode     *string
	Language     *string
	DefaultLevel schema.Opt[string]
	// MergeRules and GitTrusted are JSON.
	MergeRules []byte
	GitTrusted []byte
}

// UpdateSpace changes the fields of a space. Its content does not change. If the language changes, UpdateSpace enqueues
// a job that updates the space's search index.
func (s *Store) UpdateSpace(ctx context.Context, id string, change SpaceChange) (Space, error) {
	update := func(q *db.Queries) (Space, error) {
		row, err := q.UpdateSpace(ctx, db.UpdateSpaceParams{
			ID: id, Title: change.Title, Emoji: change.Emoji, SetIcon: change.Icon.Set, Icon: change.Icon.Value,
			EditMode: change.EditMode, Language: change.Language,
			SetLevel: change.DefaultLevel.Set, DefaultLevel: change.DefaultLevel.Value,
			MergeRules: change.MergeRules, GitTrusted: change.GitTrusted,
		})
		return row, postgres.Interpret(err, "space")
	}
	if change.Language == nil {
		return update(s.db.Queries)
	}
	var row Space
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		if row, err = update(q); err != nil {
			return err
		}
		// The index has the stems of words, and stems depend on the language.
		return postgres.Enqueue(ctx, q, schema.IndexSpace{Organization: row.OrganizationID, Space: row.ID})
	})
	return row, err
}

// DeleteSpace deletes a space, and removes it from its sites. If the space does not exist, DeleteSpace succeeds. The
// content can no longer be read, and PurgeContent deletes it later.
//
// The space's site spaces are also deleted, which changes the structure of their sites. All writers of a site's
// structure, including DeleteSpace, lock the site before its rows. A writer with another order could deadlock. If
// another site adds the space before the space is locked, DeleteSpace starts again.
func (s *Store) DeleteSpace(ctx context.Context, id string) error {
	for gone := false; !gone; {
		err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
			sites, err := q.LockSitesOfSpace(ctx, id)
			if err != nil {
				return postgres.Interpret(err, "site")
			}
			if _, err := q.LockSpaceToDelete(ctx, id); err != nil {
				return postgres.Interpret(err, "space")
			}
			more, err := q.InOtherSites(ctx, db.InOtherSitesParams{SpaceID: id, Sites: sites})
			if err != nil || more {
				return postgres.Interpret(err, "site spaces")
			}
			gone = true
			return postgres.Interpret(q.DeleteSpace(ctx, id), "space")
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// SpaceByID reads a space without checking rights. The caller must have checked them, for example by a signed URL.
func (s *Store) SpaceByID(ctx context.Context, spaceID string) (Space, error) {
	row, err := s.db.Queries.SpaceByID(ctx, spaceID)
	return row, postgres.Interpret(err, "space")
}

// PlacedSpace is a space with its place in a published site. Place is nil if no published site has the space.
type PlacedSpace struct {
	SpaceAccess
	Place *sites.SpacePlace
}

// PlaceSpace returns a space with its place.
func (s *Store) PlaceSpace(ctx context.Context, space SpaceAccess) (PlacedSpace, error) {
	placed, err := s.place(ctx, []SpaceAccess{space})
	return placed[0], err
}

// place returns spaces with their places.
func (s *Store) place(ctx context.Context, spaces []SpaceAccess) ([]PlacedSpace, error) {
	ids := make([]string, len(spaces))
	for i, space := range spaces {
		ids[i] = space.Space.ID
	}
	places, err := s.Sites.PlacesOfSpaces(ctx, ids...)
	placed := make([]PlacedSpace, len(spaces))
	for i, space := range spaces {
		placed[i] = PlacedSpace{space, places[space.Space.ID]}
	}
	return placed, err
}
