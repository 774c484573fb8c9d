package eventrows

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Missing returns what the last comparison found missing, by month.
func (s *Store) Missing(ctx context.Context) ([]schema.MissingRows, error) {
	list, err := s.db.Queries.MissingEventRows(ctx)
	missing := make([]schema.MissingRows, len(list))
	for i, row := range list {
		missing[i] = schema.MissingRows{
			Month: schema.EventMonth(row.Month), Rows: row.Rows, First: row.FirstTime.UTC(), Last: row.LastTime.UTC(),
		}
	}
	return missing, postgres.Interpret(err, "missing rows")
}

// NoteMissing replaces the list of missing rows.
func (s *Store) NoteMissing(ctx context.Context, missing []schema.MissingRows) error {
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if err := q.ForgetMissingEventRows(ctx); err != nil {
			return err
		}
		for _, m := range missing {
			err := q.NoteMissingEventRows(ctx, db.NoteMissingEventRowsParams{
				Month: int32(m.Month), Rows: m.Rows, FirstTime: m.First, LastTime: m.Last,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return postgres.Interpret(err, "missing rows")
}
