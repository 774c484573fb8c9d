package main

import (
	"context"
	"math/rand/v2"
	"time"
)

// Old idempotency keys are deleted every so often, a bounded number at a time:
// the rest waits for the next time. That they count no more does not depend on it.
const (
	sweepInterval = time.Minute
	sweepSteps    = 100
	sweepTime     = 30 * time.Second
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
		for {
			// Nodes that were started together do not sweep together.
			select {
			case <-ctx.Done():
				return
			case <-time.After(sweepInterval/2 + rand.N(sweepInterval)):
			}
			if err := n.sweep(ctx); err != nil && ctx.Err() == nil {
				n.log.Warn("Old idempotency keys could not be deleted.", "error", err)
			}
		}
	}()
	n.onStop("sweep", func(context.Context) error {
		cancel()
		<-done
		return nil
	})
}

func (n *node) sweep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	for range sweepSteps {
		more, err := n.store.DeleteOldEventKeys(ctx)
		if err != nil || !more {
			return err
		}
	}
	return nil
}
