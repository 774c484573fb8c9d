package eventrows

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Store reads and writes the tables of this package.
type Store struct{ db *postgres.DB }

// New returns a Store on a database.
func New(db *postgres.DB) *Store { return &Store{db} }

// RowsEnd returns the offset up to which the rows from a partition of the log are counted. `found` is false if no rows
// from this partition are counted yet.
func (s *Store) RowsEnd(ctx context.Context, partition int) (end schema.RowsEnd, found bool, err error) {
	row, err := s.db.Queries.EventRowsEnd(ctx, int32(partition))
	if errors.Is(err, pgx.ErrNoRows) {
		return end, false, nil
	}
	end = schema.RowsEnd{Next: row.Next, Mixed: row.Mixed, HasTail: row.Tail != nil}
	if row.Tail != nil {
		end.Tail = uint64(*row.Tail)
	}
	return end, err == nil, postgres.Interpret(err, "counted rows")
}

// RowsEnds returns, for each partition of the log, the offset up to which the rows from this partition are counted.
func (s *Store) RowsEnds(ctx context.Context) (map[int]int64, error) {
	list, err := s.db.Queries.EventRowsEnds(ctx)
	ends := map[int]int64{}
	for _, row := range list {
		ends[int(row.LogPartition)] = row.Next
	}
	return ends, postgres.Interpret(err, "counted rows")
}

// OpenRows begins the count of the rows from a partition of the log at the offset end.Next. `rows` has the numbers of
// rows that the events table already has, by month. If the partition already has a count, OpenRows changes nothing and
// returns false.
func (s *Store) OpenRows(
	ctx context.Context, partition int, end schema.RowsEnd, rows schema.RowsByMonth,
) (bool, error) {
	months, counts, firsts := columns(rows)
	n, err := s.db.Queries.OpenEventRows(ctx, db.OpenEventRowsParams{
		LogPartition: int32(partition), Next: end.Next, Tail: tailOf(end), Mixed: end.Mixed,
		Months: months, Rows: counts, FirstTimes: firsts,
	})
	return n > 0, postgres.Interpret(err, "counted rows")
}

// AdvanceRows adds rows to the counts of a partition: the rows of the messages from the offset `was` up to the offset
// `end`. If the stored counts do not end at `was`, AdvanceRows changes nothing and returns false.
func (s *Store) AdvanceRows(
	ctx context.Context, partition int, was int64, end schema.RowsEnd, rows schema.RowsByMonth,
) (bool, error) {
	months, counts, firsts := columns(rows)
	n, err := s.db.Queries.AdvanceEventRows(ctx, db.AdvanceEventRowsParams{
		LogPartition: int32(partition), Was: was, Next: end.Next, Tail: tailOf(end), Mixed: end.Mixed,
		Months: months, Rows: counts, FirstTimes: firsts,
	})
	return n > 0, postgres.Interpret(err, "counted rows")
}

// CountedRows returns the numbers of rows that the events table should have, by month. `deleted` is the number of all
// rows that deletions have subtracted so far. It grows with each noted deletion, so a caller can detect a deletion
// between two calls.
func (s *Store) CountedRows(ctx context.Context) (rows schema.RowsByMonth, deleted int64, err error) {
	list, err := s.db.Queries.EventRows(ctx)
	rows = schema.RowsByMonth{}
	for _, row := range list {
		rows[schema.EventMonth(row.Month)] = schema.MonthRows{Rows: row.Rows, First: row.FirstTime}
		deleted -= row.Deleted
	}
	return rows, deleted, postgres.Interpret(err, "counted rows")
}

// NoteDeletion subtracts from the counts the number of rows that a deletion will delete from the events table. If a
// deletion with this name is already noted, NoteDeletion changes nothing. So an interrupted deletion can be noted
// again.
func (s *Store) NoteDeletion(ctx context.Context, name, condition string, rows schema.RowsByMonth) error {
	months, counts, _ := columns(rows)
	_, err := s.db.Queries.NoteEventRowDeletion(ctx, db.NoteEventRowDeletionParams{
		Name: name, Condition: condition, Months: months, Rows: counts,
	})
	return postgres.Interpret(err, "counted rows")
}

// NotedDeletions returns the conditions of the noted deletions that have not ended, by name.
func (s *Store) NotedDeletions(ctx context.Context) (map[string]string, error) {
	list, err := s.db.Queries.EventRowDeletions(ctx)
	noted := map[string]string{}
	for _, row := range list {
		noted[row.Name] = row.Condition
	}
	return noted, postgres.Interpret(err, "counted rows")
}

// EndDeletion deletes the note of a deletion whose rows the table no longer has.
func (s *Store) EndDeletion(ctx context.Context, name string) error {
	return postgres.Interpret(s.db.Queries.EndEventRowDeletion(ctx, name), "counted rows")
}

func columns(rows schema.RowsByMonth) (months []int32, counts, firsts []int64) {
	for month, of := range rows {
		months, counts, firsts = append(months, int32(month)), append(counts, of.Rows), append(firsts, of.First)
	}
	return months, counts, firsts
}

func tailOf(end schema.RowsEnd) *int64 {
	if !end.HasTail {
		return nil
	}
	tail := int64(end.Tail)
	return &tail
}
