package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Neighbor is a space or a collection next to which an item is placed. Field is the name of the request body's field
// that names the neighbor.
type Neighbor struct {
	Type  string // "space" or "collection".
	ID    string
	Field string
}

func (n *Neighbor) pointer() *schema.ItemPointer {
	if n == nil {
		return nil
	}
	return &schema.ItemPointer{Type: n.Type, ID: n.ID}
}

// Move is the new place of a collection. If SetParent is false, the collection stays in its parent. If Before and After
// are nil, the collection becomes the last item.
type Move struct {
	SetParent bool
	// ParentID is nil for the top level. The parent must be in the same organization.
	ParentID *string
	Before   *Neighbor
	After    *Neighbor
}

// contentIn reads the items directly in a collection, in order. If parentID is nil, it reads the items at the top. If
// `most` is set, it reads only the last `most` items.
func contentIn(
	ctx context.Context, q *db.Queries, organizationID string, parentID *string, most *int32,
) (postgres.Siblings, error) {
	rows, err := q.ContentSiblings(ctx, db.ContentSiblingsParams{OrganizationID: organizationID, ParentID: parentID, Most: most})
	content := make(postgres.Siblings, len(rows))
	for i, row := range rows {
		content[len(rows)-1-i] = postgres.Sibling{
			ItemPointer: schema.ItemPointer{Type: row.Type, ID: row.ID}, Position: row.Position,
		}
	}
	return content, postgres.Interpret(err, "collection")
}

// behindContent returns a position after all items of the parent. It reads all items only if there is no room after the
// last item.
func behindContent(ctx context.Context, q *db.Queries, organizationID string, parentID *string) (int64, error) {
	one := int32(1)
	content, err := contentIn(ctx, q, organizationID, parentID, &one)
	if err != nil {
		return 0, err
	}
	if positions, fits := content.Room(len(content), 1); fits {
		return positions[0], nil
	}
	if content, err = contentIn(ctx, q, organizationID, parentID, nil); err != nil {
		return 0, err
	}
	return content.MakePlace(ctx, q, len(content))
}

// takePlace locks the organization and returns a position at the end of the parent. `levels` is the number of levels
// of collections that the item adds. If the nesting would be too deep, takePlace returns an error.
func takePlace(ctx context.Context, q *db.Queries, organizationID string, parentID *string, levels int) (int64, error) {
	if _, err := q.LockOrganization(ctx, organizationID); err != nil {
		return 0, postgres.Interpret(err, "organization")
	}
	if parentID != nil {
		path, err := collectionPath(ctx, q, organizationID, *parentID)
		if err != nil {
			return 0, err
		}
		if err := checkNesting(len(path) + levels); err != nil {
			return 0, err
		}
	}
	return behindContent(ctx, q, organizationID, parentID)
}

// collectionPath returns the ids of a collection of the organization and of all collections above it, up to the top.
func collectionPath(ctx context.Context, q *db.Queries, organizationID, id string) ([]string, error) {
	_, err := q.CollectionInOrganization(ctx, db.CollectionInOrganizationParams{ID: id, OrganizationID: organizationID})
	if err != nil {
		return nil, postgres.Interpret(err, "collection")
	}
	path, err := q.ContentPath(ctx, id)
	return path, postgres.Interpret(err, "collection")
}

func checkNesting(depth int) error {
	if depth > MaxNesting {
		return schema.Invalid("parent", "would nest collections more than 16 deep")
	}
	return nil
}

// MoveCollection moves a collection with everything in it to another place in its organization.
func (s *Store) MoveCollection(ctx context.Context, organizationID, id string, move Move) (Collection, error) {
	var row Collection
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		was, err := lockCollection(ctx, q, organizationID, id)
		if err != nil {
			return err
		}
		parent := was.ParentID
		if move.SetParent {
			parent = move.ParentID
		}
		if parent != nil {
			if err := checkParent(ctx, q, organizationID, id, *parent); err != nil {
				return err
			}
		}
		row, err = place(ctx, q, was, parent, move)
		return err
	})
	return row, err
}

// checkParent returns an error if the move of a collection to a parent would create a cycle or nest collections too
// deep.
func checkParent(ctx context.Context, q *db.Queries, organizationID, id, parentID string) error {
	path, err := collectionPath(ctx, q, organizationID, parentID)
	if err != nil {
		return err
	}
	if slices.Contains(path, id) {
		return schema.Invalid("parent", "is the collection itself or inside it")
	}
	_, height, err := collectionTree(ctx, q, id)
	if err != nil {
		return err
	}
	return checkNesting(len(path) + height)
}

// collectionTree returns the ids of a collection and of all collections below it. `height` is the number of their
// levels.
func collectionTree(ctx context.Context, q *db.Queries, id string) (ids []string, height int, err error) {
	rows, err := q.CollectionTree(ctx, id)
	if err != nil {
		return nil, 0, postgres.Interpret(err, "collection")
	}
	for _, row := range rows {
		ids = append(ids, row.ID)
		height = max(height, int(row.Depth))
	}
	return ids, height, nil
}

