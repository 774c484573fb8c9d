package eventstore

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema/insights"
)

// writeBackup writes the folder of a ClickHouse server with one table. The table has empty folders for the given parts.
func writeBackup(t *testing.T, statement string, parts ...string) (server string) {
	t.Helper()
	server = t.TempDir()
	const id = "01234567-89ab-cdef-0123-456789abcdef"
	for _, part := range parts {
		if err := os.MkdirAll(filepath.Join(server, "store", "012", id, part), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Join(server, "store", "fff", "database")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(statement, "@", id)
	if err := os.WriteFile(filepath.Join(folder, insights.Table+".sql"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return server
}

// TestBackupParts checks that OpenBackup leaves out parts that merges and deletions have replaced.
func TestBackupParts(t *testing.T) {
	t.Parallel()
	b, err := OpenBackup(writeBackup(t, "ATTACH TABLE _ UUID '@' () COMMENT 'octavo baseline 1'",
		"202610_1_1_0", "202611_1_1_0", "202611_2_2_0", "202611_1_2_1", "202611_1_2_1_7", "202611_3_3_0", "202611_3_3_0_7",
		"202611_4_4_0", "detached", "tmp_merge_202611_3_4_1", "delete_tmp_202611_5_5_0", "202611_x_1_0"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range b.parts[202611] {
		names = append(names, p.name)
	}
	want := []string{"202611_1_2_1_7", "202611_3_3_0_7", "202611_4_4_0"}
	if !slices.Equal(names, want) || len(b.parts) != 2 || b.LastMonth() != 202611 {
		t.Errorf("%v, want %v; the last month is %d", names, want, b.LastMonth())
	}
}

// TestBackupRefused checks that OpenBackup refuses a backup of another baseline, and a backup without the table.
func TestBackupRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ statement, refusal string }{
		{"ATTACH TABLE _ UUID '@' () COMMENT 'octavo baseline 99'", "has baseline 99"},
		{"ATTACH TABLE _ UUID '@' ()", "has no baseline"},
		{"ATTACH TABLE events () COMMENT 'octavo baseline 1'", "does not name the table's folder"},
	} {
		_, err := OpenBackup(writeBackup(t, c.statement, "202611_1_1_0"))
		if !errors.Is(err, ErrBackup) || !strings.Contains(err.Error(), c.refusal) {
			t.Errorf("%s: %v", c.statement, err)
		}
	}
	if _, err := OpenBackup(t.TempDir()); !errors.Is(err, ErrBackup) {
		t.Errorf("an empty folder: %v", err)
	}
}
