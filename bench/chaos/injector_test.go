package main

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestInjectorDrawsEachKind checks that even a run of a few faults includes each kind. Faults that were not possible do
// not count.
func TestInjectorDrawsEachKind(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var injected int
	refused := false
	inject := func(_ context.Context, target string, _ int) error {
		mu.Lock()
		defer mu.Unlock()
		if target[0] == 'b' && !refused {
			refused = true
			return errNotInjected
		}
		injected++
		return nil
	}
	var kinds []kind
	for _, name := range []string{"a", "b", "c"} {
		kinds = append(kinds, kind{name, 2, []string{name + "1", name + "2"}, inject})
	}
	in := newInjector(kinds, 3, func(string, ...any) {})
	for range 10 {
		if deck := in.shuffled(); len(deck) != 6 || len(slices.Compact(slices.Sorted(slices.Values(deck[:3])))) != 3 {
			t.Errorf("the deck %v does not begin with each kind", deck)
		}
	}
	in.run(t.Context(), 9, 0)
	if injected != 9 || in.total != 9 {
		t.Fatalf("%d faults, %d counted, want 9", injected, in.total)
	}
	for name, count := range in.done {
		if count.Injected < 2 {
			t.Errorf("%s was injected %d times of 9", name, count.Injected)
		}
	}
}

// TestInjectorLeavesOutNoKind uses a kind of fault that is not possible until faults of the other kinds were injected.
// The injector must inject it after this.
func TestInjectorLeavesOutNoKind(t *testing.T) {
	t.Parallel()
	var others atomic.Int32
	kinds := []kind{
		{"late", 1, []string{"x"}, func(context.Context, string, int) error {
			if others.Load() < 6 {
				return errNotInjected
			}
			return nil
		}},
		{"other", 1, []string{"y"}, func(context.Context, string, int) error { others.Add(1); return nil }},
	}
	in := newInjector(kinds, 1, func(string, ...any) {})
	in.run(t.Context(), 5, 0)
	if in.done["late"].Injected == 0 {
		t.Errorf("%d faults: %+v", in.total, in.done["late"])
	}
}

// TestInjectorFollowsItsSeed checks that the same seed gives the same decks, and another seed gives other decks.
func TestInjectorFollowsItsSeed(t *testing.T) {
	t.Parallel()
	decks := func(seed uint64) (list []int) {
		in := newInjector((&rig{}).kinds(), seed, func(string, ...any) {})
		for range 10 {
			list = append(list, in.shuffled()...)
		}
		return list
	}
	if !slices.Equal(decks(1), decks(1)) || slices.Equal(decks(1), decks(2)) {
		t.Error("the decks do not follow the seed")
	}
}

// TestInjectorLeavesBusyTargetsAlone checks that a target never has two faults at a time. If all targets of a kind have
// a fault, a fault of this kind must be injected later.
func TestInjectorLeavesBusyTargetsAlone(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	at := map[string]int{}
	began := 0
	release := make(chan struct{})
	// The first fault lasts until other faults have been drawn.
	inject := func(_ context.Context, target string, _ int) error {
		mu.Lock()
		at[target]++
		if at[target] > 1 {
			t.Errorf("two faults at %s", target)
		}
		began++
		first := began == 1
		if began == 8 {
			close(release)
		}
		mu.Unlock()
		if first {
			<-release
		}
		mu.Lock()
		at[target]--
		mu.Unlock()
		return nil
	}
	in := newInjector([]kind{{"x", 1, []string{"one"}, inject}, {"y", 1, []string{"one", "two"}, inject}}, 1, func(string, ...any) {})
	in.run(t.Context(), 20, 20*time.Millisecond) // x stays in its deck when y is drawn from the next deck
	if in.total != 20 {
		t.Errorf("%d faults, want 20", in.total)
	}
}

func TestInjectorEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	in := newInjector([]kind{{"never", 1, []string{"x"}, func(context.Context, string, int) error { return errNotInjected }}}, 1, func(string, ...any) {})
	in.run(ctx, 5, 5*time.Millisecond)
	r := &result{Faults: in.done, Wanted: 5}
	if in.total != 0 || !slices.Contains(r.problems(), "only 0 of 5 faults were injected in the time") || !slices.Contains(r.problems(), `no fault "never" was injected`) {
		t.Errorf("%d faults; problems %v", in.total, r.problems())
	}
}
