package main

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/ingest"
)

// The log and the table agree beside a running server; a row that goes missing
// is told by its range and by the exit code.
func TestReconcile(t *testing.T) {
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
		var sum ingest.Reconciled
		for line := range strings.Lines(output) {
			var p ingest.Reconciled
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				return err
			}
			sum.Events += p.Events
			sum.Rows += p.Rows
		}
		if sum.Events != 3 || sum.Rows != 3 {
			return errors.New(output)
		}
		return nil
	})
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
		t.Error("an offset below zero is taken")
	}
}
