package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
)

// runOnce starts and stops engines.
func runOnce(t *testing.T, cfg embedded.Config) error {
	t.Helper()
	engines, err := embedded.Start(t.Context(), cfg)
	if err != nil {
		return err
	}
	return engines.Stop(context.WithoutCancel(t.Context()))
}

// copyFolder replaces the folder `to` by a copy of the folder `from`.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from))); err != nil {
		t.Fatal(err)
	}
}

// TestFoldersOfAnotherTime checks that Start refuses an engine's folder that is missing, empty, older than the data
// directory, or from another installation. The message says how to start anyway, and no file changes. With AcceptLoss,
// Start succeeds.
func TestFoldersOfAnotherTime(t *testing.T) {
	t.Parallel()
	other := withBinary(t, embedded.Config{Want: embedded.Set{Kafka: true}})
	if err := runOnce(t, other); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, dir, older string)
		word   string // a part of the refusal's text; "" if Start succeeds
	}{
		"whole": {func(*testing.T, string, string) {}, ""},
		"gone":  {func(t *testing.T, dir, _ string) { remove(t, dir, "kafka") }, "lacks its data"},
		"empty": {func(t *testing.T, dir, _ string) {
			remove(t, dir, "kafka")
			write(t, dir, map[string]string{"kafka/lock": "1"})
		}, "lacks its data"},
		"no journal": {func(t *testing.T, dir, _ string) { remove(t, dir, "kafka/broker/journal-*") }, "lacks its data"},
		"older": {func(t *testing.T, dir, older string) {
			copyFolder(t, filepath.Join(older, "kafka"), filepath.Join(dir, "kafka"))
		}, "is older than"},
		"another installation's": {func(t *testing.T, dir, _ string) {
			copyFolder(t, filepath.Join(other.DataDir, "kafka"), filepath.Join(dir, "kafka"))
		}, "is of another installation"},
		"a damaged file": {func(t *testing.T, dir, _ string) {
			write(t, dir, map[string]string{"kafka/installation.json": "{"})
		}, "damaged file"},
		"all older":                {func(t *testing.T, dir, older string) { copyFolder(t, older, dir) }, ""},
		"no file of the directory": {func(t *testing.T, dir, _ string) { remove(t, dir, "installation.json") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := withBinary(t, embedded.Config{Want: embedded.Set{Kafka: true}})
			older := filepath.Join(t.TempDir(), "older")
			if err := runOnce(t, cfg); err != nil {
				t.Fatal(err)
			}
			copyFolder(t, cfg.DataDir, older)
			if err := runOnce(t, cfg); err != nil {
				t.Fatal(err)
			}
			c.change(t, cfg.DataDir, older)
			if c.word == "" {
				if err := runOnce(t, cfg); err != nil {
					t.Error(err)
				}
				return
			}
			before := filesOf(t, cfg.DataDir)
			err := runOnce(t, cfg)
			folder := filepath.Join(cfg.DataDir, "kafka")
			if err == nil || !strings.Contains(err.Error(), folder+" ") || !strings.Contains(err.Error(), c.word) ||
				!strings.Contains(err.Error(), "put back") || !strings.Contains(err.Error(), "--accept-loss kafka") {
				t.Errorf("got %v", err)
			}
			if after := filesOf(t, cfg.DataDir); !maps.Equal(before, after) {
				t.Errorf("before %q, after %q", before, after)
			}
			cfg.AcceptLoss = []string{"kafka"}
			if err := runOnce(t, cfg); err != nil {
				t.Errorf("with the consent: %v", err)
			}
			cfg.AcceptLoss = nil
			if err := runOnce(t, cfg); err != nil {
				t.Errorf("after the consent: %v", err)
			}
		})
	}
}

// remove removes the files that match a pattern in a folder.
func remove(t *testing.T, dir, pattern string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	for _, path := range found {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFilesOfPostgres changes files of Postgres after its last clean stop. Start refuses and names these files.
// Postgres itself would accept most of this damage without a message.
func TestFilesOfPostgres(t *testing.T) {
	t.Parallel()
	cfg := withBinary(t, embedded.Config{Want: embedded.Set{Postgres: true}})
	engines, err := embedded.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	const table = "CREATE TABLE kept AS SELECT n, repeat('x', 500) FROM generate_series(1, 100) n"
	execPostgres(t, engines.PostgresURL, table)
	if err := engines.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(cfg.DataDir, "postgres", "data")
	largest, size := "", int64(0)
	found, err := filepath.Glob(filepath.Join(data, "base", "*", "[0-9]*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if info, err := os.Stat(path); err == nil && info.Size() > size {
			largest, size = path, info.Size()
		}
	}
	whole, err := os.ReadFile(largest)
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Rel(data, largest)
	if err != nil {
		t.Fatal(err)
	}
	const page = 8 << 10
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		word   string
	}{
		"byte":  {func(b []byte) []byte { b[page+5] ^= 1; return b }, "has other bytes"},
		"zeros": {func(b []byte) []byte { clear(b[:page]); return b }, "has other bytes"},
		"cut":   {func(b []byte) []byte { return b[:page] }, fmt.Sprintf("has %d of %d bytes", page, size)},
		"gone":  {nil, "is gone"},
		"twice": {func(b []byte) []byte { return append(b, b...) }, fmt.Sprintf("has %d of %d bytes", 2*size, size)},
	} {
		if c.change == nil {
			err = os.Remove(largest)
		} else {
			err = os.WriteFile(largest, c.change(append([]byte{}, whole...)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		before := filesOf(t, cfg.DataDir)
		err := runOnce(t, cfg)
		if err == nil || !strings.Contains(err.Error(), below+" "+c.word) || !strings.Contains(err.Error(), data) ||
			!strings.Contains(err.Error(), "put back the files") {
			t.Errorf("%s: got %v", name, err)
		}
		if after := filesOf(t, cfg.DataDir); !maps.Equal(before, after) {
			t.Errorf("%s: the refused directory was changed", name)
		}
	}
	if err := os.WriteFile(largest, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	control := filepath.Join(data, "global", "pg_control")
	older, err := os.ReadFile(control)
	if err == nil {
		err = runOnce(t, cfg)
	}
	if err != nil {
		t.Fatal(err)
	}
	newer, err := os.ReadFile(control)
	if err = errors.Join(err, os.WriteFile(control, older, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := runOnce(t, cfg); err == nil || !strings.Contains(err.Error(), "global/pg_control has other bytes") {
		t.Errorf("an older control file: got %v", err)
	}
	if err := os.WriteFile(control, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	// A kill leaves no inventory of the files, so the next start compares no files.
	if engines, err = embedded.Start(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	execPostgres(t, engines.PostgresURL, "CREATE TABLE more AS SELECT * FROM kept")
	kill(t, engines, "postgres")
	execPostgres(t, engines.PostgresURL, "SELECT 1 / (count(*) / 100) FROM more")
	if err := engines.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := runOnce(t, cfg); err != nil {
		t.Error(err)
	}
}
