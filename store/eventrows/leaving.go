package eventrows

import (
	"context"

	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// NoteLeaving announces rows that are about to leave the events table. It returns the number of the notice.
func (s *Store) NoteLeaving(ctx context.Context, rows int64) (notice int64, err error) {
	notice, err = s.db.Queries.NoteLeavingEventRows(ctx, rows)
	return notice, postgres.Interpret(err, "leaving rows")
}

// Leaving returns the number of all announced rows, and the number of the last notice.
func (s *Store) Leaving(ctx context.Context) (rows, notice int64, err error) {
	row, err := s.db.Queries.LeavingEventRows(ctx)
	return row.Rows, row.Notice, postgres.Interpret(err, "leaving rows")
}

// ForgetLeaving deletes all notices. The caller must have stored the missing rows by NoteMissing.
func (s *Store) ForgetLeaving(ctx context.Context) error {
	return postgres.Interpret(s.db.Queries.ForgetLeavingEventRows(ctx), "leaving rows")
}

// NoteReader records that a node has read all notices up to a number. A node calls it regularly while it runs.
func (s *Store) NoteReader(ctx context.Context, node string, notice int64) error {
	err := s.db.Queries.NoteEventRowsReader(ctx, db.NoteEventRowsReaderParams{Node: node, Notice: notice})
	return postgres.Interpret(err, "readers of notices")
}

// ForgetReader deletes the record of a node that no longer runs.
func (s *Store) ForgetReader(ctx context.Context, node string) error {
	return postgres.Interpret(s.db.Queries.ForgetEventRowsReader(ctx, node), "readers of notices")
}

// ReadersBefore returns the nodes that have not read a notice yet. `beats` has the number of calls of NoteReader for
// each node. If a node's number does not grow, the node no longer runs.
func (s *Store) ReadersBefore(ctx context.Context, notice int64) (beats map[string]int64, err error) {
	list, err := s.db.Queries.EventRowsReadersBefore(ctx, notice)
	beats = map[string]int64{}
	for _, row := range list {
		beats[row.Node] = row.Beat
	}
	return beats, postgres.Interpret(err, "readers of notices")
}
