package sites

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Erasure is a row of the table erasures. The row is the erasure of a visitor's events, or of the events that were
// posted with a publishable key.
type Erasure = db.Erasure

// toBigint and fromBigint convert a visitor's hash without changing its bits. A hash uses all 64 bits, but Postgres has
// only signed numbers.
func toBigint(hash uint64) int64   { return int64(hash) }
func fromBigint(hash int64) uint64 { return uint64(hash) }

// MaxErasures is the largest number of unfinished erasures of a site.
const MaxErasures = 10_000

// AskErasure requests the erasure of a visitor's events that were received before `until`, which is the time of this
// node. If the clock of this node or of Postgres is wrong, the erasure includes events up to the time known_time
// (store/functions/clock.sql). `keep` is the retention of the log and of the dead letters; 0 means for ever.
func (s *Store) AskErasure(
	ctx context.Context, site string, visitor uint64, until time.Time, keep time.Duration,
) (Erasure, error) {
	return s.askErasure(ctx, site, visitor, nil, until, keep)
}

// AskKeyErasure requests the erasure of events that were posted with one generation of a publishable key and received
// before `until`. `keep` has the same meaning as in AskErasure.
func (s *Store) AskKeyErasure(
	ctx context.Context, site, eventKey string, until time.Time, keep time.Duration,
) (Erasure, error) {
	return s.askErasure(ctx, site, keyMark(eventKey), &eventKey, until, keep)
}

// keyMark returns a hash that identifies a key's generation. An erasure of a key's events has this hash instead of a
// visitor's hash.
func keyMark(eventKey string) uint64 {
	sum := sha256.Sum256([]byte("event key " + eventKey))
	return binary.BigEndian.Uint64(sum[:])
}

func (s *Store) askErasure(
	ctx context.Context, site string, visitor uint64, eventKey *string, until time.Time, keep time.Duration,
) (Erasure, error) {
	switch pending, err := s.db.Queries.SiteErasures(ctx, db.SiteErasuresParams{SiteID: site,
		Visitor: toBigint(visitor), Until: until}); {
	case err != nil:
		return Erasure{}, postgres.Interpret(err, "erasure of a visitor")
	case pending >= MaxErasures:
		const full = "too many visitors of this site wait to be erased: wait until some are"
		return Erasure{}, schema.TooManyRequests(full, time.Minute)
	}
	interval := postgres.Interval(keep)
	interval.Valid = keep > 0
	e, err := s.db.Queries.AskErasure(ctx, db.AskErasureParams{
		SiteID: site, Visitor: toBigint(visitor), EventKey: eventKey, Until: until, Keep: interval,
	})
	return e, postgres.Interpret(err, "erasure of a visitor")
}

// Erasure reads a visitor's erasure.
func (s *Store) Erasure(ctx context.Context, site string, visitor uint64) (Erasure, error) {
	e, err := s.db.Queries.Erasure(ctx, db.ErasureParams{SiteID: site, Visitor: toBigint(visitor)})
	return e, postgres.Interpret(err, "erasure of this visitor")
}

// KeyErasure reads the erasure of the events that were posted with one generation of a publishable key.
func (s *Store) KeyErasure(ctx context.Context, site, eventKey string) (Erasure, error) {
	e, err := s.db.Queries.Erasure(ctx, db.ErasureParams{SiteID: site, Visitor: toBigint(keyMark(eventKey))})
	return e, postgres.Interpret(err, "erasure of this key's events")
}

// BeginErasures begins at most `most` pending erasures, in the order of their requests. Each erasure gets a tombstone,
// and all these tombstones get the same new version. If no erasure is pending, the batch's Version is 0.
func (s *Store) BeginErasures(ctx context.Context, most int) (b schema.ErasureBatch, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		version, err := q.NextTombstoneVersion(ctx)
		if err != nil {
			return err
		}
		rows, err := q.BeginErasures(
			ctx,
			db.BeginErasuresParams{Version: &version, Most: int32(most)},
		) // the conversion is safe, because most is a few hundred
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return errNothing
		}
		b.Version = version
		for _, r := range rows {
			b.Visitors = append(b.Visitors, schema.Tombstone{
				Version: version, SiteID: r.SiteID, Visitor: fromBigint(r.Visitor), EventKey: r.EventKey,
				Before: r.ErasedUntil, AheadFrom: postgres.Deref(r.AheadFrom), AheadUntil: postgres.Deref(r.AheadUntil),
			})
		}
		return q.AddTombstones(ctx, &version)
	})
	if errors.Is(err, errNothing) {
		err = nil
	}
	return b, err
}

