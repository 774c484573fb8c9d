package clock

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Store reads and writes the tables of this package.
type Store struct{ db *postgres.DB }

// New returns a Store on a database.
func New(db *postgres.DB) *Store { return &Store{db} }

// State returns the stored state of the clock.
func (s *Store) State(ctx context.Context) (State, error) {
	row, err := s.db.Queries.Clock(ctx)
	return stateOf(db.LockClockRow(row)), postgres.Interpret(err, "clock")
}

// Look records a look, which is a node's reading of the clocks. It returns the state before and after the look.
func (s *Store) Look(ctx context.Context, l Look) (before, after State, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err := q.LockClock(ctx)
		if err != nil {
			return err
		}
		before = stateOf(row)
		after = before.after(l)
		return q.SetClock(ctx, db.SetClockParams{
			SeenAt: unlessZero(after.Seen), Doubt: postgres.UnlessEmpty(string(after.Doubt)),
			DoubtedAt: unlessZero(after.DoubtedAt), Ran: after.Ran.Microseconds(),
			CountedBy: postgres.UnlessEmpty(after.CountedBy),
		})
	})
	return before, after, postgres.Interpret(err, "clock")
}

// Confirm records that an operator trusts Postgres's clock. The clock's present time becomes the latest known time, and
// a doubt about the clock ends.
func (s *Store) Confirm(ctx context.Context) (State, error) {
	if err := s.db.Queries.ConfirmClock(ctx); err != nil {
		return State{}, postgres.Interpret(err, "clock")
	}
	return s.State(ctx)
}

// DeletionTime returns the time for deletions by age: they measure the age of a row from this time. It is the time of
// Postgres's clock, or the beginning of 1970 while deletions by age are stopped.
func (s *Store) DeletionTime(ctx context.Context) (time.Time, error) {
	at, err := s.db.Queries.DeletionTime(ctx)
	return at, postgres.Interpret(err, "clock")
}

// Pauses has the longest pauses after which nodes repeat work.
type Pauses struct {
	Job   time.Duration // longest time until a job's next attempt
	Fetch time.Duration // longest time until a specification is fetched again
}

// Hasten corrects times that are too far in the future because the clock was set back. Otherwise jobs and fetches
// would wait for these times. A time that is further ahead than the longest pause becomes the present time. It
// returns the number of corrected rows by column.
func (s *Store) Hasten(ctx context.Context, longest Pauses) (map[string]int64, error) {
	hastened, err := s.db.Queries.Hasten(ctx, db.HastenParams{
		JobPause: postgres.Interval(longest.Job), FetchPause: postgres.Interval(longest.Fetch),
	})
	if err != nil {
		return nil, postgres.Interpret(err, "clock")
	}
	return postgres.FromJSON[map[string]int64](hastened)
}

func stateOf(row db.LockClockRow) State {
	return State{
		Now: row.Now.UTC(), Seen: orZero(row.SeenAt), Doubt: Doubt(postgres.Deref(row.Doubt)),
		DoubtedAt: orZero(row.DoubtedAt), Ran: time.Duration(row.Ran) * time.Microsecond,
		CountedBy: postgres.Deref(row.CountedBy), ConfirmedAt: orZero(row.ConfirmedAt),
	}
}

func orZero(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}

func unlessZero(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}
