package postgres_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octavo-docs/octavo/store/postgres"
)

// TestGroup checks that each call gets its own result, and that callers share runs. Runs must not overlap, and must not
// have more than the largest number of calls.
func TestGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const calls, most = 1000, 64
		var runs, inside atomic.Int64
		g := postgres.NewGroup(most, time.Minute, func(_ context.Context, in []int) ([]int, error) {
			runs.Add(1)
			if inside.Add(1) > 1 || len(in) > most {
				t.Errorf("%d runs at once, of %d calls", inside.Load(), len(in))
			}
			time.Sleep(time.Millisecond)
			inside.Add(-1)
			out := make([]int, len(in))
			for i, n := range in {
				out[i] = 2 * n
			}
			return out, nil
		})
		for range 2 { // in the second round, the group has been idle before
			var all sync.WaitGroup
			for i := range calls {
				all.Go(func() {
					if got, err := g.Do(t.Context(), i); err != nil || got != 2*i {
						t.Errorf("call %d gets %d, %v", i, got, err)
					}
				})
			}
			all.Wait()
		}
		if got := runs.Load(); got < 2*calls/most || got > 2*(calls/most+3) {
			t.Errorf("%d runs for %d calls", got, 2*calls)
		}
	})
}

// TestGroupGathers checks that calls that come in the pause before a run share the run. A single call must wait for the
// pause too.
func TestGroupGathers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs []int
		g := postgres.NewGroup(100, time.Minute, func(_ context.Context, in []int) ([]int, error) {
			runs = append(runs, len(in))
			return in, nil
		}).Gathering(10 * time.Millisecond)
		var all sync.WaitGroup
		for i := range 30 {
			all.Go(func() {
				if _, err := g.Do(t.Context(), i); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Millisecond)
		}
		all.Wait()
		began := time.Now()
		if _, err := g.Do(t.Context(), 0); err != nil || time.Since(began) != 10*time.Millisecond {
			t.Errorf("a lone call waits for %s: %v", time.Since(began), err)
		}
		sum := 0
		for _, n := range runs {
			sum += n
		}
		if sum != 31 || len(runs) > 4 {
			t.Errorf("runs of %v calls", runs)
		}
	})
}

// TestGroupFails checks that only the calls of a failed run get its error, and that a hanging run ends.
func TestGroupFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		g := postgres.NewGroup(8, time.Second, func(ctx context.Context, in []string) ([]int, error) {
			switch in[0] {
			case "hang":
				<-ctx.Done()
				return nil, ctx.Err()
			case "fail":
				return nil, broken
			}
			return make([]int, len(in)), nil
		})
		if _, err := g.Do(t.Context(), "fail"); !errors.Is(err, broken) {
			t.Errorf("the error is %v", err)
		}
		began := time.Now()
		_, err := g.Do(t.Context(), "hang")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("the error is %v after %s", err, time.Since(began))
		}
		if _, err := g.Do(t.Context(), "good"); err != nil {
			t.Error(err)
		}
	})
}

// TestGroupOfGoneCallers checks that Do returns immediately when its context is done. A run that begins later must
// leave the call out.
func TestGroupOfGoneCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ran []int
		gate := make(chan struct{})
		g := postgres.NewGroup(8, time.Minute, func(_ context.Context, in []int) ([]int, error) {
			ran = append(ran, in...)
			<-gate
			return in, nil
		})
		var all sync.WaitGroup
		all.Go(func() { _, _ = g.Do(t.Context(), 1) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 20 {
			all.Go(func() {
				if _, err := g.Do(ctx, 10+i); !errors.Is(err, context.Canceled) {
					t.Errorf("a caller that has gone gets %v", err)
				}
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		all.Go(func() { _, _ = g.Do(t.Context(), 2) })
		synctest.Wait()
		close(gate)
		all.Wait()
		if len(ran) != 2 || ran[0] != 1 || ran[1] != 2 {
			t.Errorf("the calls %v ran", ran)
		}
	})
}