// errNothing is the error that rolls back a transaction that has nothing to do.
var errNothing = errors.New("nothing to do")

// BegunErasures returns the erasures that have tombstones and whose events may still have rows. Each batch has the
// erasures of one version.
func (s *Store) BegunErasures(ctx context.Context) (list []schema.ErasureBatch, err error) {
	rows, err := s.db.Queries.BegunErasures(ctx)
	for _, r := range rows {
		if len(list) == 0 || list[len(list)-1].Version != r.Version {
			list = append(list, schema.ErasureBatch{Version: r.Version})
		}
		b := &list[len(list)-1]
		b.Visitors = append(b.Visitors, schema.Tombstone{
			Version: r.Version, SiteID: r.SiteID, Visitor: fromBigint(r.Visitor), EventKey: r.EventKey,
			Before: r.ErasedUntil, AheadFrom: postgres.Deref(r.AheadFrom), AheadUntil: postgres.Deref(r.AheadUntil),
		})
	}
	return list, postgres.Interpret(err, "erasures")
}

// RetryErasures makes the erasures of a version pending again.
func (s *Store) RetryErasures(ctx context.Context, version int64) error {
	return postgres.Interpret(s.db.Queries.RetryErasures(ctx, &version), "erasures")
}

// AheadOfClock returns a time. An event was received after this time only if a clock was ahead.
func (s *Store) AheadOfClock(ctx context.Context) (time.Time, error) {
	at, err := s.db.Queries.AheadOfClock(ctx)
	return at, postgres.Interpret(err, "clock")
}

// ReachAhead makes an erasure of a version pending again. The erasure then also includes events that were received
// between AheadFrom and AheadUntil.
func (s *Store) ReachAhead(ctx context.Context, t schema.Tombstone) error {
	return postgres.Interpret(s.db.Queries.ReachAhead(ctx, db.ReachAheadParams{
		SiteID: t.SiteID, Visitor: toBigint(t.Visitor), Version: &t.Version,
		AheadFrom: t.AheadFrom, AheadUntil: t.AheadUntil,
	}), "erasures")
}

// MarkMutated stores a time for the erasures with a version. Since this time, the active parts of the events table have
// no row of the visitors that these erasures erase.
func (s *Store) MarkMutated(ctx context.Context, version int64, at time.Time) error {
	return postgres.Interpret(s.db.Queries.MarkMutated(ctx, db.MarkMutatedParams{
		Version: &version, MutatedAt: at,
	}), "erasures")
}

// FinishErasures finishes the erasures that were marked by MarkMutated with a time up to `mutated`. The caller must
// have checked that the disks no longer have parts with events of these erasures.
func (s *Store) FinishErasures(ctx context.Context, mutated time.Time) (done int64, err error) {
	done, err = s.db.Queries.FinishErasures(ctx, mutated)
	return done, postgres.Interpret(err, "erasures")
}

// PendingErasures returns the number and the age of the unfinished erasures of all sites.
func (s *Store) PendingErasures(ctx context.Context) (schema.PendingErasures, error) {
	row, err := s.db.Queries.PendingErasures(ctx)
	return schema.PendingErasures{
		Count: row.Count, Oldest: time.Duration(row.Oldest * float64(time.Second)),
		Mutated: row.Mutated, FirstMutated: row.FirstMutated,
	}, postgres.Interpret(err, "erasures")
}

// ForgetErasures deletes finished erasures and their tombstones, as soon as the log and the dead letters no longer have
// the erased events.
func (s *Store) ForgetErasures(ctx context.Context) error {
	_, err := s.db.Queries.ForgetErasures(ctx)
	return postgres.Interpret(err, "erasures")
}

