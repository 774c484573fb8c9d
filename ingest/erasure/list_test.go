package erasure

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// ledger is a Source in memory.
type ledger struct {
	mu   sync.Mutex
	all  []schema.Tombstone
	away bool
	// raised is the highest version that a call of RaiseTombstones requested.
	raised int64
}

func (l *ledger) Tombstones(_ context.Context, after int64) (list []schema.Tombstone, version int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return nil, 0, errors.New("away")
	}
	version = max(1, l.raised)
	for _, t := range l.all {
		version = max(version, t.Version)
		if t.Version > after {
			list = append(list, t)
		}
	}
	return list, version, nil
}

func (l *ledger) RaiseTombstones(_ context.Context, version int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.raised = max(l.raised, version)
	return nil
}

func (l *ledger) add(t schema.Tombstone) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, t)
}

// TestList checks that a view has the tombstones up to its version, and that a view does not change. Await waits for a
// version that the list does not have yet.
func TestList(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_000_000)
	source := &ledger{}
	l := NewList(source, time.Millisecond, nil)
	if l.View().Version != 0 || !l.View().None() {
		t.Errorf("%+v before it is read", l.View())
	}
	source.away = true
	if err := l.Load(t.Context()); err == nil || l.View().Version != 0 {
		t.Errorf("a list that cannot be read has version %d, %v", l.View().Version, err)
	}
	source.away = false
	source.add(schema.Tombstone{Version: 2, SiteID: "a", Visitor: 7, Before: at})
	if err := l.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := l.View()
	source.add(schema.Tombstone{Version: 3, SiteID: "a", Visitor: 7, Before: at.Add(time.Second)})
	source.add(schema.Tombstone{Version: 3, SiteID: "b", Visitor: 8, Before: at})
	source.add(schema.Tombstone{Version: 3, SiteID: "b", Visitor: 9, EventKey: "k.1", Before: at})
	changed := l.Changed()
	awaited := make(chan error, 1)
	go func() { awaited <- l.Await(t.Context(), 3) }()
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Stop(t.Context()) })
	if err := <-awaited; err != nil {
		t.Fatal(err)
	}
	<-changed
	third := l.View()
	for _, c := range []struct {
		view     *View
		site     string
		visitor  uint64
		key      string
		received int64
		want     bool
	}{
		{second, "a", 7, "", 999_999, true}, {second, "a", 7, "", 1_000_000, false}, {second, "a", 8, "", 0, false},
		{second, "b", 7, "", 0, false}, {second, "b", 8, "", 0, false},
		{third, "a", 7, "", 1_000_999, true}, {third, "a", 7, "", 1_001_000, false}, {third, "b", 8, "", 999_999, true},
		{third.At(2), "a", 7, "", 1_000_000, false}, {third.At(2), "a", 7, "", 999_999, true},
		{third.At(2), "b", 8, "", 0, false}, {third.At(0), "a", 7, "", 0, false},
		{nil, "a", 7, "", 0, false},
		{third, "b", 1, "k.1", 999_999, true}, {third, "b", 1, "k.1", 1_000_000, false},
		{third, "b", 1, "k.2", 0, false},
		{third, "b", 9, "", 0, false}, {third, "a", 1, "k.1", 0, false}, {third.At(2), "b", 1, "k.1", 0, false},
		{third, "b", 8, "k.2", 999_999, true},
	} {
		if got := c.view.Site(c.site).Has(c.visitor, c.key, c.received); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := l.Await(ended, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("a version that never comes: %v", err)
	}
	var none *List
	if none.View() != nil || none.Changed() != nil || none.Await(t.Context(), 5) != nil {
		t.Error("a nil list has something")
	}
}

// TestTombstonesLost checks a store that was restored from a backup and has lost tombstones. Await must not wait for
// the lost versions forever. New tombstones must get versions that were not used before.
func TestTombstonesLost(t *testing.T) {
	t.Parallel()
	source := &ledger{}
	source.add(schema.Tombstone{Version: 2, SiteID: "a", Visitor: 7, Before: time.UnixMilli(1)})
	l := NewList(source, time.Millisecond, nil)
	if err := l.Await(t.Context(), 57); err != nil || l.View().Version != 57 || source.raised != 57 {
		t.Errorf("version %d, the source has %d, %v", l.View().Version, source.raised, err)
	}
	source = &ledger{away: true}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := NewList(source, time.Millisecond, nil).Await(ctx, 57); err == nil || source.raised != 0 {
		t.Errorf("a source that does not answer has lost nothing: %v, raised to %d", err, source.raised)
	}
}

// slowSource delays the answer to its first request until the second request has arrived. It delays the answer to the
// second request until the first answer was used.
type slowSource struct {
	ledger
	first, second, stored chan struct{}
	asked                 atomic.Int32
}

func (s *slowSource) Tombstones(ctx context.Context, after int64) ([]schema.Tombstone, int64, error) {
	list, version, err := s.ledger.Tombstones(ctx, after)
	switch s.asked.Add(1) {
	case 1:
		close(s.first)
		<-s.second
	case 2:
		close(s.second)
		<-s.stored
	}
	return list, version, err
}

// TestListLoadsAtOnce checks two concurrent calls of Load. The call that ends later may have read more tombstones, and
// the list must add these tombstones. Otherwise Await, which waits for their version, would report that Postgres has
// lost them.
func TestListLoadsAtOnce(t *testing.T) {
	t.Parallel()
	source := &slowSource{first: make(chan struct{}), second: make(chan struct{}), stored: make(chan struct{})}
	before := time.UnixMilli(1_000_000)
	source.add(schema.Tombstone{Version: 5, SiteID: "a", Visitor: 5, Before: before})
	l := NewList(source, time.Hour, nil)
	ended := make(chan error, 1)
	go func() {
		ended <- l.Load(t.Context())
		close(source.stored)
	}()
	<-source.first
	source.add(schema.Tombstone{Version: 7, SiteID: "a", Visitor: 7, Before: before})
	if err := l.Await(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	v := l.View()
	erased := v.sites["a"].visitors
	if v.Version != 7 || len(erased[5]) != 1 || len(erased[7]) != 1 || source.raised != 0 {
		t.Errorf("%+v, and the source was raised to %d", v, source.raised)
	}
}
