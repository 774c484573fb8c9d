package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// injector injects faults at random moments.
type injector struct {
	kinds []kind
	rng   *rand.Rand // rng is used only by the goroutine of run
	deck  []int      // indexes of the kinds that are drawn before the next shuffle
	say   func(format string, arguments ...any)

	running sync.WaitGroup
	mu      sync.Mutex
	busy    map[string]bool // targets that have a fault in progress
	again   []int           // indexes of kinds whose fault was not possible; run tries each again after two other kinds
	done    map[string]*faultCount
	total   int
	began   int // number of faults that are injected or in progress
}

// faultCount counts the faults of a kind.
type faultCount struct {
	Injected int
	Late     int // number of faults whose target did not recover within recoverLimit
	Longest  time.Duration
}

func newInjector(kinds []kind, seed uint64, say func(string, ...any)) *injector {
	in := &injector{kinds: kinds, rng: rand.New(rand.NewPCG(seed, 2)), say: say, busy: map[string]bool{}, done: map[string]*faultCount{}}
	for _, k := range kinds {
		in.done[k.name] = &faultCount{}
	}
	return in
}

// run injects a number of faults, distributed over a duration. It ends early if ctx is done. If the number of faults is
// at least the number of kinds, each kind should occur. If a kind has not occurred at the end, `run` injects faults of
// the missing kinds, up to twice the number of faults in total. `run` returns when every target has recovered or has
// exceeded recoverLimit.
func (in *injector) run(ctx context.Context, faults int, over time.Duration) {
	defer in.running.Wait()
	end := time.Now().Add(over)
	most := faults
	if faults >= len(in.kinds) {
		most *= 2
	}
	for {
		in.mu.Lock()
		total, began := in.total, in.began
		if missing := in.missing(); total >= faults && began == total && len(missing) > 0 && faults < most {
			in.deck, in.again = missing, nil
			faults++
		}
		in.mu.Unlock()
		if total >= faults {
			return
		}
		// A fault in progress may prove to be impossible, and then another fault is needed. So run waits until the last
		// faults are over.
		wait := 50 * time.Millisecond
		if began < faults {
			// Wait up to twice the average time, so that some faults happen while the targets of other faults recover.
			wait = max(wait, time.Duration(in.rng.Float64()*2*float64(time.Until(end))/float64(faults-began)))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if began < faults {
			in.next()
		}
	}
}

// missing returns the indexes of the kinds that were never injected. The caller holds mu.
func (in *injector) missing() (list []int) {
	for i, k := range in.kinds {
		if in.done[k.name].Injected == 0 {
			list = append(list, i)
		}
	}
	return list
}

// next draws a fault and starts it. It draws from a shuffled list, the deck, so that even a short run includes each
// kind. A kind whose targets all have a fault in progress stays in the deck. If the deck has only such kinds, `next`
// appends a new deck.
func (in *injector) next() {
	in.mu.Lock()
	if len(in.again) > 0 {
		in.deck, in.again = slices.Insert(in.deck, in.behindOthers(), in.again...), nil
	}
	in.mu.Unlock()
	for {
		for place, i := range in.deck {
			k, variant := in.kinds[i], in.rng.IntN(1<<16)
			target, ok := in.take(k, variant)
			if !ok {
				continue
			}
			in.deck = slices.Delete(in.deck, place, place+1)
			in.running.Go(func() { in.inject(i, target, variant) })
			return
		}
		if in.holdsEachKind() {
			return // every target has a fault in progress
		}
		in.deck = append(in.deck, in.shuffled()...)
	}
}

// behindOthers returns the place in the deck after the first two kinds that are not in `again`. If the deck has only
// kinds that are in `again`, behindOthers first appends a new deck.
func (in *injector) behindOthers() (place int) {
	other := func(i int) bool { return !slices.Contains(in.again, i) }
	if !slices.ContainsFunc(in.deck, other) {
		in.deck = append(in.deck, in.shuffled()...)
	}
	for others := 0; place < len(in.deck) && others < 2; place++ {
		if other(in.deck[place]) {
			others++
		}
	}
	return place
}

func (in *injector) holdsEachKind() bool {
	for i := range in.kinds {
		if !slices.Contains(in.deck, i) {
			return false
		}
	}
	return true
}

// shuffled returns a new deck. It begins with each kind once, and then has the kinds with a weight of more than 1
// again.
func (in *injector) shuffled() []int {
	deck := in.rng.Perm(len(in.kinds))
	var more []int
	for i, k := range in.kinds {
		for range k.weight - 1 {
			more = append(more, i)
		}
	}
	in.rng.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
	return append(deck, more...)
}

func (in *injector) take(k kind, variant int) (string, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i := range k.targets {
		if target := k.targets[(variant+i)%len(k.targets)]; !in.busy[target] {
			in.busy[target] = true
			in.began++
			return target, true
		}
	}
	return "", false
}

func (in *injector) inject(i int, target string, variant int) {
	k := in.kinds[i]
	ctx, cancel := context.WithTimeout(context.Background(), recoverLimit)
	defer cancel()
	began := time.Now()
	err := k.inject(ctx, target, variant)
	took := time.Since(began)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.busy[target] = false
	if errors.Is(err, errNotInjected) {
		in.began--
		in.again = append(in.again, i)
		return
	}
	in.total++
	count := in.done[k.name]
	count.Injected++
	count.Longest = max(count.Longest, took)
	outcome := fmt.Sprintf("back after %s", took.Round(time.Millisecond))
	if err != nil {
		count.Late++
		outcome = err.Error()
	}
	in.say("fault %d: %s: %s, %s", in.total, k.name, target, outcome)
}