// ForgottenErasures returns the facts that remain about erasures whose tombstones are deleted, by site.
func (s *Store) ForgottenErasures(ctx context.Context) (map[string]schema.ForgottenErasures, error) {
	rows, err := s.db.Queries.ForgottenErasures(ctx)
	forgotten := map[string]schema.ForgottenErasures{}
	for _, r := range rows {
		forgotten[r.SiteID] = schema.ForgottenErasures{ErasedUntil: r.ErasedUntil, Done: r.DoneAt}
	}
	return forgotten, postgres.Interpret(err, "erasures")
}

// Tombstones returns the tombstones with a version above `after`, up to the returned version.
func (s *Store) Tombstones(ctx context.Context, after int64) (list []schema.Tombstone, version int64, err error) {
	if version, err = s.db.Queries.TombstoneVersion(ctx); err != nil || version == after {
		return nil, version, postgres.Interpret(err, "tombstones")
	}
	rows, err := s.db.Queries.TombstonesAfter(ctx, db.TombstonesAfterParams{After: after, Upto: version})
	for _, r := range rows {
		list = append(list, schema.Tombstone{
			Version: r.Version, SiteID: r.SiteID, Visitor: fromBigint(r.Visitor), EventKey: r.EventKey,
			Before: r.Before, AheadFrom: postgres.Deref(r.AheadFrom), AheadUntil: postgres.Deref(r.AheadUntil),
		})
	}
	return list, version, postgres.Interpret(err, "tombstones")
}

// RaiseTombstones raises the last assigned version to at least this version. The caller uses it after Postgres has lost
// an assigned version.
func (s *Store) RaiseTombstones(ctx context.Context, version int64) error {
	return postgres.Interpret(s.db.Queries.RaiseTombstoneVersion(ctx, version), "tombstones")
}

// Retention returns the number of days for which a site stores events. nil means that the site never deletes them.
func (s *Store) Retention(ctx context.Context, site string) (*int, error) {
	days, err := s.db.Queries.Retention(ctx, site)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && days == nil {
		return nil, nil
	}
	n := 0
	if err == nil {
		n = int(*days)
	}
	return &n, postgres.Interpret(err, "retention")
}

// setRetention sets the number of days for which a site stores events. nil means that the site never deletes them.
func setRetention(ctx context.Context, q *db.Queries, site string, days *int) error {
	var n *int32
	if days != nil {
		n = new(int32)
		*n = int32(*days) // the API and the table check the range
	}
	return postgres.Interpret(q.SetRetention(ctx, db.SetRetentionParams{SiteID: site, Days: n}), "retention")
}

// RetentionDue reports whether a site exists whose expired events were not deleted today.
func (s *Store) RetentionDue(ctx context.Context) (bool, error) {
	due, err := s.db.Queries.RetentionIsDue(ctx)
	return due, postgres.Interpret(err, "retentions")
}

// BeginRetention returns at most `most` sites whose expired events were not deleted today. Events before the site's
// time Before are expired. From now on, Expiries includes these deletions.
func (s *Store) BeginRetention(ctx context.Context, most int) (list []schema.Expiry, err error) {
	rows, err := s.db.Queries.BeginRetention(ctx, int32(most)) // the conversion is safe, because most is a few hundred
	for _, r := range rows {
		list = append(list, schema.Expiry{SiteID: r.SiteID, Before: r.Before, Days: r.Days})
	}
	return list, postgres.Interpret(err, "retentions")
}

// CarriedOut records that the expired events of sites are deleted. `list` is a list that BeginRetention returned.
func (s *Store) CarriedOut(ctx context.Context, list []schema.Expiry) error {
	var c db.CarriedOutParams
	for _, e := range list {
		c.Sites, c.Before, c.Days = append(c.Sites, e.SiteID), append(c.Before, e.Before), append(c.Days, e.Days)
	}
	return postgres.Interpret(s.db.Queries.CarriedOut(ctx, c), "retentions")
}

// Expiries returns the deletions of expired events of all sites, both deletions that are carried out and deletions that
// have begun.
func (s *Store) Expiries(ctx context.Context) (list []schema.Expiry, err error) {
	rows, err := s.db.Queries.Expiries(ctx)
	for _, r := range rows {
		list = append(list, schema.Expiry{SiteID: r.SiteID, Before: r.Before, CarriedOut: r.CarriedOut})
	}
	return list, postgres.Interpret(err, "retentions")
}
