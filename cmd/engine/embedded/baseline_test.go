package embedded_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
)

// filesOf returns the names and contents of a directory's files, and the names of its folders.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			files[path] = "folder"
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnotherBaseline checks that Start refuses a data directory of another baseline. The error is a single sentence,
// and no file changes.
func TestAnotherBaseline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		found string
	}{
		"older":             {map[string]string{"baseline": "6\n", "kafka/broker/1": "log"}, "has baseline 6 and"},
		"later":             {map[string]string{"baseline": "8\n"}, "has baseline 8 and"},
		"Kafka's, unmarked": {map[string]string{"kafka/log/topics.json": "{}"}, "has no baseline and"},
		"tables, unmarked":  {map[string]string{"clickhouse/store/a": ""}, "has no baseline and"},
		"Postgres, unmarked": {
			map[string]string{"postgres/data/PG_VERSION": "18", "quickstart.env": "token"}, "has no baseline and",
		},
		"empty mark": {
			map[string]string{"baseline": "", "postgres/data/PG_VERSION": "18"}, "has no baseline and",
		},
		"garbled": {map[string]string{"baseline": "7\n7"}, `has baseline "7\n7" and`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, c.files)
			before := filesOf(t, dir)
			cfg := withBinary(t, embedded.Config{DataDir: dir, Baseline: 7, Want: embedded.Set{Kafka: true}})
			_, err := embedded.Start(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), c.found) || !strings.Contains(err.Error(), "baseline 7") ||
				!strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
			if after := filesOf(t, dir); !maps.Equal(before, after) {
				t.Errorf("before %q, after %q", before, after)
			}
		})
	}
}

// TestBaselineIsMarked checks that Start marks a directory without engine data, and accepts the marked directory.
func TestBaselineIsMarked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{".env": "OCTAVO_ROLES=api", "quickstart.env": "token", "git/pack": "cache"})
	// An operator may have mounted file systems at these folders before the first start.
	for _, folder := range []string{"kafka/lost+found", "postgres"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cfg := withBinary(t, embedded.Config{DataDir: dir, Baseline: 7, Want: embedded.Set{Kafka: true}})
	for range 2 {
		engines, err := embedded.Start(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := engines.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		if text := filesOf(t, dir)[filepath.Join(dir, "baseline")]; text != "7\n" {
			t.Errorf("the mark is %q", text)
		}
	}
	if err := embedded.CheckBaseline(dir, 7); err != nil {
		t.Error(err)
	}
	if err := embedded.CheckBaseline(filepath.Join(dir, "none"), 7); err != nil {
		t.Errorf("a directory that does not exist: %v", err)
	}
}
