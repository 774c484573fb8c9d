package query

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/schema"
)

// TestDamage damages each kind of file of a part that an answer reads. The answer is the error about damaged stored
// data. It is never an internal error, and never a complete answer.
func TestDamage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		damage     func(data []byte) []byte
	}{
		{"bytes of the data", "data.bin", func(data []byte) []byte {
			for i := 20; i < len(data); i += 40 {
				data[i] ^= 1
			}
			return data
		}},
		{"zeros in the data", "data.bin", func(data []byte) []byte { clear(data[len(data)/3:]); return data }},
		{"cut data", "data.bin", func(data []byte) []byte { return data[:100] }},
		{"empty data", "data.bin", func([]byte) []byte { return nil }},
		{"data gone", "data.bin", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := store(t)
			insert(t, conn, testSite, fixture())
			damagePart(t, conn, c.file, c.damage)
			metrics := NewMetrics(prometheus.NewRegistry())
			var log bytes.Buffer
			config := DefaultConfig()
			config.Log = slog.New(slog.NewTextHandler(&log, nil))
			service := New(config, conn, metrics)
			_, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(byCountry), testNow)
			e := schema.AsError(err)
			if err == nil || e.Code != schema.CodeUnavailable || schema.DamageOf(err) == nil ||
				!strings.HasPrefix(e.Message, "stored data is damaged: ") {
				t.Fatalf("the answer of damaged data: %v", err)
			}
			if n := testutil.ToFloat64(metrics.errors[Aggregate][classDamaged]); n != 1 {
				t.Errorf("%v damaged answers are counted", n)
			}
			if !strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("the log: %s", log.String())
			}
		})
	}
}

// damagePart changes a file of a part of the events table, or removes the file if `damage` is nil. The engine must not
// have cached the file, so the table must be new and unread.
func damagePart(t *testing.T, conn driver.Conn, file string, damage func([]byte) []byte) {
	t.Helper()
	var folder string
	const part = "SELECT path FROM system.parts " +
		"WHERE database = currentDatabase() AND table = 'events' AND active LIMIT 1"
	if err := conn.QueryRow(t.Context(), part).Scan(&folder); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, file)
	if damage == nil {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, damage(data), 0o600); err != nil {
		t.Fatal(err)
	}
}
