package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/octavo-docs/octavo/ingest/deadletter"
	"github.com/octavo-docs/octavo/ingest/erasure"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/intake"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// startErasures starts a background loop that erases visitors and old events, on nodes with a sink.
func (n *node) startErasures() error {
	if n.setup.sink == nil {
		return nil
	}
	conn, err := n.openEvents("erasure of visitors", 1)
	if err != nil {
		return err
	}
	table, err := eventstore.New(eventstore.Config{Conn: conn, Cluster: n.settings.ClickHouseCluster})
	if err != nil {
		return err
	}
	log, err := n.erasureLog(10 * time.Second)
	if err != nil {
		return err
	}
	job, err := erasure.NewJob(erasure.JobConfig{
		Ledger: n.store.Sites, Rows: n.store.Rows, Table: table, Metrics: n.metrics.Erasure, Logger: n.log,
		Damaged: n.rows.suspect,
		Changed: func(site string) {
			if service := n.queryService.Load(); service != nil {
				service.Forget(site)
			}
		},
		Honoured: func(ctx context.Context, version int64) (bool, error) {
			return sink.Honoured(ctx, log, n.settings.sinkGroup(), version)
		},
	})
	if err != nil {
		return err
	}
	loop, err := erasure.NewLoop(erasure.LoopConfig{
		Job: job, Lock: locker(n.store), Busy: lockIsBusy, Ready: n.setup.migrated.Load, Logger: n.log,
	})
	if err != nil {
		return err
	}
	n.background("erasure of visitors", loop.Run)
	return nil
}

// startVisits starts a background loop that maintains the projection of visits, on nodes with a sink.
func (n *node) startVisits() error {
	if n.setup.sink == nil {
		return nil
	}
	conn, err := n.openEvents("projection of visits", 1)
	if err != nil {
		return err
	}
	n.background("projection of visits", eventstore.NewVisitsKeeper(eventstore.VisitsKeeperConfig{
		Conn: conn, Cluster: n.settings.ClickHouseCluster, Lock: locker(n.store), Busy: lockIsBusy,
		Ready: n.setup.migrated.Load, Metrics: n.metrics.Table, Logger: n.log,
	}).Run)
	return nil
}

// erasureLog opens the event log's topic, so that erasures can read the log's state. The topic is closed when the node
// stops.
func (n *node) erasureLog(timeout time.Duration) (*eventlog.Topic, error) {
	access, err := n.backends.kafkaAccess()
	if err != nil {
		return nil, err
	}
	log := eventlog.NewTopic(n.backends.kafkaBrokers, access, "octavo-erasure", timeout, n.settings.KafkaTopic)
	n.onStop("event log of erasures", func(context.Context) error { log.Close(); return nil })
	return log, nil
}

// locker returns a function that takes locks in Postgres.
func locker(st *store.Store) eventstore.Locks {
	return func(ctx context.Context, names ...string) (
		holds func(context.Context) error, release func() error, err error,
	) {
		var locks []*postgres.Lock
		release = func() (err error) {
			for _, lock := range locks {
				err = firstError(err, lock.Release(context.WithoutCancel(ctx)))
			}
			return err
		}
		for _, name := range names {
			lock, err := st.TryLock(ctx, name)
			if err != nil {
				return nil, nil, firstError(err, release())
			}
			locks = append(locks, lock)
		}
		holds = func(ctx context.Context) (err error) {
			for _, lock := range locks {
				err = firstError(err, lock.Holds(ctx))
			}
			return err
		}
		return holds, release, nil
	}
}

// lockIsBusy reports whether `err` means that another process has the lock.
func lockIsBusy(err error) bool { return errors.Is(err, postgres.ErrLocked) }

func (n *node) newErasures(ctx context.Context) (visitorErasures, error) {
	key, err := n.store.InsightsKey(ctx)
	if err != nil {
		return visitorErasures{}, err
	}
	log, err := n.erasureLog(2 * time.Second)
	return visitorErasures{n.store.Sites, intake.NewHasher([16]byte(key)), log}, err
}

// visitorErasures answers the API's operations about erasing visitors and the events of keys.
type visitorErasures struct {
	sites *sites.Store
	hash  intake.Hasher
	log   *eventlog.Topic
}

