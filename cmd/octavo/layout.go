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

// moveLayout moves the events table to the current layout if it has an older
// one. A lock in Postgres keeps other processes from moving it at the same
// time.
func moveLayout(ctx context.Context, s *Settings, b *backends, st *store.Store, events driver.Conn, metrics *eventstore.Metrics, log *slog.Logger) (moved bool, err error) {
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
	if current, err := layout.Current(ctx); current || err != nil {
		return false, err
	}
	if lock, err = st.TryLock(ctx, "layout of the events table"); err != nil {
		return false, err
	}
	defer func() { err = firstError(err, lock.Release(ctx)) }()
	return true, layout.Move(ctx)
}

// startLayout runs moveLayout in the background, on nodes with a sink.
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
			if err == nil || ctx.Err() != nil {
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
