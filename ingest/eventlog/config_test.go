package eventlog

import (
	"testing"
	"time"
)

// With the defaults, a broker that is away for three attempts costs a request
// 140 ms.
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