func (v visitorErasures) Erase(ctx context.Context, site, visitor string) (schema.VisitorErasure, error) {
	e, err := v.ask(ctx, func(until time.Time, keep time.Duration) (sites.Erasure, error) {
		return v.sites.AskErasure(ctx, site, v.hash.Visitor(site, visitor), until, keep)
	})
	return erasureOf(visitor, e), err
}

func (v visitorErasures) EraseKey(ctx context.Context, site, eventKey string) (schema.EventKeyErasure, error) {
	e, err := v.ask(ctx, func(until time.Time, keep time.Duration) (sites.Erasure, error) {
		return v.sites.AskKeyErasure(ctx, site, eventKey, until, keep)
	})
	return keyErasureOf(eventKey, e), err
}

// ask requests an erasure of the events received until the end of the current second.
func (v visitorErasures) ask(
	ctx context.Context, ask func(until time.Time, keep time.Duration) (sites.Erasure, error),
) (sites.Erasure, error) {
	keeps, err := v.log.Retention(ctx)
	if err != nil {
		// The log's retention decides how long the tombstone of the erasure is stored. So refuse the erasure: a
		// tombstone that is deleted too early cannot be restored, and an erasure needs the log anyway.
		return sites.Erasure{}, schema.Unavailable(
			fmt.Errorf("cannot ask how long the event log keeps events: %w", err), comeBack)
	}
	// Each node's clock sets the receiving times of its events. So events are erased that were received before a time
	// of this node's clock. If this clock or Postgres's clock is wrong, the store uses known_time
	// (store/functions/clock.sql) instead. Rows have whole seconds, so the answer waits for the end of the current
	// second. Events received later stay.
	until := time.Now().Truncate(time.Second).Add(time.Second)
	e, err := ask(until, logKeeps(keeps))
	if err != nil {
		return e, err
	}
	for ctx.Err() == nil && time.Now().Before(until) {
		retry.Sleep(ctx, time.Until(until))
	}
	return e, nil
}

func (v visitorErasures) Erasure(ctx context.Context, site, visitor string) (schema.VisitorErasure, error) {
	e, err := v.sites.Erasure(ctx, site, v.hash.Visitor(site, visitor))
	return erasureOf(visitor, e), err
}

func (v visitorErasures) KeyErasure(ctx context.Context, site, eventKey string) (schema.EventKeyErasure, error) {
	e, err := v.sites.KeyErasure(ctx, site, eventKey)
	return keyErasureOf(eventKey, e), err
}

func erasureOf(visitor string, e sites.Erasure) schema.VisitorErasure {
	of := keyErasureOf("", e)
	return schema.VisitorErasure{
		Object: "visitor-erasure", Site: of.Site, Visitor: visitor, State: of.State, AskedAt: of.AskedAt,
		ErasedUntil: of.ErasedUntil, DoneAt: of.DoneAt, LogUntil: of.LogUntil,
	}
}

func keyErasureOf(eventKey string, e sites.Erasure) schema.EventKeyErasure {
	state := schema.ErasurePending
	if e.DoneAt != nil {
		state = schema.ErasureDone
	}
	utc := func(t *time.Time) *time.Time {
		if t != nil {
			*t = t.UTC()
		}
		return t
	}
	return schema.EventKeyErasure{
		Object: "event-key-erasure", Site: e.SiteID, EventKey: eventKey, State: state, AskedAt: e.AskedAt.UTC(),
		ErasedUntil: e.ErasedUntil.UTC(), DoneAt: utc(e.DoneAt), LogUntil: utc(e.LogUntil),
	}
}

// logFiles is the longest time for which brokers still store messages after the retention has ended. Brokers delete
// whole files, and begin a new file at least every week (log.roll.hours).
const logFiles = 8 * 24 * time.Hour

// logKeeps returns the time for which the log and the dead letters store an event, given the log's retention; 0 means
// for ever. An unreadable message may become a dead letter only at the end of the log's retention. A replay at the end
// of the dead letter's retention appends the event to the log again.
func logKeeps(retention time.Duration) time.Duration {
	if retention == 0 {
		return 0
	}
	return retention + deadletter.Retention + retention + 3*logFiles
}
