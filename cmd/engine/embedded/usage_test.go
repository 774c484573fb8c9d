package embedded_test

import (
	"context"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
)

// TestUsage checks Usage: an engine that answers is up and has its memory, and a stopped engine is down. The
// broker's usage includes its files and the log's limit.
func TestUsage(t *testing.T) {
	t.Parallel()
	engines, err := embedded.Start(t.Context(), withBinary(t, embedded.Config{
		Want: embedded.Set{Postgres: true, Kafka: true}, Log: embedded.LogLimits{MaxBytes: 1 << 30},
	}))
	if err != nil {
		t.Fatal(err)
	}
	usage := func() map[string]embedded.Usage {
		byName := map[string]embedded.Usage{}
		for _, u := range engines.Usage() {
			byName[u.Name] = u
		}
		return byName
	}
	now := usage()
	if len(now) != 2 {
		t.Errorf("%+v", now)
	}
	for name, u := range now {
		if !u.Up || u.Memory < 1<<20 || u.Memory > 4<<30 {
			t.Errorf("%s: %+v", name, u)
		}
	}
	if log := now[embedded.Kafka]; log.Disk <= 0 || log.MaxDisk != 1<<30 {
		t.Errorf("%+v", log)
	}
	if database := now[embedded.Postgres]; database.Disk != 0 || database.MaxDisk != 0 {
		t.Errorf("%+v", database)
	}
	if err := engines.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	for name, u := range usage() {
		if u.Up || u.Memory != 0 {
			t.Errorf("stopped: %s: %+v", name, u)
		}
	}
}