// place puts a collection between its new neighbors.
func place(ctx context.Context, q *db.Queries, was Collection, parent *string, move Move) (Collection, error) {
	others, err := contentIn(ctx, q, was.OrganizationID, parent, nil)
	if err != nil {
		return Collection{}, err
	}
	own := schema.ItemPointer{Type: kindCollection, ID: was.ID}
	from := others.Index(own)
	others = others.Without(own)
	to, err := move.among(others)
	if err != nil {
		return Collection{}, err
	}
	if to == from {
		return Collection{}, schema.Conflict("the collection is already there")
	}
	position, err := others.MakePlace(ctx, q, to)
	if err != nil {
		return Collection{}, err
	}
	row, err := q.PlaceCollection(ctx, db.PlaceCollectionParams{ID: was.ID, ParentID: parent, Position: position})
	return row, postgres.Interpret(err, "collection")
}

// among returns the moved collection's new place: an index in the list of the other items.
func (m Move) among(others postgres.Siblings) (int, error) {
	for _, beside := range []*Neighbor{m.After, m.Before} {
		if beside != nil && others.Index(*beside.pointer()) < 0 {
			return 0, schema.Invalid(beside.Field, "names nothing next to that place")
		}
	}
	to := others.Between(m.After.pointer(), m.Before.pointer())
	if to < 0 {
		return 0, schema.Invalid(m.Before.Field, "does not follow the item that position.after names")
	}
	return to, nil
}

// TransferCollection moves a collection with all its content to the end of another organization's top level. It removes
// grants to teams and to users outside the new organization, and deletes invite links to the collection. The user who
// transfers the collection gets the role admin on it. Translations move with their source spaces.
func (s *Store) TransferCollection(ctx context.Context, id, from, to, userID string) (Collection, error) {
	var row Collection
	if from == to {
		return row, schema.Conflict("the collection is already in this organization")
	}
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		// Both organizations are locked in the order of their ids, so that two transfers cannot deadlock.
		if _, err := q.LockOrganizations(ctx, []string{from, to}); err != nil {
			return postgres.Interpret(err, "organization")
		}
		was, err := q.CollectionInOrganization(ctx, db.CollectionInOrganizationParams{ID: id, OrganizationID: from})
		if err != nil {
			return postgres.Interpret(err, "collection")
		}
		if was.ParentID != nil {
			return schema.PreconditionFailed("the collection is inside another one: move it to the top first")
		}
		row, err = transfer(ctx, q, id, from, to, userID)
		return err
	})
	return row, err
}

func transfer(ctx context.Context, q *db.Queries, id, from, to, userID string) (Collection, error) {
	collections, _, err := collectionTree(ctx, q, id)
	if err != nil {
		return Collection{}, err
	}
	spaces, err := q.LockSpacesIn(ctx, collections)
	if err != nil {
		return Collection{}, postgres.Interpret(err, "space")
	}
	published, err := q.SpacesArePublished(ctx, spaces)
	if err != nil {
		return Collection{}, postgres.Interpret(err, "space")
	}
	if published {
		return Collection{}, schema.PreconditionFailed("a space in the collection is part of a site of this organization")
	}
	if err := q.DropForeignGrants(ctx, db.DropForeignGrantsParams{
		Collections: collections, Spaces: spaces, OrganizationID: to,
	}); err != nil {
		return Collection{}, postgres.Interpret(err, "grant")
	}
	position, err := behindContent(ctx, q, to, nil)
	if err != nil {
		return Collection{}, err
	}
	row, err := q.TransferCollection(ctx, db.TransferCollectionParams{ID: id, OrganizationID: to, Position: position})
	if err != nil {
		return Collection{}, postgres.Interpret(err, "collection")
	}
	if err := transferContent(ctx, q, spaces, from, to); err != nil {
		return Collection{}, err
	}
	if err := q.RememberAuthors(ctx, db.RememberAuthorsParams{OrganizationID: to, Spaces: spaces}); err != nil {
		return Collection{}, postgres.Interpret(err, "users")
	}
	// The invite links would invite people to the old organization, so they are deleted.
	if err := q.DropLinkInvitesTo(ctx, db.DropLinkInvitesToParams{Collections: collections, Spaces: spaces}); err != nil {
		return Collection{}, postgres.Interpret(err, "invite")
	}
	if err := q.TransferGrants(ctx, db.TransferGrantsParams{
		OrganizationID: to, Collections: collections, Spaces: spaces,
	}); err != nil {
		return Collection{}, postgres.Interpret(err, "grant")
	}
	_, err = q.InsertGrants(ctx, db.InsertGrantsParams{
		OrganizationID: to, CollectionID: &id, Users: []string{userID}, Teams: []string{}, Role: string(schema.RoleAdmin),
	})
	return row, postgres.Interpret(err, "grant")
}

// transferContent moves change requests, translations and jobs of locked spaces to another organization. It cancels
// imports and exports that may still run, because members of the former organization have asked for them.
func transferContent(ctx context.Context, q *db.Queries, spaces []string, from, to string) error {
	if err := q.TransferChangeRequests(ctx, db.TransferChangeRequestsParams{OrganizationID: to, Spaces: spaces}); err != nil {
		return postgres.Interpret(err, "change request")
	}
	if err := q.TransferTranslations(ctx, db.TransferTranslationsParams{OrganizationID: to, Spaces: spaces}); err != nil {
		return postgres.Interpret(err, "translation")
	}
	if err := q.CancelGitOperationsOf(ctx, db.CancelGitOperationsOfParams{
		Spaces: spaces, Reason: gitTransferred,
	}); err != nil {
		return postgres.Interpret(err, "git operations")
	}
	err := q.TransferJobs(ctx, db.TransferJobsParams{OrganizationID: to, FromID: from, Spaces: spaces})
	return postgres.Interpret(err, "jobs")
}
