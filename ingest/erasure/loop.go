package erasure

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/retry"
)

// Lock is the name of the lock that a node holds while it erases visitors and old events.
const Lock = "erasure of visitors"

const (
	eraseEvery  = time.Second      // pause between two checks for pending erasures
	eraseRetry  = 10 * time.Second // pause after a failure, or while another node has the locks
	retainEvery = time.Hour        // pause between two checks for events past their site's retention
)

// LoopConfig configures a Loop. Job, Lock and Busy are required.
type LoopConfig struct {
	Job  *Job
	Lock eventstore.Locks
	// Busy reports whether an error of Lock means that another node holds the lock.
	Busy func(error) bool
	// Ready reports whether the events table can be used; nil means always.
	Ready  func() bool
	Logger *slog.Logger // if Logger is nil, the loop logs nothing
}

// Loop runs a Job in the background. It looks for pending erasures each second, and for expired events each hour.
type Loop struct{ cfg LoopConfig }

// NewLoop builds a loop. It starts nothing.
func NewLoop(cfg LoopConfig) (*Loop, error) {
	if cfg.Job == nil || cfg.Lock == nil || cfg.Busy == nil {
		return nil, errors.New("cannot build the loop of erasures without its job and locks")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Ready == nil {
		cfg.Ready = func() bool { return true }
	}
	return &Loop{cfg: cfg}, nil
}

// Run works until ctx ends. After a failure, and while another node has the locks, it tries again later.
func (l *Loop) Run(ctx context.Context) {
	var retained time.Time
	for {
		if retry.Sleep(ctx, eraseEvery); ctx.Err() != nil {
			return
		}
		if !l.cfg.Ready() {
			continue
		}
		retain := time.Since(retained) >= retainEvery
		err := l.Once(ctx, retain)
		switch {
		case err == nil && retain:
			retained = time.Now()
		case err != nil && ctx.Err() == nil && !l.cfg.Busy(err):
			l.cfg.Logger.Warn("Visitors or old events cannot be erased now.", "error", err)
			retry.Sleep(ctx, eraseRetry)
		case err != nil && retain:
			retry.Sleep(ctx, eraseRetry)
		}
	}
}

// Once erases visitors if erasures are pending. If `retain` is true, it also applies the retention of events. If
// another node has the lock, Once returns the error of Lock.
func (l *Loop) Once(ctx context.Context, retain bool) (err error) {
	pending, err := l.cfg.Job.Pending(ctx)
	if err != nil || pending.Count == 0 && !retain {
		return err
	}
	_, release, err := l.cfg.Lock(ctx, Lock)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, release()) }()
	exclude := func(ctx context.Context) (func(context.Context) error, func() error, error) {
		return l.cfg.Lock(ctx, eventstore.VisitsLock, eventstore.RepairLock)
	}
	err = l.cfg.Job.Finish(ctx, pending)
	if pending.Count > pending.Mutated {
		err = cmp.Or(err, l.cfg.Job.Erase(ctx, exclude))
	}
	if retain {
		err = cmp.Or(err, l.cfg.Job.Retain(ctx, exclude))
	}
	return err
}
