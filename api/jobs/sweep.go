package jobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/octavo-docs/octavo/api/remote/gitsync"
	"github.com/octavo-docs/octavo/store"
)

const (
	sweepInterval = time.Minute
	sweepTime     = 30 * time.Second // sweepTime is the longest time of one sweep.
	// packAge is longer than any job runs. Nodes may share the directory, so younger entries may be in use by another
	// node.
	packAge = 2 * time.Hour
)

// SweepConfig has the settings of a Sweep.
type SweepConfig struct {
	Store *store.Store
	Log   *slog.Logger
	// AuditRetention is the age at which entries of the audit log are deleted. 0 means that they are never deleted.
	AuditRetention time.Duration
	// PacksDir is the folder of the packs, with fetched repositories, that jobs are reading.
	PacksDir string
	// GitCacheDir is the folder of the repositories that are cached for imports and exports with a repoCacheID.
	// GitCacheBytes is the largest size of this folder in bytes.
	GitCacheDir   string
	GitCacheBytes int64
}

// Sweep deletes expired rows and files, in batches of limited size. It runs about once a minute, and without a pause
// while there is more to delete. Queries ignore expired rows even before the sweep deletes them. Every node sweeps,
// because every node has its own files.
type Sweep struct{ cfg SweepConfig }

// NewSweep builds a sweep without starting it.
func NewSweep(cfg SweepConfig) *Sweep { return &Sweep{cfg} }

// Run sweeps until ctx ends.
func (s *Sweep) Run(ctx context.Context) {
	more := false
	for {
		// The random wait makes nodes that start at the same time sweep at different times.
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
		if more, err = s.Once(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Log.Warn("Cannot delete expired data; the next sweep tries again.", "error", err)
		}
	}
}

// Once deletes until nothing is left to delete or sweepTime is over. `more` is true if something may be left.
func (s *Sweep) Once(ctx context.Context) (more bool, err error) { return repeat(ctx, s.batch) }

// Packs deletes old packs, which killed processes have not deleted.
func (s *Sweep) Packs(ctx context.Context) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	return sweepPacks(s.cfg.PacksDir, now)
}

// now returns the time from which the files' ages are measured. It is the store's guarded time or this machine's time,
// whichever is earlier. This machine's time is compared because its clock has set the times of the files.
func (s *Sweep) now(ctx context.Context) (time.Time, error) {
	guarded, err := s.cfg.Store.Clock.DeletionTime(ctx)
	if own := time.Now(); own.Before(guarded) {
		return own, err
	}
	return guarded, err
}

// sweepStep is one kind of data that a sweep deletes. delete deletes a batch. `more` is true if another batch is left.
type sweepStep struct {
	what   string
	delete func(context.Context) (more bool, err error)
}

// steps lists what a sweep deletes, in this order. Organizations come last, because a large organization may take all
// the remaining time.
func (s *Sweep) steps() []sweepStep {
	st := s.cfg.Store
	whole := func(delete func(context.Context) error) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) { return false, delete(ctx) }
	}
	return []sweepStep{
		{"ended invites", whole(st.Orgs.DeleteEndedInvites)},
		{"ended sessions", whole(st.Orgs.DeleteEndedSessions)},
		{"lost Git operations", whole(st.FailLostGitOperations)},
		{"lost translation runs", whole(st.FailLostTranslationRuns)},
		{"Git credentials", whole(st.ForgetGitCredentials)},
		{"Git packs", whole(s.Packs)},
		{"the Git cache", whole(s.gitCache)},
		{"salts of visitors", whole(st.Sites.DeleteOldDoorSalts)},
		{"event keys", st.Sites.DeleteOldEventKeys},
		{"PDFs", st.DeleteOldPDFs},
		{"changes for front ends", st.Hooks.DeleteOldFrontEndChanges},
		{"events of webhooks", st.Hooks.DeleteOldWebhookEvents},
		{"jobs", st.Queue.DeleteOld},
		{"audit entries", s.auditEntries},
		{"organizations", whole(st.Orgs.Purge)},
		{"content", whole(func(ctx context.Context) error { _, err := st.PurgeContent(ctx); return err })},
	}
}

func (s *Sweep) gitCache(ctx context.Context) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	return gitsync.SweepCache(s.cfg.GitCacheDir, s.cfg.GitCacheBytes, now)
}

func (s *Sweep) auditEntries(ctx context.Context) (more bool, err error) {
	if s.cfg.AuditRetention == 0 {
		return false, nil
	}
	return s.cfg.Store.Audit.DeleteOldAuditEntries(ctx, s.cfg.AuditRetention)
}

// batch runs the steps in order, until a step reports that more is left.
func (s *Sweep) batch(ctx context.Context) (more bool, err error) {
	for _, step := range s.steps() {
		more, err := step.delete(ctx)
		if err != nil {
			return more, fmt.Errorf("cannot delete %s: %w", step.what, err)
		}
		if more {
			return true, nil
		}
	}
	return false, nil
}

// repeat calls `step` until it returns false for more, or until sweepTime is over. `more` is true if something may be
// left.
func repeat(ctx context.Context, step func(context.Context) (more bool, err error)) (more bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	for more = true; more; {
		if more, err = step(bounded); err != nil {
			// A time-out is not an error: the next sweep continues.
			late := bounded.Err() != nil && ctx.Err() == nil
			if late {
				err = nil
			}
			return late, err
		}
	}
	return false, nil
}

// sweepPacks deletes entries of `dir` that are older than packAge.
func sweepPacks(dir string, now time.Time) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && now.Sub(info.ModTime()) < packAge {
			continue
		}
		if err == nil {
			err = os.RemoveAll(filepath.Join(dir, entry.Name()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
