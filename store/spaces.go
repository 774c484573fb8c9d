package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// SpaceAccess is a space as a member of its organization sees it.
type SpaceAccess struct {
	Space Space
	Role  schema.Role
}

// NewSpace is what a space is made of.
type NewSpace struct {
	OrganizationID string
	Title          string
	Emoji          string
	EditMode       string
	Language       *string
}

// CreateSpace adds a space whose first revision is empty.
func (s *Store) CreateSpace(ctx context.Context, space NewSpace) (Space, error) {
	var row Space
	err := s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		row, err = q.InsertSpace(ctx, db.InsertSpaceParams{
			ID: schema.NewID(), OrganizationID: space.OrganizationID, Title: space.Title, Emoji: space.Emoji,
			EditMode: space.EditMode, Language: space.Language, Revision: schema.NewID(),
		})
		if err != nil {
			return interpret(err, "space")
		}
		err = q.InsertRevision(ctx, db.InsertRevisionParams{
			ID: row.Revision, SpaceID: row.ID, Type: "edits", Parents: []string{}, Pages: []byte("[]"), Files: []byte("[]"),
		})
		return interpret(err, "revision")
	})
	return row, err
}

// Space reads a space of an organization that the user is in; any other is not found.
func (s *Store) Space(ctx context.Context, userID, spaceID string) (SpaceAccess, error) {
	row, err := s.queries.SpaceForUser(ctx, db.SpaceForUserParams{SpaceID: spaceID, UserID: userID})
	if err != nil {
		return SpaceAccess{}, interpret(err, "space")
	}
	return SpaceAccess{Space: row.Space, Role: schema.RoleFromNullable(row.Role)}, nil
}

// ListSpaces lists an organization's spaces in the order they were made, after the id `after`. Spaces that give members no
// access are in the list only if hiddenToo, which is for those who see everything anyway.
func (s *Store) ListSpaces(
	ctx context.Context, organizationID string, hiddenToo bool, after string, size int,
) (Page[Space], error) {
	total, err := s.queries.CountSpaces(ctx, db.CountSpacesParams{OrganizationID: organizationID, HiddenToo: hiddenToo})
	if err != nil {
		return Page[Space]{}, interpret(err, "spaces")
	}
	rows, err := s.queries.ListSpaces(ctx, db.ListSpacesParams{
		OrganizationID: organizationID, HiddenToo: hiddenToo, After: after, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[Space]{}, interpret(err, "spaces")
	}
	return pageOf(rows, size, total), nil
}

// SpacesByID reads those of the spaces that are the organization's, by their ids.
func (s *Store) SpacesByID(ctx context.Context, organizationID string, ids []string) (map[string]Space, error) {
	rows, err := s.queries.SpacesByID(ctx, db.SpacesByIDParams{OrganizationID: organizationID, Ids: ids})
	spaces := make(map[string]Space, len(rows))
	for _, row := range rows {
		spaces[row.ID] = row
	}
	return spaces, interpret(err, "spaces")
}
