package erasure

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema"
)

// Source returns the tombstones. The store implements it.
type Source interface {
	Tombstones(ctx context.Context, after int64) (list []schema.Tombstone, version int64, err error)
	// RaiseTombstones raises the tombstones' version to at least this version.
	RaiseTombstones(ctx context.Context, version int64) error
}

// mark erases events of a visitor or key: the events that were received before a time, or in a later time span. The
// times are in milliseconds.
type mark struct{ version, before, aheadFrom, aheadUntil int64 }

// covers reports whether the mark erases the events that were received at a time.
func (m mark) covers(received int64) bool {
	return received < m.before || m.aheadFrom <= received && received < m.aheadUntil
}

// Site has the erased visitors of a site, and the erased generations of its publishable keys.
type Site struct {
	marks
	upTo int64
}

type marks struct {
	visitors map[uint64][]mark // a visitor's marks, in the order of their versions
	keys     map[string][]mark // a key generation's marks, in the order of their versions
}

// Empty reports whether no visitor and no key of the site is erased.
func (s Site) Empty() bool { return len(s.visitors)+len(s.keys) == 0 }

// Has reports whether an event is erased: by its visitor, or by its key. `received` is the time of its arrival, in
// milliseconds. `eventKey` is "" for an event without a key.
func (s Site) Has(visitor uint64, eventKey string, received int64) bool {
	erases := func(m mark) bool { return m.covers(received) && m.version <= s.upTo }
	return slices.ContainsFunc(s.visitors[visitor], erases) ||
		eventKey != "" && slices.ContainsFunc(s.keys[eventKey], erases)
}

// View is an immutable snapshot of the list at a version. A nil View is empty.
type View struct {
	Version int64
	sites   map[string]marks
}

// Site returns the erased visitors and keys of a site.
func (v *View) Site(site string) Site {
	if v == nil || len(v.sites) == 0 {
		return Site{}
	}
	return Site{v.sites[site], v.Version}
}

// None reports whether the view has no erased visitors and keys.
func (v *View) None() bool { return v == nil || len(v.sites) == 0 }

// At returns the view with only the tombstones up to an earlier version.
func (v *View) At(version int64) *View { return &View{version, v.sites} }

func (v *View) with(list []schema.Tombstone, version int64) *View {
	next := &View{version, maps.Clone(v.sites)}
	if next.sites == nil {
		next.sites = map[string]marks{}
	}
	copied := map[string]bool{}
	for _, t := range list {
		of := next.sites[t.SiteID]
		if !copied[t.SiteID] {
			of = marks{maps.Clone(of.visitors), maps.Clone(of.keys)}
			copied[t.SiteID] = true
		}
		m := mark{version: t.Version, before: t.Before.UnixMilli()}
		if !t.AheadUntil.IsZero() {
			m.aheadFrom, m.aheadUntil = t.AheadFrom.UnixMilli(), t.AheadUntil.UnixMilli()
		}
		if t.EventKey != "" {
			of.keys = added(of.keys, t.EventKey, m)
		} else {
			of.visitors = added(of.visitors, t.Visitor, m)
		}
		next.sites[t.SiteID] = of
	}
	return next
}

// added appends a mark to the list that the map has under `key`. The map may be nil. Several views use the same lists,
// so `added` changes a copy of the list.
func added[K comparable](to map[K][]mark, key K, m mark) map[K][]mark {
	if to == nil {
		to = map[K][]mark{}
	}
	had := to[key]
	to[key] = append(had[:len(had):len(had)], m)
	return to
}

// List follows the tombstones. The list only grows: old tombstones stay until the process ends. A nil List has no
// tombstones; only tests use it.
type List struct {
	source Source
	logger *slog.Logger
	every  time.Duration
	view   atomic.Pointer[View]

	mu      sync.Mutex
	changed chan struct{} // The next change closes changed.
	cancel  context.CancelFunc
	done    chan struct{}
}

// NewList builds a list that reads new tombstones at the interval `every`. If `every` is 0, the interval is one second.
// NewList starts no goroutine.
func NewList(source Source, every time.Duration, logger *slog.Logger) *List {
	l := &List{source: source, logger: cmp.Or(logger, slog.New(slog.DiscardHandler)), every: cmp.Or(every, time.Second), changed: make(chan struct{})}
	l.view.Store(&View{})
	return l
}

// Start follows the tombstones until Stop.
func (l *List) Start(context.Context) error {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel, l.done = cancel, make(chan struct{})
	go func() {
		defer close(l.done)
		var pace retry.LogPace
		for ctx.Err() == nil {
			attempt, stop := context.WithTimeout(ctx, 10*time.Second)
			err := l.Load(attempt)
			stop()
			if err != nil && ctx.Err() == nil && pace.Due() {
				l.logger.Warn("Cannot read the list of erased visitors; erasures wait until it is readable.",
					"error", err)
			}
			retry.Sleep(ctx, l.every)
		}
	}()
	return nil
}

// Stop stops following the tombstones.
func (l *List) Stop(context.Context) error {
	if l.cancel != nil {
		l.cancel()
		<-l.done
	}
	return nil
}

// Load reads new tombstones once. The list then has every tombstone that existed when the call began.
func (l *List) Load(ctx context.Context) error {
	list, version, err := l.source.Tombstones(ctx, l.view.Load().Version)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	had := l.view.Load()
	if version <= had.Version {
		return nil
	}
	// A faster concurrent call has already added these tombstones.
	list = slices.DeleteFunc(list, func(t schema.Tombstone) bool { return t.Version <= had.Version })
	l.view.Store(had.with(list, version))
	close(l.changed)
	l.changed = make(chan struct{})
	return nil
}

// View returns the current view.
func (l *List) View() *View {
	if l == nil {
		return nil
	}
	return l.view.Load()
}

// Changed returns a channel that is closed when the list next changes.
func (l *List) Changed() <-chan struct{} {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Await waits until the list's version is at least `version`. Versions start at 1, so the list has then been read at
// least once. If the source returns a lower version, the source was restored from a backup. The tombstones since that
// backup are lost. In this case, Await logs an error and raises the version of the source.
func (l *List) Await(ctx context.Context, version int64) error {
	if l == nil {
		return nil
	}
	var pace retry.LogPace
	for {
		changed := l.Changed()
		if l.View().Version >= version {
			return nil
		}
		err := l.Load(ctx)
		switch had := l.View().Version; {
		case had >= version:
			return nil
		case err == nil && version > 1:
			l.logger.Error(
				"Postgres has lost tombstones, for example after a restored backup. Repeat the erasures since then.",
				"had", version, "has", had)
			err = l.source.RaiseTombstones(ctx, version)
		}
		if err != nil && ctx.Err() == nil && pace.Due() {
			l.logger.Warn("A partition waits for the list of erased visitors.", "error", err)
		}
		again, stop := context.WithTimeout(ctx, l.every)
		select {
		case <-changed:
		case <-again.Done():
		}
		stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
