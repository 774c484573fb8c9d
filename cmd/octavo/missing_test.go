package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

const allEvents = `{"range":{"from":"1970-01-01T00:00:00Z","to":"2100-01-01T00:00:00Z"},` +
	`"select":[{"column":"eventsCount"}]%s}`

// TestMissingRows damages the events table while the server is stopped. The server then reports the missing events with
// its answers. A repair restores the events from the log.
func TestMissingRows(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	stored := 0
	store := func() {
		t.Helper()
		if status, answer := i.post(i.token, pageView("a"), pageView("b"), pageView("c")); status != 204 {
			t.Fatalf("%d %s", status, answer)
		}
		stored += 3
		i.wantCounts(stored, 3)
		i.wantCounted(stored)
	}
	store()
	i.wantComplete(stored)

	path, rows := i.part()
	i.stop()
	sums := filepath.Join(path, "checksums.txt")
	text, err := os.ReadFile(sums)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(sums, text, 0o600); err != nil {
		t.Fatal(err)
	}
	i.start()
	i.wantMissing(stored, rows)
	i.repair(stored)
	if testing.Short() {
		return
	}

	path, rows = i.part()
	i.stop()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	i.start()
	i.wantMissing(stored, rows)
	i.repair(stored)

	// The store is from an older copy.
	i.stop()
	files, older := filepath.Join(i.dir, "clickhouse"), filepath.Join(i.dir, "older")
	if err := os.CopyFS(older, os.DirFS(files)); err != nil {
		t.Fatal(err)
	}
	i.start()
	i.wantComplete(stored)
	store()
	i.stop()
	if err := os.RemoveAll(files); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(older, files); err != nil {
		t.Fatal(err)
	}
	i.start()
	i.wantMissing(stored, 3)
	i.repair(stored)

	// The store is empty.
	i.stop()
	if err := os.RemoveAll(files); err != nil {
		t.Fatal(err)
	}
	i.start()
	i.wantMissing(stored, stored)
	i.repair(stored)
}

// wantCounted waits until n rows are counted outside of the store.
func (i *instance) wantCounted(n int) {
	i.t.Helper()
	conn := i.postgres()
	i.until("counted rows", func() error {
		var rows int
		err := conn.QueryRow(i.t.Context(), "select coalesce(sum(rows), 0)::int from event_rows").Scan(&rows)
		if err == nil && rows != n {
			err = fmt.Errorf("%d rows are counted, want %d", rows, n)
		}
		return err
	})
	_ = conn.Close(i.t.Context())
}

// part returns the folder of a part of the events table, and the number of its rows.
func (i *instance) part() (path string, rows int) {
	i.t.Helper()
	conn := i.clickHouse()
	// A merge would take the part's place.
	if err := conn.Exec(i.t.Context(), "SYSTEM STOP MERGES events"); err != nil {
		i.t.Fatal(err)
	}
	var n uint64
	err := conn.QueryRow(i.t.Context(), "SELECT path, rows FROM system.parts "+
		"WHERE table = 'events' AND active AND database = currentDatabase() ORDER BY rows DESC LIMIT 1").Scan(&path, &n)
	if err != nil {
		i.t.Fatal(err)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(i.dir, "clickhouse", path)
	}
	return path, int(n)
}

// readiness reads the word of /readyz about stored events.
func (i *instance) readiness() string {
	i.t.Helper()
	status, body := i.request("GET", "/readyz", "", nil)
	var answer struct{ Checks map[string]string }
	if err := json.Unmarshal(body, &answer); err != nil || status != 200 {
		i.t.Fatalf("readyz answers %d %s", status, body)
	}
	return answer.Checks["events"]
}

func (i *instance) balance() (b schema.EventBalance) {
	i.t.Helper()
	status, body := i.request("GET", i.insights()+"/events/balance", i.token, nil)
	if err := json.Unmarshal(body, &b); err != nil || status != 200 {
		i.t.Fatalf("the balance is %d %s", status, body)
	}
	return b
}

// wantMissing checks that the server says everywhere how many of the stored events are missing.
func (i *instance) wantMissing(stored, missing int) {
	i.t.Helper()
	status, header, answer := i.ask(fmt.Sprintf(allEvents, ""))
	if status != 200 || !strings.Contains(string(answer), fmt.Sprintf(`"values":[%d]`, stored-missing)) ||
		header.Get("Octavo-Complete") != "false" || header.Get("Octavo-Missing-Rows") != fmt.Sprint(missing) ||
		len(header.Get("Octavo-Missing-Range")) != len("2026-11-01..2026-11-30") {
		i.t.Errorf("an answer without %d of %d events: %d %s %v", missing, stored, status, answer, header)
	}
	earlier := `{"range":{"from":"2001-01-01T00:00:00Z","to":"2002-01-01T00:00:00Z"},` +
		`"select":[{"column":"eventsCount"}]}`
	if _, header, _ := i.ask(earlier); header.Get("Octavo-Complete") != "" {
		i.t.Errorf("an answer about another year has %v", header)
	}
	status, _, answer = i.ask(fmt.Sprintf(allEvents, `,"accuracy":"exact"`))
	if status != http.StatusServiceUnavailable || !strings.Contains(string(answer), "octavo reconcile --repair") {
		i.t.Errorf("an exact answer over missing events: %d %s", status, answer)
	}
	if word := i.readiness(); word != fmt.Sprintf("incomplete: %d are missing", missing) {
		i.t.Errorf("readyz says %q", word)
	}
	if b := i.balance(); b.MissingRows != int64(missing) || b.InFlight < 0 {
		i.t.Errorf("the balance is %+v", b)
	}
	if strings.Count(i.output.String(), "Stored events are missing") != 1 {
		i.t.Errorf("the log has:\n%s", i.output)
	}
}

// wantComplete checks that the server reports no missing events.
func (i *instance) wantComplete(stored int) {
	i.t.Helper()
	i.until("complete answers", func() error {
		_, header, answer := i.ask(fmt.Sprintf(allEvents, ""))
		b := i.balance()
		if header.Get("Octavo-Complete") != "" || b.MissingRows != 0 || i.readiness() != "ok" ||
			!strings.Contains(string(answer), fmt.Sprintf(`"values":[%d]`, stored)) {
			return fmt.Errorf("%s %v, %+v", answer, header, b)
		}
		return nil
	})
}

// repair restores the missing events.
func (i *instance) repair(stored int) {
	i.t.Helper()
	if output, err := i.octavo("reconcile", "--repair"); err != nil {
		i.t.Errorf("%v\n%s", err, output)
	}
	i.wantComplete(stored)
}
