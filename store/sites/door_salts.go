package sites

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

const secondsOfDay = 24 * 60 * 60

// DoorSalts returns the salts of all days that began less than 48 hours ago. First it stores offered salts. An offered
// salt is stored if its day has no salt, or if the day's stored salt is younger than the offered salt. A salt with a
// zero MadeAt is treated as made now.
func (s *Store) DoorSalts(ctx context.Context, offered []schema.DoorSalt) ([]schema.DoorSalt, error) {
	var list []schema.DoorSalt
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		if err = keepSalts(ctx, q, offered); err == nil {
			list, err = readSalts(ctx, q)
		}
		return err
	})
	return list, postgres.Interpret(err, "salts of visitors")
}

func keepSalts(ctx context.Context, q *db.Queries, list []schema.DoorSalt) error {
	for _, salt := range list {
		p := db.KeepDoorSaltParams{Salt: salt.Salt[:]}
		p.Day = pgtype.Date{Time: time.Unix(int64(salt.Day)*secondsOfDay, 0).UTC(), Valid: true}
		if !salt.MadeAt.IsZero() {
			p.MadeAt = &salt.MadeAt
		}
		if err := q.KeepDoorSalt(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func readSalts(ctx context.Context, q *db.Queries) ([]schema.DoorSalt, error) {
	rows, err := q.DoorSalts(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]schema.DoorSalt, len(rows))
	for i, r := range rows {
		list[i] = schema.DoorSalt{Day: int32(r.Day.Time.Unix() / secondsOfDay), MadeAt: r.MadeAt}
		if copy(list[i].Salt[:], r.Salt) != len(list[i].Salt) {
			return nil, schema.Internal(fmt.Errorf("a salt of visitors has %d bytes", len(r.Salt)))
		}
	}
	return list, nil
}

// DeleteOldDoorSalts destroys the salts of days that began at least 48 hours ago. If a row is only deleted, its bytes
// stay in the table's file. So DeleteOldDoorSalts truncates the table, which creates a new file, and inserts the
// remaining rows again.
func (s *Store) DeleteOldDoorSalts(ctx context.Context) error {
	some, err := s.db.Queries.HasOldDoorSalts(ctx)
	if err != nil || !some {
		return postgres.Interpret(err, "salts of visitors")
	}
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		// The table is locked first, so that no salt is added between reading and truncating.
		if err := q.LockDoorSalts(ctx); err != nil {
			return err
		}
		stay, err := readSalts(ctx, q)
		if err != nil {
			return err
		}
		if err := q.TruncateDoorSalts(ctx); err != nil {
			return err
		}
		return keepSalts(ctx, q, stay)
	})
	return postgres.Interpret(err, "salts of visitors")
}
