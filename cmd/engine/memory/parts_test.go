package memory_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/memory"
)

const mib = 1 << 20

// parts lists all parts, in the table's order.
var parts = []memory.Part{
	memory.System, memory.Node, memory.Git, memory.Broker, memory.Postgres, memory.PDF, memory.Store,
}

// TestPartsFit divides random budgets between random parts, some of them with fixed sizes. The sum of the parts is at
// most the budget. Each part gets at least its size in the least budget. A budget that is too small is refused.
func TestPartsFit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	if all := memory.All(); len(all) != len(parts) {
		t.Fatalf("there are %d parts", len(all))
	}
	budgets := map[int64]bool{}
	for budget := memory.LeastBytes(); budget < 5<<30; budget += mib / 2 {
		budgets[budget] = true
	}
	for range 20_000 {
		budgets[random.Int64N(1<<40)] = true
	}
	refused := 0
	for budget := range budgets {
		runs, given := memory.All(), map[memory.Part]int64{}
		if random.IntN(2) == 0 {
			for _, part := range parts {
				runs[part] = random.IntN(4) > 0
				if random.IntN(4) == 0 {
					given[part] = random.Int64N(budget/2 + 1)
				}
			}
		}
		smallest, err := memory.Divide(0, runs, given)
		var small *memory.TooSmall
		if !errors.As(err, &small) && smallest.Sum() > 0 {
			t.Fatalf("a budget of 0: %v", err)
		}
		plan, err := memory.Divide(budget, runs, given)
		if tooSmall := budget < smallest.Sum(); tooSmall != (err != nil) {
			t.Fatalf("budget %d, least %d: %v", budget, smallest.Sum(), err)
		}
		if err != nil {
			refused++
			continue
		}
		if plan.Sum() > budget {
			t.Fatalf("budget %d, runs %v, given %v: the parts are %d", budget, runs, given, plan.Sum())
		}
		for _, part := range parts {
			size, set := given[part]
			switch {
			case !runs[part] && plan.Of(part) != 0, runs[part] && set && plan.Of(part) != size:
				t.Fatalf("budget %d: %s has %d, given %d", budget, part, plan.Of(part), size)
			case plan.Of(part) < smallest.Of(part):
				t.Fatalf("budget %d: %s has %d, which is less than with the least budget", budget, part, plan.Of(part))
			}
		}
	}
	if refused == 0 || refused == len(budgets) {
		t.Errorf("%d of %d budgets were refused", refused, len(budgets))
	}
}

// TestParts checks how common budgets are divided.
func TestParts(t *testing.T) {
	t.Parallel()
	if memory.LeastBytes() != 512*mib {
		t.Errorf("the least is %d MiB", memory.LeastBytes()/mib)
	}
	for budget, want := range map[int64][7]int64{ // in the order of parts
		512:    {64, 96, 16, 32, 64, 0, 240},
		768:    {89, 126, 23, 39, 79, 0, 384},
		1024:   {115, 157, 31, 47, 94, 192, 385},
		2048:   {217, 280, 62, 78, 156, 383, 869},
		4096:   {422, 294, 123, 128, 279, 895, 1953},
		24_105: {1024, 294, 128, 128, 512, 4096, 12_052},
	} {
		plan, err := memory.Divide(budget*mib, memory.All(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range parts {
			if got := plan.Of(part) / mib; got != want[i] {
				t.Errorf("of %d MiB, %s has %d, want %d", budget, part, got, want[i])
			}
		}
	}
	_, err := memory.Divide(511*mib, memory.All(), nil)
	const sentence = "511 MiB of memory are too little: the parts of this node need at least 512 MiB"
	if err == nil || err.Error() != sentence {
		t.Errorf("got %v", err)
	}
}

// TestLoad checks that the load halves with each kill, down to an eighth, and doubles after each quiet time.
func TestLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said []float64
		l := &memory.Load{Doubled: func(part float64) { said = append(said, part) }}
		for range 5 {
			l.Halve()
		}
		if l.Halvings() != 3 {
			t.Errorf("after five kills: %d", l.Halvings())
		}
		time.Sleep(memory.Quiet - time.Second)
		l.Halve() // begins the quiet time again
		for want := 3; want > 0; want-- {
			time.Sleep(memory.Quiet - time.Second)
			if l.Halvings() != want {
				t.Errorf("before a quiet time is over: %d, want %d", l.Halvings(), want)
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if l.Halvings() != 0 {
			t.Errorf("after three quiet times: %d", l.Halvings())
		}
		time.Sleep(2 * memory.Quiet)
		if !slices.Equal(said, []float64{0.25, 0.5, 1}) {
			t.Errorf("the load was said to be %v", said)
		}
		l.Stop()
	})
}
