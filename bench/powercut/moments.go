package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/witness"
	"github.com/octavo-docs/octavo/schema/insights"
)

// moment is a point in time at which the power is cut. `wait` returns at this time. Work that `wait` has started, such
// as a merge, may still be running.
type moment struct {
	name string
	wait func(ctx context.Context, l *life) error
}

// starting is the first moment of every life, when tables and topics are new.
const starting = "just after the first start"

// moments lists the moments of a life, in order.
var moments = []moment{
	{starting, func(ctx context.Context, l *life) error { return pause(ctx, l.between(0, 2*time.Second)) }},
	{"inserting", func(ctx context.Context, l *life) error {
		return pause(ctx, l.between(3*time.Second, 10*time.Second))
	}},
	{"merging", merging},
	{"catching up", catchingUp},
	{"writing checkpoints", stopping},
	{"recovering from a cut", recovering},
	{"after a merge whose sources are gone", merged},
}

// between returns a random duration.
func (l *life) between(least, most time.Duration) time.Duration {
	return least + rand.N(most-least+1)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// recovering cuts the power, and returns during the next start.
func recovering(ctx context.Context, l *life) error {
	if err := pause(ctx, l.between(2*time.Second, 4*time.Second)); err != nil {
		return err
	}
	if err := l.cut(ctx); err != nil {
		return err
	}
	return pause(ctx, l.between(0, 5*time.Second))
}

// merging starts a merge of the events table's parts, and returns during the merge.
func merging(ctx context.Context, l *life) error {
	if err := pause(ctx, l.between(2*time.Second, 5*time.Second)); err != nil {
		return err
	}
	t, err := l.table()
	if err != nil {
		return err
	}
	merge := make(chan error, 1)
	go func() {
		defer func() { _ = t.Close() }() // ignore the error, because the power cut may close the connection
		merge <- t.Exec(context.WithoutCancel(ctx), "OPTIMIZE TABLE "+insights.Table+" FINAL")
	}()
	other, err := l.table()
	if err != nil {
		return err
	}
	defer func() { _ = other.Close() }()
	for {
		running, err := other.Pairs(ctx, "SELECT 'merges', count() FROM system.merges WHERE table = '"+insights.Table+"'")
		if err != nil {
			return err
		}
		select {
		case err := <-merge:
			return err // the merge ended before the loop noticed it, so the power is cut now
		default:
		}
		if running["merges"] > 0 {
			return pause(ctx, l.between(0, 200*time.Millisecond))
		}
	}
}

// merged runs a merge, and returns after the source parts are removed. Then only the merged part has the rows.
func merged(ctx context.Context, l *life) error {
	t, err := l.table()
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }()
	if err := t.Exec(ctx, "ALTER TABLE "+insights.Table+" MODIFY SETTING old_parts_lifetime = 1"); err != nil {
		return err
	}
	if err := pause(ctx, l.between(2*time.Second, 4*time.Second)); err != nil {
		return err
	}
	if err := t.Exec(ctx, "OPTIMIZE TABLE "+insights.Table+" FINAL"); err != nil {
		return err
	}
	sources := "SELECT 'old', count() FROM system.parts WHERE table = '" + insights.Table + "' AND NOT active"
	before, err := t.Pairs(ctx, sources)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return witness.Await(waiting, func(ctx context.Context) error {
		now, err := t.Pairs(ctx, sources)
		if err == nil && before["old"] > 0 && now["old"] >= before["old"] {
			err = fmt.Errorf("%d replaced parts are still there", now["old"])
		}
		return err
	})
}

// catchingUp pauses the insights engine for some seconds. It returns while the sink stores the events that arrived
// during this time.
func catchingUp(ctx context.Context, l *life) error {
	engine, err := l.node.Engine("clickhouse")
	if err != nil {
		return err
	}
	if err := syscall.Kill(int(engine), syscall.SIGSTOP); err != nil {
		return fmt.Errorf("cannot stop the insights engine: %w", err)
	}
	err = pause(ctx, l.between(3*time.Second, 5*time.Second))
	if err := errors.Join(err, syscall.Kill(int(engine), syscall.SIGCONT)); err != nil {
		return err
	}
	return pause(ctx, l.between(0, time.Second))
}

// stopping sends SIGTERM to the node, and returns while the node stops. At this time, Postgres writes its checkpoint,
// and the broker writes its summaries.
func stopping(ctx context.Context, l *life) error {
	if err := pause(ctx, l.between(2*time.Second, 4*time.Second)); err != nil {
		return err
	}
	if err := l.node.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("cannot tell the node to stop: %w", err)
	}
	return pause(ctx, l.between(500*time.Millisecond, 4*time.Second))
}
