package eventlog

import (
	"testing"
	"time"
)

// TestRetryDefaults checks that, with the default settings, a broker that is unavailable for three attempts delays a
// request by 140 ms.
func TestRetryDefaults(t *testing.T) {
	t.Parallel()
	cfg := Config{Brokers: []string{"broker:9092"}}
	if err := cfg.complete(); err != nil {
		t.Fatal(err)
	}
	if cfg.RetryWait != 20*time.Millisecond || maxWait != time.Second {
		t.Errorf("attempts wait %s, up to %s", cfg.RetryWait, maxWait)
	}
}
