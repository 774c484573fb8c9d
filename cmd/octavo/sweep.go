package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/octavo-docs/octavo/api/remote/gitsync"
)

// The sweep deletes old idempotency keys, expired invites, PDFs that nobody has
// used for a while, changes that no front end was told, old events of webhooks,
// old entries of the audit log and the data of deleted organizations and spaces,
// in batches of bounded size. It runs about once a
// minute, and without a pause while more is left. Expired rows are ignored
// whether or not they have been deleted.
const (
	sweepInterval = time.Minute
	sweepTime     = 30 * time.Second // bounds one sweep
)

// startSweep starts the sweep on nodes with the role jobs, and on those with
// the role api, which create the rows.
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
			// Jitter keeps nodes that start together from sweeping together.
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
				n.log.Warn("Cannot delete expired data; the next sweep tries again.", "error", err)
			}
		}
	}()
	n.onStop("sweep", func(context.Context) error {
		cancel()
		<-done
		return nil
	})
}

// sweepStep deletes one batch of each kind. Organizations come last: a large
// one may take all the time that is left.
func (n *node) sweepStep(ctx context.Context) (more bool, err error) {
	if err := n.store.DeleteEndedInvites(ctx); err != nil {
		return false, err
	}
	if err := n.store.DeleteEndedSessions(ctx); err != nil {
		return false, err
	}
	if err := n.store.FailLostGitOperations(ctx); err != nil {
		return false, err
	}
	if err := n.store.FailLostTranslationRuns(ctx); err != nil {
		return false, err
	}
	if err := n.store.ForgetGitCredentials(ctx); err != nil {
		return false, err
	}
	if err := sweepPacks(packsDir(n.settings), time.Now()); err != nil {
		return false, err
	}
	if err := gitsync.SweepCache(gitCacheDir(n.settings), int64(n.settings.GitCache), time.Now()); err != nil {
		return false, err
	}
	if more, err := n.store.DeleteOldEventKeys(ctx); more || err != nil {
		return more, err
	}
	if more, err := n.store.DeleteOldPDFs(ctx); more || err != nil {
		return more, err
	}
	if more, err := n.store.DeleteOldFrontEndChanges(ctx); more || err != nil {
		return more, err
	}
	if more, err := n.store.DeleteOldWebhookEvents(ctx); more || err != nil {
		return more, err
	}
	if keep := n.settings.AuditRetention; keep > 0 {
		if more, err := n.store.Audit.DeleteOldAuditEntries(ctx, time.Now().Add(-keep)); more || err != nil {
			return more, err
		}
	}
	if err := n.store.PurgeOrganizations(ctx); err != nil {
		return false, err
	}
	_, err = n.store.PurgeContent(ctx)
	return false, err
}

// sweep runs step until nothing is left or sweepTime is over. more reports
// whether something may be left.
func sweep(ctx context.Context, step func(context.Context) (more bool, err error)) (more bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	for more = true; more; {
		if more, err = step(bounded); err != nil {
			// Running out of time is no error: the next sweep goes on.
			late := bounded.Err() != nil && ctx.Err() == nil
			if late {
				err = nil
			}
			return late, err
		}
	}
	return false, nil
}
