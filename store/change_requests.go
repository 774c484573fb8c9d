package store

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// ChangeRequest is a row of its table.
type ChangeRequest = db.ChangeRequest

// NewChangeRequest is what a change request is made of.
type NewChangeRequest struct {
	SpaceID string
	Subject string
	UserID  string
}

// CreateChangeRequest opens a draft on the space's current content.
func (s *Store) CreateChangeRequest(ctx context.Context, request NewChangeRequest) (ChangeRequest, error) {
	var row ChangeRequest
	err := s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		space, err := q.NumberChangeRequest(ctx, request.SpaceID)
		if err != nil {
			return interpret(err, "space")
		}
		row, err = q.InsertChangeRequest(ctx, db.InsertChangeRequestParams{
			ID: schema.NewID(), SpaceID: request.SpaceID, OrganizationID: space.OrganizationID, Number: space.ChangeRequestNumber,
			Subject: request.Subject, CreatedBy: request.UserID, Revision: space.Revision,
		})
		return interpret(err, "change request")
	})
	return row, err
}

// ChangeRequest reads a change request of a space by its id or its number.
func (s *Store) ChangeRequest(ctx context.Context, spaceID, idOrNumber string) (ChangeRequest, error) {
	// No change request has number 0, so what is no number finds nothing by it.
	number, err := strconv.ParseInt(idOrNumber, 10, 32)
	if err != nil {
		number = 0
	}
	row, err := s.queries.ChangeRequest(ctx, db.ChangeRequestParams{
		SpaceID: spaceID, ID: idOrNumber, Number: int32(number),
	})
	return row, interpret(err, "change request")
}
