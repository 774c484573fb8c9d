package main

import (
	"context"
	"errors"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/store/postgres"
)

const (
	// visitsEvery is the pause between two checks of the projection of visits.
	visitsEvery = time.Minute
	// visitsRetry is the pause after a failure, or while another node has the lock.
	visitsRetry = 10 * time.Second
	// visitsLock is the lock for changes of the projection of visits.
	visitsLock = "projection of visits"
)

// withVisits runs do with a keeper of the projection of visits, unless idle says that
// there is nothing to do. Meanwhile, a lock in Postgres keeps other nodes from the table.
func (n *node) withVisits(ctx context.Context, events driver.Conn,
	idle func(*eventstore.Visits, context.Context) (bool, error), do func(*eventstore.Visits, context.Context) error,
) (err error) {
	topology, err := eventstore.TopologyOf(ctx, events, n.settings.ClickHouseCluster)
	if err != nil {
		return err
	}
	var lock *postgres.Lock
	visits, err := eventstore.NewVisits(eventstore.VisitsConfig{
		Conn: events, Topology: topology, Metrics: n.metrics.Table, Logger: n.log,
		Holds: func(ctx context.Context) error { return lock.Holds(ctx) },
	})
	if err != nil {
		return err
	}
	if nothing, err := idle(visits, ctx); nothing || err != nil {
		return err
	}
	if lock, err = n.store.TryLock(ctx, visitsLock); err != nil {
		return err
	}
	defer func() { err = firstError(err, lock.Release(ctx)) }()
	return do(visits, ctx)
}

// keepVisits gives the table its projection of visits and then checks it until ctx ends.
// It tries again later while another node has the lock.
func (n *node) keepVisits(ctx context.Context, events driver.Conn) {
	never := func(*eventstore.Visits, context.Context) (bool, error) { return false, nil }
	idle, do := (*eventstore.Visits).Kept, (*eventstore.Visits).Keep
	wait := visitsRetry // until the table has it
	for {
		if !n.setup.migrated.Load() {
			if !pause(ctx, eventsRetry) {
				return
			}
			continue
		}
		err := n.withVisits(ctx, events, idle, do)
		if err == nil {
			idle, do = never, (*eventstore.Visits).Check
			wait = visitsEvery
		} else if ctx.Err() == nil && !errors.Is(err, postgres.ErrLocked) {
			n.log.Warn("The projection of visits could not be checked.", "error", err)
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

// startVisits runs keepVisits in the background, on nodes with a sink.
func (n *node) startVisits() error {
	if n.setup.sink == nil {
		return nil
	}
	events, err := n.openEvents("projection of visits", 1)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.keepVisits(ctx, events)
	}()
	n.onStop("projection of visits", func(context.Context) error {
		cancel()
		<-done
		return nil
	})
	return nil
}

// pause waits for d. It returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
