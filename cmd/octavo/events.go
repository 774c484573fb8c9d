package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/sink"
)

const (
	// eventsWait is the longest time that the node waits for the insights store's first answer when it starts. After
	// this time, the node continues to start without the store.
	eventsWait = 5 * time.Second
	// eventsRetry is the pause between later attempts. Every eventsLogEvery-th
	// failure is logged.
	eventsRetry    = time.Second
	eventsLogEvery = 30
)

// eventsSetup has the state of the steps that need the insights store: the migration of the store, then the sink's
// start.
type eventsSetup struct {
	migrated atomic.Bool
	refused  atomic.Pointer[error]  // refused is set if the store has another baseline and the node does not use it
	sink     *sink.Sink             // sink is nil without the role sink
	table    *eventstore.ClickHouse // the table that the sink fills
}

// startEvents migrates the insights store and starts the sink. If the store does not answer, startEvents repeats these
// steps in the background, and events wait in the log. If the store refuses the login or has an untrusted certificate,
// startEvents returns an error.
func (n *node) startEvents(ctx context.Context) error {
	err := n.prepareEvents(ctx)
	if err == nil {
		err = n.beginSink(ctx)
	}
	if err == nil || storeAway(err) {
		if err := errors.Join(n.startVisits(), n.startErasures()); err != nil {
			return err
		}
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil || !storeAway(err) {
		return err
	}
	n.log.Warn("The insights store does not answer: until it does, events stay in the log and queries are refused.", "error", err)
	n.background("wait for the insights store", n.awaitEvents)
	return nil
}

// prepareEvents pings the insights store and then migrates it. Only the ping is bounded by eventsWait, because a
// migration may take long.
func (n *node) prepareEvents(ctx context.Context) error {
	if err := n.pingEvents(ctx); err != nil {
		return err
	}
	statements, err := migrateEvents(ctx, n.settings, n.events)
	if err != nil {
		return err
	}
	if err := n.clocks.look(ctx); err != nil {
		return fmt.Errorf("cannot look at the clocks: %w", err)
	}
	// audit finds missing events before the node answers queries. If it fails, the node repeats it later.
	if err := n.rows.audit(ctx); err != nil {
		n.log.Warn("Cannot tell whether stored events are missing.", "error", err)
	}
	n.setup.migrated.Store(true)
	if statements > 0 {
		n.log.Info("ClickHouse is migrated.", "clickhouse", statements)
	}
	return nil
}

// pingEvents pings the insights store for at most eventsWait. The ping runs in a separate goroutine, because the client
// ignores its context while it connects. This goroutine ends when the client has given up.
func (n *node) pingEvents(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, eventsWait)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- n.events.Ping(ctx) }()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return fmt.Errorf("cannot reach the insights store: %w", ctx.Err())
	}
}

// awaitEvents repeats the steps of startEvents until the insights store is migrated and the sink has started. Unlike
// startEvents it also retries when the store refuses the login, because the process serves other requests too.
func (n *node) awaitEvents(ctx context.Context) {
	for attempt := 1; ; attempt++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(eventsRetry):
		}
		err := n.prepareEvents(ctx)
		if err == nil {
			err = n.beginSink(ctx)
		}
		refused := errors.Is(err, eventstore.ErrBaseline)
		switch {
		case err == nil:
			n.setup.refused.Store(nil)
			n.log.Info("The insights store answers.")
			return
		case refused && n.setup.refused.Swap(&err) == nil:
			n.log.Error("The insights store cannot be used: events stay in the log and queries are refused.",
				"error", err)
		case ctx.Err() == nil && attempt%eventsLogEvery == 0:
			n.log.Warn("The insights store still does not answer.", "error", err)
		}
	}
}

func (n *node) beginSink(ctx context.Context) error {
	if n.setup.sink == nil {
		return nil
	}
	n.setup.table.CheckQuorum(ctx, n.metrics.Log.SettingUnsafe, n.log)
	return n.setup.sink.Start(ctx)
}

// storeAway reports whether `err` means that the server does not answer. It returns false if the server has refused the
// request.
func storeAway(err error) bool {
	if _, ok := errors.AsType[*clickhouse.Exception](err); ok {
		return false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, clickhouse.ErrAcquireConnTimeout) || errors.Is(err, clickhouse.ErrAcquireConnNoAddress)
}
