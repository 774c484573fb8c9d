package main

import (
	"context"
	"math/rand/v2"
	"time"
)

// Old idempotency keys, ended invites and what deleted organizations had are
// deleted every so often, a bounded number at a time, and without a pause while
// there are more. That they count no more does not depend on it.
const (
	sweepInterval = time.Minute
	sweepTime     = 30 * time.Second // of one go, after which a failure is said
)

// startSweep starts deleting what is only kept for a time, on nodes that have
// the work of the background or make such things.
func (n *node) startSweep() {
	if !n.settings.has("jobs") && !n.settings.has("api") {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		more := false
		for {
			// Nodes that were started together do not sweep together.
			wait := sweepInterval/2 + rand.N(sweepInterval)
			if more {
				wait = 0
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			var err error
			if more, err = sweep(ctx, n.sweepStep); err != nil && ctx.Err() == nil {
				n.log.Warn("What is kept for a time only could not be deleted.", "error", err)
			}
		}
	}()
	n.onStop("sweep", func(context.Context) error {
		cancel()
		<-done
		return nil
	})
}

// sweepStep deletes some of each, and large organizations last: they may take all the time that is left.
func (n *node) sweepStep(ctx context.Context) (more bool, err error) {
	if err := n.store.DeleteEndedInvites(ctx); err != nil {
		return false, err
	}
	if more, err := n.store.DeleteOldEventKeys(ctx); more || err != nil {
		return more, err
	}
	return false, n.store.PurgeOrganizations(ctx)
}

// sweep deletes until there is no more, or its time is over: then there may be.
func sweep(ctx context.Context, step func(context.Context) (more bool, err error)) (more bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	for more = true; more; {
		if more, err = step(bounded); err != nil {
			// A step that had no time left failed for that alone.
			late := bounded.Err() != nil && ctx.Err() == nil
			if late {
				err = nil
			}
			return late, err
		}
	}
	return false, nil
}
