package embedded_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/engine/supervise/dirlock"
)

func TestURLsStayTheSameOverRestarts(t *testing.T) {
	t.Parallel()
	cfg := withBinary(t, embedded.Config{Want: embedded.All})
	cfg.NoSync = false // this test syncs, as in production
	first, err := embedded.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	execPostgres(t, first.PostgresURL, "CREATE TABLE kept AS SELECT 1 AS n")
	if err := openClickHouse(t, first.ClickHouseURL).Exec(t.Context(), "CREATE TABLE kept (n UInt8) ENGINE = MergeTree ORDER BY n"); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	second := start(t, cfg)
	if first.PostgresURL != second.PostgresURL || first.ClickHouseURL != second.ClickHouseURL ||
		!slices.Equal(first.KafkaBrokers, second.KafkaBrokers) {
		t.Errorf("first %+v, then %+v", first, second)
	}
	execPostgres(t, second.PostgresURL, "SELECT n FROM kept")
	if err := openClickHouse(t, second.ClickHouseURL).Exec(t.Context(), "SELECT n FROM kept"); err != nil {
		t.Error(err)
	}
}

func TestSecondStartNamesTheOwner(t *testing.T) {
	t.Parallel()
	cfg := withBinary(t, embedded.Config{Want: embedded.Set{Kafka: true}})
	start(t, cfg)
	_, err := embedded.Start(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "process "+strconv.Itoa(os.Getpid())) || !strings.Contains(err.Error(), "OCTAVO_DATA_DIR") {
		t.Errorf("got %v", err)
	}
}

func TestDataDirThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(file, "below"), "/proc/octavo"} {
		cfg := withBinary(t, embedded.Config{DataDir: dir, Want: embedded.Set{Kafka: true}})
		_, err := embedded.Start(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "may write") {
			t.Errorf("got %v", err)
		}
	}
}

func TestFixedPortThatIsTaken(t *testing.T) {
	t.Parallel()
	port := occupy(t)
	for _, want := range []embedded.Set{{Kafka: true}, {Postgres: true}, {ClickHouse: true}} {
		cfg := withBinary(t, embedded.Config{Want: want, Ports: map[string]int{
			embedded.Kafka: port, embedded.Postgres: port, embedded.ClickHouse: port,
		}})
		_, err := embedded.Start(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), "port "+strconv.Itoa(port)) || !strings.Contains(err.Error(), "taken") {
			t.Errorf("%+v: got %v", want, err)
		}
	}
}

func TestRememberedPortThatIsTakenIsReplaced(t *testing.T) {
	t.Parallel()
	port := occupy(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ports.json"), []byte(`{"kafka":`+strconv.Itoa(port)+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	engines := start(t, embedded.Config{DataDir: dir, Want: embedded.Set{Kafka: true}})
	if strings.HasSuffix(engines.KafkaBrokers[0], ":"+strconv.Itoa(port)) {
		t.Errorf("got %v", engines.KafkaBrokers)
	}
}

func TestMissingPackages(t *testing.T) {
	t.Parallel()
	for _, want := range []embedded.Set{{Postgres: true}, {ClickHouse: true}} {
		cfg := withBinary(t, embedded.Config{Want: want})
		cfg.EnginesDir = t.TempDir()
		_, err := embedded.Start(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), "make engines") {
			t.Errorf("%+v: got %v", want, err)
		}
	}
	cfg := withBinary(t, embedded.Config{Want: embedded.Set{Kafka: true}})
	cfg.EnginesDir = t.TempDir()
	start(t, cfg) // Kafka needs no package
}

func TestOneEnginesFailureStopsTheOthers(t *testing.T) {
	t.Parallel()
	cfg := withBinary(t, embedded.Config{Want: embedded.All})
	// ClickHouse waits for its locked directory before it fails. The other engines start during this wait.
	lock, err := dirlock.Acquire(t.Context(), filepath.Join(cfg.DataDir, embedded.ClickHouse), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Release() }()
	_, err = embedded.Start(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "cannot start clickhouse") {
		t.Fatalf("got %v", err)
	}
	if processes := below(cfg.DataDir); len(processes) > 0 {
		t.Errorf("still running: %v", processes)
	}
}

// below returns the command line of each process whose command line contains a directory.
func below(dir string) []string {
	var found []string
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, line := range lines {
		if text, err := os.ReadFile(line); err == nil && strings.Contains(string(text), dir) {
			found = append(found, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}

func occupy(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}
