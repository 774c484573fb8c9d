package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// TestRepairFrom removes the log and then parts of the events table. Repairs must restore each event once, from copies
// of the data directory. Erased events and events that are too old are not restored.
func TestRepairFrom(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	i := newInstance(t)
	store := func(total, visitors int, events ...string) {
		t.Helper()
		if status, answer := i.post(i.token, events...); status != 204 {
			t.Fatalf("%d %s", status, answer)
		}
		i.wantCounts(total, visitors)
		i.wantCounted(total)
	}
	old := strings.Replace(pageView("old"), `"type"`,
		`"timestamp":"`+time.Now().Add(-40*24*time.Hour).UTC().Format(time.RFC3339)+`","type"`, 1)
	store(3, 3, pageView("a"), pageView("b"), strings.Replace(pageView("c"), `"session"`,
		`"referrer":"https://search.example/","title":"Läsn ☃","session"`, 1))
	rows := i.rowsHash()
	store(6, 5, pageView("erased"), pageView("erased"), old)

	i.stop()
	copied := i.copyFiles("copied")
	sum := sumFiles(t, copied)
	i.start()
	if status, answer := i.request("PATCH", i.insights()+"/settings", i.token,
		[]byte(`{"retentionDays":30}`)); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	i.erasure("DELETE", "erased", 202)
	i.stop() // the node deletes old events when it starts, and then once an hour
	i.start()
	i.wantCounts(3, 3)
	store(5, 5, pageView("d"), pageView("e"))
	path, _ := i.part() // part also stops merges
	later := i.copyFiles("later")

	i.stop()
	i.loseParts(filepath.Dir(filepath.Clean(path)))
	if err := os.RemoveAll(filepath.Join(i.dir, "kafka")); err != nil {
		t.Fatal(err)
	}
	i.start("--accept-loss=kafka")
	i.wantMissing(5, 5)

	for _, c := range []struct {
		name    string
		change  func(copied string) error
		refusal string
	}{
		{"other", func(copied string) error {
			return os.WriteFile(filepath.Join(copied, "clickhouse", "installation.json"), []byte(`{"id":"X"}`), 0o600)
		}, "is of another installation"},
		{"unknown", func(copied string) error {
			return errors.Join(os.Remove(filepath.Join(copied, "clickhouse", "installation.json")),
				os.Remove(filepath.Join(copied, "installation.json")))
		}, "nobody can tell of which installation"},
		{"baseline", func(copied string) error {
			return replaceText(filepath.Join(copied, "clickhouse/store/store/*/*/events.sql"),
				"baseline ", "baseline 9")
		}, "has baseline 9"},
		{"empty", func(copied string) error {
			return os.RemoveAll(filepath.Join(copied, "clickhouse", "store"))
		}, "has no data of clickhouse"},
	} {
		refused := filepath.Join(filepath.Dir(i.dir), c.name)
		if err := errors.Join(os.CopyFS(refused, os.DirFS(copied)), c.change(refused)); err != nil {
			t.Fatal(err)
		}
		if said := i.repairFails("--yes", "--from", refused); !strings.Contains(said, c.refusal) {
			t.Errorf("a copy that is %s: %s", c.name, said)
		}
	}
	if said := i.repairFails("--from", i.dir); !strings.Contains(said, "own folder") {
		t.Errorf("the data directory: %s", said)
	}

	wants := func(said string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(said, want) {
				t.Errorf("it does not say %q:\n%s", want, said)
			}
		}
	}
	today := time.Now().UTC().Format(time.DateOnly)
	wants(i.repairSays("--from", copied), "would restore 3 missing events", today+": 3",
		"3 events of the copy stay away", "2 missing events are not in the log or in "+copied)
	i.wantMissing(5, 5)
	wants(i.repairFails("--yes", "--from", copied), "3 missing events were restored", "2 stored events are missing")
	i.untilMissing(2)
	i.wantMissing(5, 2)
	if now := i.rowsHash(); now != rows {
		t.Errorf("the restored rows have the hash %s, want %s", now, rows)
	}
	audited := func(copied string, rows int) {
		t.Helper()
		entries, err := i.octavo("audit", "list", "--json")
		var compact bytes.Buffer
		if err = errors.Join(err, json.Compact(&compact, []byte(entries))); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"restored-events"`, `"octavo repair"`, fmt.Sprintf("%q", copied),
			fmt.Sprintf(`"rows":%d`, rows)} {
			if !strings.Contains(compact.String(), want) {
				t.Errorf("the audit log lacks %s: %s", want, entries)
			}
		}
	}
	audited(copied, 3)
	wants(i.repairSays("--from", copied), "has no missing events", "2 missing events are not in the log or in "+copied)

	// The copy `later` was made while the server ran. A part of it is damaged, and no other source has the part's rows.
	damaged := filepath.Join(filepath.Dir(i.dir), "damaged")
	if err := os.CopyFS(damaged, os.DirFS(later)); err != nil {
		t.Fatal(err)
	}
	parts, err := filepath.Glob(filepath.Join(damaged, "clickhouse/store/store/*/*/[0-9]*_*_*_*/data.bin"))
	if err != nil || len(parts) == 0 {
		t.Fatal(parts, err)
	}
	for _, part := range parts {
		damageFile(t, part)
	}
	wants(i.repairFails("--yes", "--from", filepath.Join(damaged, "clickhouse")),
		"of the copy is damaged and left out", "0 missing events were restored", "2 stored events are missing")
	i.wantMissing(5, 2)
	i.stop()
	wants(i.repairSays("--yes", "--from", filepath.Join(later, "clickhouse")), "2 missing events were restored")
	i.start()
	i.wantComplete(5)
	audited(filepath.Join(later, "clickhouse"), 2)
	wants(i.repairSays("--from", later), "Nothing needs a repair")
	if now := sumFiles(t, copied); now != sum {
		t.Error("the copy has changed")
	}
	var left uint64
	err = i.clickHouse().QueryRow(t.Context(), "SELECT count() FROM system.tables WHERE name = 'octavo_backup'").
		Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%v: %d tables of the copy are left", err, left)
	}
}

// untilMissing waits until the server knows that a number of events is missing.
func (i *instance) untilMissing(rows int) {
	i.t.Helper()
	i.until("the missing events", func() error {
		if word := i.readiness(); word != fmt.Sprintf("incomplete: %d are missing", rows) {
			return errors.New(word)
		}
		return nil
	})
}

// copyFiles copies the files of the insights store and the marks of the data directory, as a backup does.
func (i *instance) copyFiles(name string) (dir string) {
	i.t.Helper()
	dir = filepath.Join(filepath.Dir(i.dir), name)
	err := os.CopyFS(filepath.Join(dir, "clickhouse"), os.DirFS(filepath.Join(i.dir, "clickhouse")))
	for _, file := range []string{"installation.json", "baseline"} {
		text, e := os.ReadFile(filepath.Join(i.dir, file))
		err = errors.Join(err, e, os.WriteFile(filepath.Join(dir, file), text, 0o600))
	}
	if err != nil {
		i.t.Fatal(err)
	}
	return dir
}

// loseParts removes the parts of a table.
func (i *instance) loseParts(table string) {
	i.t.Helper()
	parts, err := filepath.Glob(filepath.Join(table, "[0-9]*_*_*_*"))
	if err != nil || len(parts) == 0 {
		i.t.Fatalf("%v: %s has no parts", err, table)
	}
	for _, part := range parts {
		if err := os.RemoveAll(part); err != nil {
			i.t.Fatal(err)
		}
	}
}

// rowsHash returns a hash of all columns of all rows.
func (i *instance) rowsHash() (hash string) {
	i.t.Helper()
	err := i.clickHouse().QueryRow(i.t.Context(),
		"SELECT toString((count(), groupBitXor(cityHash64(*)))) FROM events").Scan(&hash)
	if err != nil {
		i.t.Fatal(err)
	}
	return hash
}

// repairSays runs a repair that must succeed, and returns its output.
func (i *instance) repairSays(arguments ...string) string {
	i.t.Helper()
	said, err := i.repair(arguments...)
	if err != nil {
		i.t.Fatalf("%v: %s", err, said)
	}
	return said
}

// repairFails runs a repair that must fail, and returns its output.
func (i *instance) repairFails(arguments ...string) string {
	i.t.Helper()
	said, err := i.repair(arguments...)
	if err == nil {
		i.t.Fatalf("repair %v succeeds: %s", arguments, said)
	}
	return said
}

// repair runs `octavo repair`, and returns its output.
func (i *instance) repair(arguments ...string) (string, error) {
	cmd := exec.Command(enginetest.Octavo(i.t), append([]string{"repair"}, arguments...)...)
	cmd.Env = append(os.Environ(), "OCTAVO_DATA_DIR="+i.dir, "OCTAVO_ENGINES_DIR="+enginesDir(i.t))
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// sumFiles returns a hash of the names, times and contents of all files.
func sumFiles(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(sum, path, info.Mode(), info.ModTime().UnixNano())
		if !info.Mode().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		_, _ = sum.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// replaceText replaces a text in all files that a pattern matches.
func replaceText(pattern, from, to string) error {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no file %s: %w", pattern, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, []byte(strings.ReplaceAll(string(text), from, to)), 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestRepairFromOfCluster checks that a repair of a cluster from a copy is refused. The refusal and the help must name
// the section of the manual with the steps.
func TestRepairFromOfCluster(t *testing.T) {
	t.Parallel()
	const section = "Copies of a cluster"
	err := (&RepairCmd{From: t.TempDir(), Settings: Settings{ClickHouseCluster: "c"}}).Run()
	if err == nil || !strings.Contains(err.Error(), "OPERATING.md, "+section) {
		t.Errorf("%v", err)
	}
	field, _ := reflect.TypeFor[RepairCmd]().FieldByName("From")
	if help := field.Tag.Get("help"); !strings.Contains(help, "OPERATING.md, "+section) {
		t.Error(help)
	}
	manual, err := os.ReadFile("../../deploy/OPERATING.md")
	if err != nil || !strings.Contains(string(manual), "\n### "+section+"\n") {
		t.Errorf("the manual has no section %q: %v", section, err)
	}
}
