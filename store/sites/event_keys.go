package sites

import (
	"context"
	"fmt"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// eventKeyRows is the largest number of rows that DeleteOldEventKeys deletes.
const eventKeyRows = 2000

// eventKeyClaims is the largest number of keys that one statement claims or finishes.
const eventKeyClaims = 512

// eventKeyPause is the time for which finished keys wait, so that one statement stores several keys. No request waits
// for this statement.
const eventKeyPause = 10 * time.Millisecond

// eventKeyTime is the time limit of a statement on the keys of many requests.
const eventKeyTime = 5 * time.Second

// eventKeyClaim is a request's claim of an idempotency key.
type eventKeyClaim struct {
	site, key string
	claim     schema.KeyClaim
	lease     time.Duration
}

// ClaimEventKey claims an idempotency key of a site for an attempt that ends within the lease. If it succeeds, it
// returns the caller's own claim. If an earlier attempt with the key is running or has finished, it returns a claim
// with the state of that attempt.
//
// Concurrent callers share a statement, its commit and one connection.
func (s *Store) ClaimEventKey(
	ctx context.Context, site, key string, want schema.KeyClaim, lease time.Duration,
) (schema.KeyClaim, error) {
	got, err := s.claims.Do(ctx, eventKeyClaim{site, key, want, lease})
	if err != nil {
		return want, postgres.Interpret(err, "idempotency key")
	}
	return got, nil
}

// claimEventKeys claims the keys of many callers. If several callers want the same key, the first caller gets the key.
// For the other callers, the key is busy.
func (s *Store) claimEventKeys(ctx context.Context, wanted []eventKeyClaim) ([]schema.KeyClaim, error) {
	got := make([]schema.KeyClaim, len(wanted))
	open := make(map[[2]string]int, len(wanted)) // indexes in wanted, by site and key
	var p db.ClaimEventKeysParams
	for i, w := range wanted {
		got[i] = w.claim
		got[i].State = schema.KeyBusy
		at := [2]string{w.site, w.key}
		if _, twice := open[at]; twice {
			continue
		}
		open[at] = i
		p.Sites, p.Keys = append(p.Sites, w.site), append(p.Keys, w.key)
		p.BodyHashes = append(p.BodyHashes, w.claim.BodyHash[:])
		p.MessageIds = append(p.MessageIds, w.claim.MessageID[:])
		p.Partitions = append(p.Partitions, int32(w.claim.Partition)) // a partition's number has 16 bits
		p.Offsets = append(p.Offsets, w.claim.Offset)
		p.Leases = append(p.Leases, w.lease.Microseconds())
	}
	rows, err := s.db.Queries.ClaimEventKeys(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		at := [2]string{row.SiteID, row.Key}
		i := open[at]
		delete(open, at)
		if got[i], err = claimed(wanted[i].claim, row); err != nil {
			return nil, err
		}
	}
	if len(open) == 0 {
		return got, nil
	}
	var held db.EventKeysParams
	for at := range open {
		held.Sites, held.Keys = append(held.Sites, at[0]), append(held.Keys, at[1])
	}
	found, err := s.db.Queries.EventKeys(ctx, held)
	if err != nil {
		return nil, err
	}
	// If a key has no row, it was deleted after the first statement. The result stays busy, and the caller tries again.
	for _, row := range found {
		claim := &got[open[[2]string{row.SiteID, row.Key}]]
		switch {
		case string(row.BodyHash) != string(claim.BodyHash[:]):
			claim.State = schema.KeyReused
		case row.Done:
			claim.State, claim.Left = schema.KeyDone, time.Duration(row.LeftMicros)*time.Microsecond
		}
	}
	return got, nil
}

func claimed(want schema.KeyClaim, row db.ClaimEventKeysRow) (schema.KeyClaim, error) {
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

// FinishEventKey records that the message of a claim is in the log. Concurrent callers share a statement.
func (s *Store) FinishEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error {
	_, err := s.finishes.Do(ctx, eventKeyClaim{site: site, key: key, claim: c})
	return postgres.Interpret(err, "idempotency key")
}

func (s *Store) finishEventKeys(ctx context.Context, done []eventKeyClaim) ([]struct{}, error) {
	var p db.FinishEventKeysParams
	for _, d := range done {
		p.Sites, p.Keys = append(p.Sites, d.site), append(p.Keys, d.key)
		p.MessageIds = append(p.MessageIds, d.claim.MessageID[:])
	}
	return make([]struct{}, len(done)), s.db.Queries.FinishEventKeys(ctx, p)
}

// ReleaseEventKey ends an attempt whose message may or may not be in the log. The next attempt searches the log for the
// message, from the claim's offset on.
func (s *Store) ReleaseEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error {
	err := s.db.Queries.ReleaseEventKey(ctx, db.ReleaseEventKeyParams{
		SiteID: site, Key: key, MessageID: c.MessageID[:], Attempt: c.Attempt, LogOffset: c.Offset,
	})
	return postgres.Interpret(err, "idempotency key")
}

// ForgetEventKey ends an attempt whose message is not in the log and will never be in the log. The key can then be used
// again.
func (s *Store) ForgetEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error {
	err := s.db.Queries.ForgetEventKey(ctx, db.ForgetEventKeyParams{
		SiteID: site, Key: key, MessageID: c.MessageID[:], Attempt: c.Attempt,
	})
	return postgres.Interpret(err, "idempotency key")
}

// DeleteOldEventKeys deletes expired keys, up to a limited number. `more` is true if more expired keys may be left.
// Several nodes may call it concurrently.
func (s *Store) DeleteOldEventKeys(ctx context.Context) (more bool, err error) {
	n, err := s.db.Queries.DeleteOldEventKeys(ctx, eventKeyRows)
	return n == eventKeyRows, postgres.Interpret(err, "idempotency keys")
}
