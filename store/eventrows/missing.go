package eventrows

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Missing returns the rows that the last comparison found missing or doubled, by month.
func (s *Store) Missing(ctx context.Context) ([]schema.MissingRows, error) {
	list, err := s.db.Queries.MissingEventRows(ctx)
	missing := make([]schema.MissingRows, len(list))
	for i, row := range list {
		missing[i] = schema.MissingRows{
			Month: schema.EventMonth(row.Month), Rows: row.Rows, Lost: row.Lost, Accepted: row.Accepted,
			Doubled: row.Doubled,
			First:   row.FirstTime.UTC(), Last: row.LastTime.UTC(),
		}
	}
	return missing, postgres.Interpret(err, "missing rows")
}

// MissingDays returns the number of missing rows for each known site and day. Missing counts these rows too.
func (s *Store) MissingDays(ctx context.Context) (map[schema.MissingDay]int64, error) {
	list, err := s.db.Queries.MissingEventRowDays(ctx)
	days := map[schema.MissingDay]int64{}
	for _, row := range list {
		days[schema.MissingDay{Month: schema.EventMonth(row.Month), Site: row.Site, Day: row.Day.UTC()}] = row.Rows
	}
	return days, postgres.Interpret(err, "missing rows")
}

// NoteMissing stores the result of a comparison: the missing and doubled rows of each month. It replaces the result of
// the previous comparison. If a month's accepted loss is larger than its number of missing rows, NoteMissing reduces
// the accepted loss to this number. If a month's numbers by day (see MissingDays) add up to more rows than the month
// lacks, it deletes these numbers.
func (s *Store) NoteMissing(ctx context.Context, missing []schema.MissingRows) error {
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if err := q.ForgetMissingEventRows(ctx); err != nil {
			return err
		}
		for _, m := range missing {
			err := q.NoteMissingEventRows(ctx, db.NoteMissingEventRowsParams{
				Month: int32(m.Month), Rows: m.Rows, Lost: m.Lost, Doubled: m.Doubled,
				FirstTime: m.First, LastTime: m.Last,
			})
			if err != nil {
				return err
			}
		}
		if err := q.SettleMissingEventRowDays(ctx); err != nil {
			return err
		}
		if err := q.SettleAcceptedEventRows(ctx); err != nil {
			return err
		}
		return q.ForgetAcceptedEventRows(ctx)
	})
	return postgres.Interpret(err, "missing rows")
}

// NoteMissingDays adds to the numbers of missing rows by site and day. sink.Mender calls it after it has set a damaged
// part aside, because the part's rows are then missing.
func (s *Store) NoteMissingDays(ctx context.Context, days map[schema.MissingDay]int64) error {
	var p db.NoteMissingEventRowDaysParams
	for day, rows := range days {
		p.Months, p.Sites = append(p.Months, int32(day.Month)), append(p.Sites, day.Site)
		p.Days, p.Rows = append(p.Days, day.Day), append(p.Rows, rows)
	}
	return postgres.Interpret(s.db.Queries.NoteMissingEventRowDays(ctx, p), "missing rows")
}

// RestoreMissingDays subtracts restored rows from the numbers of missing rows by site and day. A repair has restored
// these rows.
func (s *Store) RestoreMissingDays(ctx context.Context, restored map[schema.MissingDay]int64) error {
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		for day, rows := range restored {
			err := q.RestoreMissingEventRowDay(ctx, db.RestoreMissingEventRowDayParams{
				Month: int32(day.Month), Site: day.Site, Day: day.Day, Restored: rows,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return postgres.Interpret(err, "missing rows")
}

// RowsOfCopy describes rows of a month that are missing from the events table, but are in a copy of the table.
type RowsOfCopy struct {
	Month schema.EventMonth
	Rows  int64
	// Copy is the folder of the copy. Damaged lists the copy's damaged parts of the month, which are not restored.
	Copy    string
	Damaged []string
}

// NoteRestored records in the audit log that rows of a copy will now be restored.
func (s *Store) NoteRestored(ctx context.Context, of RowsOfCopy) error {
	err := s.db.Queries.NoteRestoredEventRows(ctx, db.NoteRestoredEventRowsParams{
		Month: int32(of.Month), Rows: of.Rows, Copy: of.Copy, Damaged: postgres.NotNil(of.Damaged),
	})
	return postgres.Interpret(err, "restored rows")
}

// AcceptMissing accepts the loss of all missing rows. It returns the number of missing rows of each month whose
// accepted loss has changed.
func (s *Store) AcceptMissing(ctx context.Context) (map[schema.EventMonth]int64, error) {
	list, err := s.db.Queries.AcceptMissingEventRows(ctx)
	accepted := map[schema.EventMonth]int64{}
	for _, row := range list {
		accepted[schema.EventMonth(row.Month)] = row.Rows
	}
	return accepted, postgres.Interpret(err, "missing rows")
}
