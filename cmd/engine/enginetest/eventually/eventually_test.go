package eventually_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// recorder is a testing.TB that records the failure of a wait.
type recorder struct {
	testing.TB
	ctx    context.Context
	failed string
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.ctx }

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// record runs a wait with a recorder. It returns the wait's failure and its duration.
func record(ctx context.Context, t testing.TB, wait func(testing.TB)) (string, time.Duration) {
	r := &recorder{TB: t, ctx: ctx}
	start, done := time.Now(), make(chan struct{})
	go func() {
		defer close(done)
		wait(r)
	}()
	<-done
	return r.failed, time.Since(start)
}

func TestATrueConditionIsSeenSoon(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, 3 * time.Millisecond, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			failed, took := record(t.Context(), t, func(t testing.TB) {
				eventually.True(t, "the moment", func() bool { return time.Since(start) >= after })
			})
			if failed != "" || took < after || took > after+10*time.Millisecond {
				t.Errorf("after %s: took %s, failed with %q", after, took, failed)
			}
		})
	}
}

func TestFailureHasTheLastError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		failed, took := record(t.Context(), t, func(t testing.TB) {
			eventually.Succeeds(t, "seven rows", func() error {
				if time.Since(start) < eventually.Patience {
					return errors.New("there are 5")
				}
				return errors.New("there are 6")
			})
		})
		if took != eventually.Patience || !strings.Contains(failed, "for seven rows") ||
			!strings.Contains(failed, eventually.Patience.String()) || !strings.HasSuffix(failed, ": there are 6") {
			t.Errorf("took %s, failed with %q", took, failed)
		}
	})
}

// TestSlowPollIsNotTheLast checks that a poll that ends after the time limit is followed by another poll.
func TestSlowPollIsNotTheLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks, late := 0, make(chan struct{})
		time.AfterFunc(2*eventually.Patience, func() { close(late) })
		failed, _ := record(t.Context(), t, func(t testing.TB) {
			eventually.True(t, "the second look", func() bool {
				<-late // the time limit has passed
				looks++
				return looks == 2
			})
		})
		if failed != "" {
			t.Errorf("failed with %q", failed)
		}
	})
}

func TestWaitEndsWithItsTest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		failed, took := record(ctx, t, func(t testing.TB) {
			eventually.True(t, "nothing", func() bool { return false })
		})
		if took != time.Second || !strings.Contains(failed, context.Canceled.Error()) {
			t.Errorf("took %s, failed with %q", took, failed)
		}
	})
}
