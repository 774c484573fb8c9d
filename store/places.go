package store

import (
	"context"
	"regexp"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// Place is where a collection or a space stands in the order of its parent. Positions are decimal numbers of any length: only
// Postgres computes with them.
type Place struct {
	Position string
	ID       string
}

// first is before every position that there can be.
const first = "-Infinity"

func (p Place) position() string {
	if p.Position == "" {
		return first
	}
	return p.Position
}

var decimal = regexp.MustCompile(`^-?[0-9]{1,1000}(?:\.[0-9]{1,1000})?$`)

// ParsePlace reads the sort keys of a page token.
func ParsePlace(keys []string) (Place, error) {
	switch {
	case keys == nil:
		return Place{}, nil
	case !decimal.MatchString(keys[0]):
		return Place{}, schema.Invalid("page", "is not a page of this list")
	}
	return Place{Position: keys[0], ID: keys[1]}, nil
}

// maxPosition is the length from which positions are given out anew: dividing the same gap again and again makes them long.
const maxPosition = 300

// siblings is what stands in one parent, in its order.
type siblings []db.SiblingsRow

func siblingsOf(ctx context.Context, q *db.Queries, organizationID string, parentID *string) (siblings, error) {
	rows, err := q.Siblings(ctx, db.SiblingsParams{OrganizationID: organizationID, ParentID: parentID})
	if err != nil {
		return nil, interpret(err, "collection")
	}
	for i := range rows {
		if i > 0 && rows[i].Position == rows[i-1].Position {
			// Nothing fits between equal positions, which rows have that no one placed.
			err := q.NumberSiblings(ctx, db.NumberSiblingsParams{OrganizationID: organizationID, ParentID: parentID})
			if err != nil {
				return nil, interpret(err, "collection")
			}
			rows, err = q.Siblings(ctx, db.SiblingsParams{OrganizationID: organizationID, ParentID: parentID})
			return rows, interpret(err, "collection")
		}
	}
	return rows, nil
}

func (s siblings) index(kind, id string) int {
	return slices.IndexFunc(s, func(row db.SiblingsRow) bool { return row.Type == kind && row.ID == id })
}

// gap gives the positions on both sides of index i; nil is an end.
func (s siblings) gap(i int) (least, most *string) {
	if i > 0 {
		least = &s[i-1].Position
	}
	if i < len(s) {
		most = &s[i].Position
	}
	return least, most
}

// around gives the position of a collection and of what comes next.
func (s siblings) around(id string) (least string, most *string) {
	i := s.index("collection", id)
	_, most = s.gap(i + 1)
	return s[i].Position, most
}

// takePlace locks the organization's structure and gives a position behind all that stands in the parent, with levels more
// collections above it than the parent has.
func takePlace(ctx context.Context, q *db.Queries, organizationID string, parentID *string, levels int) (string, error) {
	if _, err := q.LockOrganization(ctx, organizationID); err != nil {
		return "", interpret(err, "organization")
	}
	if parentID != nil {
		path, err := collectionPath(ctx, q, organizationID, *parentID)
		if err != nil {
			return "", err
		}
		if err := checkNesting(len(path) + levels); err != nil {
			return "", err
		}
	}
	position, err := q.LastPosition(ctx, db.LastPositionParams{OrganizationID: organizationID, ParentID: parentID})
	return position, interpret(err, "collection")
}

// collectionPath leads from a collection of the organization up to the top.
func collectionPath(ctx context.Context, q *db.Queries, organizationID, id string) ([]string, error) {
	_, err := q.CollectionInOrganization(ctx, db.CollectionInOrganizationParams{ID: id, OrganizationID: organizationID})
	if err != nil {
		return nil, interpret(err, "collection")
	}
	path, err := q.CollectionPath(ctx, id)
	return path, interpret(err, "collection")
}

func checkNesting(depth int) error {
	if depth > MaxNesting {
		return schema.Invalid("parent", "would nest collections more than 16 deep")
	}
	return nil
}

// keepShort numbers a parent's content anew when positions next to those named became long.
func keepShort(ctx context.Context, q *db.Queries, organizationID string, parentID *string, near ...*string) error {
	for _, position := range near {
		if position != nil && len(*position) > maxPosition {
			err := q.NumberSiblings(ctx, db.NumberSiblingsParams{OrganizationID: organizationID, ParentID: parentID})
			return interpret(err, "collection")
		}
	}
	return nil
}
