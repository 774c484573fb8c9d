package sites

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// eventKeyRows is the number of rows that DeleteOldEventKeys deletes in one statement.
const eventKeyRows = 2000

// ClaimEventKey claims an idempotency key of a site for an attempt that ends within the lease. It returns the
// caller's own claim. If an earlier attempt with the key has not ended, it returns that attempt's claim.
func (s *Store) ClaimEventKey(
	ctx context.Context, site, key string, want schema.KeyClaim, lease time.Duration,
) (schema.KeyClaim, error) {
	params := db.ClaimEventKeyParams{
		SiteID: site, Key: key, BodyHash: want.BodyHash[:], MessageID: want.MessageID[:],
		LogPartition: int32(want.Partition), LogOffset: want.Offset, // A log has at most 65,536 partitions.
		Lease: pgtype.Interval{Microseconds: lease.Microseconds(), Valid: true},
	}
	// A row that the first statement finds may be deleted before the second: then the key is free.
	for range 3 {
		row, err := s.db.Queries.ClaimEventKey(ctx, params)
		if err == nil {
			return claimed(want, row)
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return want, postgres.Interpret(err, "idempotency key")
		}
		held, err := s.db.Queries.EventKey(ctx, db.EventKeyParams{SiteID: site, Key: key})
		if errors.Is(err, pgx.ErrNoRows) {
			continue
		}
		if err != nil {
			return want, postgres.Interpret(err, "idempotency key")
		}
		switch {
		case string(held.BodyHash) != string(want.BodyHash[:]):
			want.State = schema.KeyReused
		case held.Done:
			want.State = schema.KeyDone
		default:
			want.State = schema.KeyBusy
		}
		return want, nil
	}
	want.State = schema.KeyBusy
	return want, nil
}

func claimed(want schema.KeyClaim, row db.ClaimEventKeyRow) (schema.KeyClaim, error) {
	if len(row.MessageID) != len(want.MessageID) {
		return want, schema.Internal(fmt.Errorf("message id of an idempotency key has %d bytes", len(row.MessageID)))
	}
	got := want
	got.Partition, got.Offset, got.Attempt = int(row.LogPartition), row.LogOffset, row.Attempt
	copy(got.MessageID[:], row.MessageID)
	got.State = schema.KeyNew
	if got.MessageID != want.MessageID {
		got.State = schema.KeyOpen
	}
	return got, nil
}

// FinishEventKey records that the message of a claim is in the log.
func (s *Store) FinishEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error {
	err := s.db.Queries.FinishEventKey(ctx, db.FinishEventKeyParams{SiteID: site, Key: key, MessageID: c.MessageID[:]})
	return postgres.Interpret(err, "idempotency key")
}

// ReleaseEventKey ends an attempt if it is unknown whether its message is in the log. The next attempt searches for
// the message from the claim's offset on.
func (s *Store) ReleaseEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error {
	err := s.db.Queries.ReleaseEventKey(ctx, db.ReleaseEventKeyParams{
		SiteID: site, Key: key, MessageID: c.MessageID[:], Attempt: c.Attempt, LogOffset: c.Offset,
	})
	return postgres.Interpret(err, "idempotency key")
}

// ForgetEventKey ends an attempt whose message is not in the log and never will be. The key is free again.
func (s *Store) ForgetEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error {
	err := s.db.Queries.ForgetEventKey(ctx, db.ForgetEventKeyParams{
		SiteID: site, Key: key, MessageID: c.MessageID[:], Attempt: c.Attempt,
	})
	return postgres.Interpret(err, "idempotency key")
}

// DeleteOldEventKeys deletes a limited number of expired keys, and reports whether there may be more. Several nodes
// may call it concurrently.
func (s *Store) DeleteOldEventKeys(ctx context.Context) (more bool, err error) {
	n, err := s.db.Queries.DeleteOldEventKeys(ctx, eventKeyRows)
	return n == eventKeyRows, postgres.Interpret(err, "idempotency keys")
}
