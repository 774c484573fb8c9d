package retry

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestBackoff checks that the delay doubles from First up to Max. In the synctest bubble, the delays are exact.
func TestBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := Backoff{First: 20 * time.Millisecond, Max: time.Second}
		slept := func() (millis int64) {
			start, announced := time.Now(), b.Next()
			b.Sleep(t.Context())
			if took := time.Since(start); took != announced {
				t.Errorf("slept %s, announced %s", took, announced)
			}
			return announced.Milliseconds()
		}
		var got []int64
		for range 8 {
			got = append(got, slept())
		}
		if want := []int64{20, 40, 80, 160, 320, 640, 1000, 1000}; !slices.Equal(got, want) {
			t.Errorf("slept %v ms, want %v", got, want)
		}
		b.Reset()
		if again := slept(); again != 20 {
			t.Errorf("slept %d ms after a reset, want 20", again)
		}
		done, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		if b.Sleep(done); time.Since(start) != 0 {
			t.Error("slept although the context was done")
		}
	})
}

// TestLogPace checks that a persistent condition is logged immediately, and then every half minute.
func TestLogPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p LogPace
		logged := 0
		for range 61 {
			if p.Due() {
				logged++
			}
			Sleep(t.Context(), time.Second)
		}
		if logged != 3 {
			t.Errorf("logged %d times in 61 s, want 3", logged)
		}
	})
}
