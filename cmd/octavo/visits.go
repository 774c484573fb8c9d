package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/store"
)

// layoutRetry is the pause between attempts to move the events table to the
// current layout: another node may be moving it, or an older sink may still
// run.
const layoutRetry = 10 * time.Second

// layoutLock is held by who changes the events table.
const layoutLock = "layout of the events table"

// moveLayout moves the events table to the current layout if it has an older one.
func moveLayout(ctx context.Context, s *Settings, b *backends, st *store.Store, events driver.Conn, metrics *eventstore.Metrics, log *slog.Logger) (moved bool, err error) {
	return onLayout(ctx, s, b, st, events, metrics, log, (*eventstore.Layout).Current, (*eventstore.Layout).Move)
}

// onLayout runs do with a mover of the events table, unless idle says that there is
// nothing to do. A lock in Postgres keeps other processes from the table meanwhile.
func onLayout(ctx context.Context, s *Settings, b *backends, st *store.Store, events driver.Conn, metrics *eventstore.Metrics, log *slog.Logger,
	idle func(*eventstore.Layout, context.Context) (bool, error), do func(*eventstore.Layout, context.Context) error,
) (done bool, err error) {
	access, err := b.kafkaAccess()
	if err != nil {
		return false, err
	}
	topology, err := eventstore.TopologyOf(ctx, events, s.ClickHouseCluster)
	if err != nil {
		return false, err
	}
	var lock *store.Lock
	layout, err := eventstore.NewLayout(eventstore.LayoutConfig{
		Conn: events, Topology: topology, Metrics: metrics, Logger: log,
		Holds: func(ctx context.Context) error { return lock.Holds(ctx) },
		OlderMembers: func(ctx context.Context) (bool, error) {
			n, err := sink.OlderMembers(ctx, b.kafkaBrokers, access, s.KafkaTopic, s.sinkGroup())
			return n > 0, err
		},
	})
	if err != nil {
		return false, err
	}
	if nothing, err := idle(layout, ctx); nothing || err != nil {
		return false, err
	}
	if lock, err = st.TryLock(ctx, layoutLock); err != nil {
		return false, err
	}
	defer func() { err = firstError(err, lock.Release(ctx)) }()
	return true, do(layout, ctx)
}

// visitsEvery is the pause between two checks of the projection of visits.
const visitsEvery = time.Minute

// checkVisits checks the projection of visits until ctx ends. A check that another node
// is at is left to it.
func (n *node) checkVisits(ctx context.Context, events driver.Conn) {
	never := func(*eventstore.Layout, context.Context) (bool, error) { return false, nil }
	for pause(ctx, visitsEvery) {
		_, err := onLayout(ctx, n.settings, n.backends, n.store, events, n.metrics.Table, n.log, never, (*eventstore.Layout).CheckVisits)
		if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrLocked) {
			n.log.Warn("The projection of visits could not be checked.", "error", err)
		}
	}
}

// startLayout runs moveLayout in the background, on nodes with a sink, and checks the
// projection of visits after it.
func (n *node) startLayout() error {
	if n.setup.sink == nil {
		return nil
	}
	events, err := n.openEvents("move of the events table", 1)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		logged := ""
		for {
			if !n.setup.migrated.Load() {
				if !pause(ctx, eventsRetry) {
					return
				}
				continue
			}
			_, err := moveLayout(ctx, n.settings, n.backends, n.store, events, n.metrics.Table, n.log)
			if err == nil {
				n.checkVisits(ctx, events)
				return
			}
			if ctx.Err() != nil {
				return
			}
			if text := err.Error(); text != logged && !errors.Is(err, store.ErrLocked) && !errors.Is(err, sink.ErrRebalancing) {
				n.log.Warn("The events table keeps its old layout for now.", "error", err)
				logged = text
			}
			if errors.Is(err, eventstore.ErrClusterLayout) {
				return
			}
			if !pause(ctx, layoutRetry) {
				return
			}
		}
	}()
	n.onStop("move of the events table", func(context.Context) error {
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
