package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

const allEvents = `{"range":{"from":"1970-01-01T00:00:00Z","to":"2100-01-01T00:00:00Z"},` +
	`"select":[{"column":"eventsCount"}]%s}`

// newCounted starts a server and waits until it has stored three events and counted their rows.
func newCounted(t *testing.T) *instance {
	t.Helper()
	i := newInstance(t)
	if status, answer := i.post(i.token, pageView("a"), pageView("b"), pageView("c")); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	i.wantCounts(3, 3)
	i.wantCounted(3)
	return i
}

// TestMissingRows damages the events table while the server is stopped. The server restores the table from the log
// automatically. If the log does not have the events, the server's answers report the loss until an operator accepts
// it.
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
	mend := func() {
		t.Helper()
		i.wantComplete(stored)
		if n := strings.Count(i.output.String(), "Missing events were restored"); n != 1 {
			t.Errorf("%d repairs are logged, want 1:\n%s", n, i.output)
		}
	}
	store()
	i.wantComplete(stored)

	path, _ := i.part()
	i.stop()
	damageFile(t, filepath.Join(path, "checksums.txt"))
	i.start()
	mend()

	if !testing.Short() {
		path, _ = i.part()
		i.stop()
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		i.start()
		mend()

		// Replace the store by an older copy.
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
		mend()

		// Remove the store.
		i.stop()
		if err := os.RemoveAll(files); err != nil {
			t.Fatal(err)
		}
		i.start()
		mend()
	}

	// Damage the store, and remove the log too.
	path, rows := i.part()
	i.stop()
	damageFile(t, filepath.Join(path, "checksums.txt"))
	if err := os.RemoveAll(filepath.Join(i.dir, "kafka")); err != nil {
		t.Fatal(err)
	}
	i.start("--accept-loss=kafka")
	output, err := i.octavo("audit", "list", "--json")
	if err != nil || !strings.Contains(output, `"lost-data"`) || !strings.Contains(output, "--accept-loss kafka") {
		t.Errorf("%v: the audit log lacks the start without the log: %s", err, output)
	}
	i.wantMissing(stored, rows)
	i.until("a repair that finds nothing", func() error {
		if !strings.Contains(i.output.String(), fmt.Sprint(`"lost":`, rows)) {
			return errors.New(i.output.String())
		}
		return nil
	})
	exit, fails := (*exec.ExitError)(nil), ""
	if _, err := i.octavo("repair", "--yes"); errors.As(err, &exit) {
		fails = string(exit.Stderr)
	}
	if !strings.Contains(fails, fmt.Sprint(rows, " stored events are missing")) ||
		!strings.Contains(fails, "--accept-loss") {
		t.Errorf("a repair of lost events: %s", fails)
	}
	i.wantMissing(stored, rows)
	if output, err := i.octavo("repair", "--accept-loss"); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	i.wantMissing(stored, rows) // without --yes, nothing changes
	if output, err := i.octavo("repair", "--accept-loss", "--yes"); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	i.until("silence", func() error {
		if word := i.readiness(); word != "ok" {
			return errors.New(word)
		}
		return nil
	})
	status, header, answer := i.ask(fmt.Sprintf(allEvents, `,"accuracy":"exact"`))
	if status != 200 || header.Get("Octavo-Complete") != "false" ||
		header.Get("Octavo-Missing-Rows") != fmt.Sprint(rows) {
		t.Errorf("an answer after a loss was accepted: %d %v %s", status, header, answer)
	}
	output, err = i.octavo("audit", "list", "--json")
	if err != nil || !strings.Contains(output, `"lost-events"`) || !strings.Contains(output, "octavo repair") {
		t.Errorf("%v: the audit log lacks the accepted loss: %s", err, output)
	}
}

