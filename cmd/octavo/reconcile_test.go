package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// TestReconcile checks that `octavo reconcile` finds no difference between the log and the table while a server runs.
// If a row is missing, the command must report the range and exit with the code 1.
func TestReconcile(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	i := newInstance(t)
	if status, answer := i.post(i.token, pageView("a"), pageView("b"), pageView("c")); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	i.wantCounts(3, 3)
	i.until("the commit, and agreement", func() error {
		output, err := i.octavo("reconcile", "--json")
		if err != nil {
			return err
		}
		var sum sink.Reconciled
		var list []sink.Reconciled
		if err := json.Unmarshal([]byte(output), &list); err != nil {
			return err
		}
		for _, p := range list {
			sum.Events += p.Events
			sum.Rows += p.Rows
		}
		if sum.Events != 3 || sum.Rows != 3 {
			return errors.New(output)
		}
		return nil
	})
	// While the test has the lock, the node does not restore the row.
	var running notes
	text, err := os.ReadFile(notesFile(&Settings{DataDir: i.dir}))
	if err != nil || json.Unmarshal(text, &running) != nil {
		t.Fatalf("%v: %s", err, text)
	}
	st, err := openStore(t.Context(), postgres.Config{URL: running.Postgres}, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Stop()
	lock, err := st.TryLock(t.Context(), "reconcile --repair")
	if err != nil {
		t.Fatal(err)
	}
	conn := i.clickHouse()
	if err := conn.Exec(t.Context(), "ALTER TABLE events DELETE WHERE log_index = 1 SETTINGS mutations_sync = 2"); err != nil {
		t.Fatal(err)
	}
	output, err := i.octavo("reconcile")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(exit.Stderr), "differ in 1 ranges") || !strings.Contains(output, "MISSING") {
		t.Errorf("%v\n%s", err, output)
	}
	if output, err := i.octavo("reconcile", "--from", "1"); err != nil || strings.Contains(output, "MISSING") {
		t.Errorf("after the difference: %v\n%s", err, output)
	}
	if _, err := i.octavo("reconcile", "--from", "-1"); err == nil {
		t.Error("a negative offset is accepted")
	}

	// Only one repair can run at a time. It restores the missing events.
	_, err = i.octavo("repair", "--yes")
	if !errors.As(err, &exit) || !strings.Contains(string(exit.Stderr), "another") {
		t.Errorf("two repairs at once: %v", err)
	}
	i.wantCounts(2, 2)
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	i.until("a repair, by the command or by the node", func() error {
		output, err := i.octavo("repair", "--yes")
		if err == nil && !strings.Contains(output, "PUT BACK") {
			err = errors.New(output)
		}
		return err
	})
	i.wantCounts(3, 3)
	for _, arguments := range [][]string{{"reconcile"}, {"repair", "--yes"}} {
		if output, err := i.octavo(arguments...); err != nil || strings.Contains(output, "MISSING") {
			t.Errorf("%v: %v\n%s", arguments, err, output)
		}
	}
}
