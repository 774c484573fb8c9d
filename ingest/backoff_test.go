package ingest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestBackoff: a wait begins short and doubles, up to its most, to the
// nanosecond of the bubble's clock. With the defaults of the log a broker that
// is away for three attempts costs a request 140 ms.
func TestBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := LogConfig{Brokers: []string{"broker:9092"}}
		if err := cfg.complete(); err != nil {
			t.Fatal(err)
		}
		b := backoff{wait: cfg.RetryWait, most: logBackoff}
		slept := func() (millis int64) {
			start, said := time.Now(), b.next()
			b.sleep(t.Context())
			if took := time.Since(start); took != said {
				t.Errorf("slept %s, said %s", took, said)
			}
			return said.Milliseconds()
		}
		var got []int64
		for range 8 {
			got = append(got, slept())
		}
		if want := []int64{20, 40, 80, 160, 320, 640, 1000, 1000}; !slices.Equal(got, want) {
			t.Errorf("slept %v ms, want %v", got, want)
		}
		b.reset()
		if again := slept(); again != 20 {
			t.Errorf("slept %d ms after a reset, want 20", again)
		}
		done, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		if b.sleep(done); time.Since(start) != 0 {
			t.Error("slept although nobody waits")
		}
	})
}