// TestDoubledRows copies a part. An answer must include the part's rows only once. When the copy has been merged with
// the part, the server reports the rows as doubled until a repair removes the duplicates.
func TestDoubledRows(t *testing.T) {
	t.Parallel()
	i := newCounted(t)
	path, rows := i.part()
	copied := filepath.Join(filepath.Dir(filepath.Clean(path)),
		strings.Split(filepath.Base(path), "_")[0]+"_900000_900000_0")
	i.stop()
	if err := os.CopyFS(copied, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	i.start()
	_, header, answer := i.ask(fmt.Sprintf(allEvents, ""))
	if !strings.Contains(string(answer), `"values":[3]`) || header.Get("Octavo-Doubled-Rows") != "" ||
		!strings.Contains(i.output.String(), "other parts have all of its rows too") {
		t.Errorf("after a part was copied: %s %v\n%s", answer, header, i.output)
	}

	conn := i.clickHouse()
	path, _ = i.part()
	detached := filepath.Join(filepath.Dir(filepath.Clean(path)), "detached", filepath.Base(copied))
	_ = os.RemoveAll(detached)
	if err := os.CopyFS(detached, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"ALTER TABLE events ATTACH PART '" + filepath.Base(copied) + "'", "SYSTEM START MERGES events",
		"OPTIMIZE TABLE events FINAL",
	} {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	i.stop()
	i.start()
	status, header, answer := i.ask(fmt.Sprintf(allEvents, ""))
	if status != 200 || !strings.Contains(string(answer), fmt.Sprintf(`"values":[%d]`, 3+rows)) ||
		header.Get("Octavo-Doubled-Rows") != fmt.Sprint(rows) || header.Get("Octavo-Doubled-Range") == "" ||
		header.Get("Octavo-Complete") != "" {
		t.Errorf("an answer about doubled events: %d %s %v", status, answer, header)
	}
	if status, _, answer := i.ask(fmt.Sprintf(allEvents, `,"accuracy":"exact"`)); status != 503 {
		t.Errorf("an exact answer about doubled events: %d %s", status, answer)
	}
	if word := i.readiness(); word != fmt.Sprintf("doubled: %d are there twice", rows) {
		t.Errorf("readyz says %q", word)
	}
	if !strings.Contains(i.output.String(), "Stored events are doubled") {
		t.Errorf("the log has:\n%s", i.output)
	}
	output, err := i.octavo("repair")
	if err != nil {
		t.Errorf("%v: %s", err, output)
	}
	if output, err := i.octavo("repair", "--yes"); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	i.wantComplete(3)
}

// TestRepairBesideNode repairs a damaged part of the events table while a server runs. Each answer that lacks events
// must report this.
func TestRepairBesideNode(t *testing.T) {
	t.Parallel()
	i := newCounted(t)
	path, _ := i.part()
	damageFile(t, filepath.Join(path, "data.bin"))
	repaired := make(chan error, 1)
	go func() {
		output, err := i.octavo("repair", "--yes")
		if err != nil {
			err = fmt.Errorf("%w: %s", err, output)
		}
		repaired <- err
	}()
	incomplete := 0
	i.until("the end of the repair", func() error { // the pauses keep the token below its rate limit
		status, header, answer := i.ask(fmt.Sprintf(allEvents, ""))
		switch {
		case status == http.StatusServiceUnavailable:
		case status != http.StatusOK:
			t.Fatalf("an answer during a repair: %d %s", status, answer)
		case header.Get("Octavo-Complete") == "false":
			incomplete++
		case !strings.Contains(string(answer), `"values":[3]`):
			t.Fatalf("an answer is short and does not say so: %s", answer)
		}
		select {
		case err := <-repaired:
			if err != nil {
				t.Fatal(err)
			}
			return nil
		default:
			return errors.New("the repair runs")
		}
	})
	if incomplete == 0 {
		t.Error("no answer said that it is incomplete")
	}
	i.wantComplete(3)
}

// TestDamageWhileServing damages the bytes of a part. The first query that reads the damaged bytes is refused. The
// server sets the part aside and restores its rows while it serves.
func TestDamageWhileServing(t *testing.T) {
	t.Parallel()
	i := newCounted(t)
	path, rows := i.part()
	i.stop()
	damageFile(t, filepath.Join(path, "data.bin"))
	projections, err := filepath.Glob(filepath.Join(path, "*.proj", "data.bin"))
	if err != nil || len(projections) != 1 {
		t.Fatalf("%v: projections %v", err, projections)
	}
	damageFile(t, projections[0])
	i.start()
	pages := `{"range":{"from":"1970-01-01T00:00:00Z","to":"2100-01-01T00:00:00Z"},` +
		`"groupBy":[{"column":"url"}],"select":[{"column":"eventsCount"}]}`
	status, _, answer := i.ask(pages)
	if status != http.StatusServiceUnavailable || !strings.Contains(string(answer), "octavo repair") {
		t.Fatalf("the answer of damaged data: %d %s", status, answer)
	}
	i.until("a repair", func() error {
		status, header, answer := i.ask(fmt.Sprintf(allEvents, ""))
		if status == 200 && header.Get("Octavo-Complete") == "" && !strings.Contains(string(answer), "[3]") {
			t.Fatalf("an answer is short and does not say so: %s", answer)
		}
		if status, _, answer := i.ask(pages); status != 200 {
			return fmt.Errorf("%d %s", status, answer)
		}
		return nil
	})
	i.wantComplete(3)
	log := i.output.String()
	if !strings.Contains(log, "is set aside") || !strings.Contains(log, filepath.Base(path)) ||
		!strings.Contains(log, fmt.Sprint(`"restored":`, rows)) {
		t.Errorf("the log says: %s", log)
	}
	kept := filepath.Join(filepath.Dir(filepath.Clean(path)), "detached", filepath.Base(path), "data.bin")
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("the damaged part: %v", err)
	}
}

// damageFile flips bits everywhere in a file.
func damageFile(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 20; at < len(data); at += 40 {
		data[at] ^= 1
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantCounted waits until the counts in Postgres have a sum of n rows.
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
	// A merge would replace the part.
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

// readiness returns the word with which /readyz describes the stored events.
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

// wantMissing checks that answers, /readyz, the balance and the server's log report the missing events.
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
	if status != http.StatusServiceUnavailable || !strings.Contains(string(answer), "octavo repair") {
		i.t.Errorf("an exact answer over missing events: %d %s", status, answer)
	}
	if word := i.readiness(); word != fmt.Sprintf("incomplete: %d are missing", missing) {
		i.t.Errorf("readyz says %q", word)
	}
	if b := i.balance(); b.MissingRows != int64(missing) || b.InFlight < 0 {
		i.t.Errorf("the balance is %+v", b)
	}
	if !strings.Contains(i.output.String(), "Stored events are missing") {
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
