package store

import (
	"context"

	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// NoteAcceptedLoss records in the audit log that an operator has accepted a loss: the operator let a node start
// although an engine's data is damaged or missing. `loss` describes this data.
func (s *Store) NoteAcceptedLoss(ctx context.Context, engine, loss string) error {
	err := s.db.Queries.NoteAcceptedLoss(ctx, db.NoteAcceptedLossParams{Engine: engine, Loss: loss})
	return postgres.Interpret(err, "accepted loss")
}
