package sites

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// SavedSegment is a row of the table saved_segments. A segment with an owner is personal: other users do not see it.
type SavedSegment = db.SavedSegment

// NewSavedSegment has the values of a new segment.
type NewSavedSegment struct {
	// Owner is the owner of a personal segment. It is nil for a segment that all users of the site see.
	Owner   *string
	Creator *string
	Name    string
	Filters string
}

const savedSegment = "saved segment"

// CreateSavedSegment adds a segment to a site.
func (s *Store) CreateSavedSegment(
	ctx context.Context, siteID string, n NewSavedSegment,
) (row SavedSegment, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err = q.InsertSavedSegment(ctx, db.InsertSavedSegmentParams{
			ID: schema.NewID(), SiteID: siteID, OwnerID: n.Owner, Name: n.Name, Filters: n.Filters,
			CreatedBy: n.Creator,
		})
		if err != nil {
			return namedTwice(postgres.Interpret(err, savedSegment))
		}
		return s.db.Within(ctx, q, postgres.QuotaSavedSegments, row.ID)
	})
	return row, err
}

// namedTwice replaces a conflict by an error that says that the name is already used. It returns other errors
// unchanged.
func namedTwice(err error) error {
	if schema.IsCode(err, schema.CodeConflict) {
		return schema.Conflict("a saved segment with this name already exists")
	}
	return err
}

// SavedSegment returns a segment of a site that a user sees. userID is "" for callers who are not users.
func (s *Store) SavedSegment(ctx context.Context, siteID, userID, id string) (SavedSegment, error) {
	row, err := s.db.Queries.SavedSegmentByID(ctx, db.SavedSegmentByIDParams{ID: id, SiteID: siteID, UserID: userID})
	return row, postgres.Interpret(err, savedSegment)
}

// SavedSegmentChange has the new values of a segment. Nil fields leave the value unchanged.
type SavedSegmentChange struct{ Name, Filters *string }

// UpdateSavedSegment changes a segment.
func (s *Store) UpdateSavedSegment(
	ctx context.Context, siteID, id string, change SavedSegmentChange,
) (SavedSegment, error) {
	row, err := s.db.Queries.UpdateSavedSegment(ctx, db.UpdateSavedSegmentParams{
		ID: id, SiteID: siteID, Name: change.Name, Filters: change.Filters,
	})
	return row, namedTwice(postgres.Interpret(err, savedSegment))
}

// DeleteSavedSegment removes a segment, if it exists.
func (s *Store) DeleteSavedSegment(ctx context.Context, siteID, id string) error {
	err := s.db.Queries.DeleteSavedSegment(ctx, db.DeleteSavedSegmentParams{ID: id, SiteID: siteID})
	return postgres.Interpret(err, savedSegment)
}

// ListSavedSegments lists the segments of a site that a user sees, the oldest first. The list begins after the id
// `after`.
func (s *Store) ListSavedSegments(
	ctx context.Context, siteID, userID, after string, size int,
) (postgres.Page[SavedSegment], error) {
	total, err := s.db.Queries.CountSavedSegments(ctx, db.CountSavedSegmentsParams{SiteID: siteID, UserID: userID})
	if err != nil {
		return postgres.Page[SavedSegment]{}, postgres.Interpret(err, savedSegment)
	}
	rows, err := s.db.Queries.ListSavedSegments(ctx, db.ListSavedSegmentsParams{
		SiteID: siteID, UserID: userID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[SavedSegment]{}, postgres.Interpret(err, savedSegment)
	}
	return postgres.PageOf(rows, size, total), nil
}
