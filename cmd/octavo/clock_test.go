package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/cmd/observe"
)

// TestClockAhead starts a node whose clock is 400 days ahead of the time that the installation has recorded. No stored
// data of sites is deleted until an operator confirms the time.
func TestClockAhead(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	var events []string
	for _, ago := range []int{400, 405, 429, 440, 800} {
		at := time.Now().Add(-time.Duration(ago) * 24 * time.Hour).UTC().Format(time.RFC3339)
		view := pageView(fmt.Sprint("d", ago))
		events = append(events, strings.Replace(view, `"type"`, `"timestamp":"`+at+`","type"`, 1))
	}
	if status, body := i.post(i.token, events...); status != 204 {
		t.Fatalf("%d %s", status, body)
	}
	i.wantCounts(5, 5)
	status, body := i.request("PATCH", i.insights()+"/settings", i.token, []byte(`{"retentionDays":30}`))
	if status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	file := clockFile(&Settings{DataDir: i.dir})
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	for _, sql := range []string{
		"update clock set seen_at = seen_at - interval '400 days'",
		"insert into door_salts (day, salt) values (current_date - 5, decode(repeat('00', 32), 'hex'))",
		`insert into river_job (state, finalized_at, max_attempts, args, kind, metadata)
			values ('completed', now() - interval '400 days', 1, '{}', 'none', '{}')`,
	} {
		if _, err := i.postgres().Exec(t.Context(), sql); err != nil {
			t.Fatal(sql, err)
		}
	}
	i.stop()
	const seen = "2020-01-01T00:00:00Z\n"
	if err := os.WriteFile(file, []byte(seen), 0o600); err != nil {
		t.Fatal(err)
	}
	i.start()
	i.until("an alarm", func() error {
		if status, body := i.request("GET", "/readyz", "", nil); status != 200 ||
			!strings.Contains(string(body), `"clock":"ahead: nothing is deleted by age"`) {
			return fmt.Errorf("%d %s", status, body)
		}
		if !strings.Contains(i.metrics(), "\noctavo_clock_deletions_held 1\n") {
			return fmt.Errorf("the metric does not say so")
		}
		if !strings.Contains(i.output.String(), `"level":"ERROR","msg":"The clock is days ahead`) {
			return fmt.Errorf("there is no ERROR")
		}
		return nil
	})
	// The loop that deletes old events must not record that it has deleted the site's old events. The loop runs every
	// second, and also erases visitors. So wait until it has erased a visitor.
	i.erasure("DELETE", "somebody", 202)
	i.untilErased("somebody")
	old := func() (n int) {
		t.Helper()
		err := i.postgres().QueryRow(t.Context(), `select (select count(*) from river_job where kind = 'none')
			+ (select count(*) from door_salts where day < current_date - 3)
			+ (select count(*) from retentions where days is not null and carried_out is null)`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	i.wantCounts(5, 5)
	if n := old(); n != 3 {
		t.Errorf("%d of 3 things that are old are kept", n)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != seen {
		t.Errorf("the broker may delete until %s, %v", text, err)
	}
	shown, err := i.octavo("clock", "show")
	if err != nil || !strings.Contains(shown, "nothing is deleted by age until nodes have run for another 24h") {
		t.Errorf("%v %s", err, shown)
	}
	shown, err = i.octavo("clock", "confirm", "--json")
	var confirmed shownClock
	if err == nil {
		err = json.Unmarshal([]byte(shown), &confirmed)
	}
	if err != nil || confirmed.Held || confirmed.Doubt != "" || confirmed.ConfirmedAt == nil {
		t.Errorf("%v %s", err, shown)
	}
	if shown, err = i.octavo("audit", "list"); err != nil || !strings.Contains(shown, "octavo clock confirm") {
		t.Errorf("%v %s", err, shown)
	}
	i.stop()
	i.start()
	i.wantCounts(0, 0)
	if text, err := os.ReadFile(file); err != nil || string(text) <= seen {
		t.Errorf("the broker may delete until %s, %v", text, err)
	}
	if status, body := i.request("GET", "/readyz", "", nil); !strings.Contains(string(body), `"clock":"ok"`) {
		t.Errorf("%d %s", status, body)
	}
	if metrics := i.metrics(); !strings.Contains(metrics, "\noctavo_clock_deletions_held 0\n") {
		t.Error("the metric still says that deletions are held")
	}
}

// TestClocksApart checks which differences between clocks a node reports. A difference is not reported if the engine's
// answer took as long as the difference.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	log := &strings.Builder{}
	w := &clockWatch{
		log: slog.New(slog.NewTextHandler(log, nil)), metrics: observe.NewClock(prometheus.NewRegistry()),
		apart: map[string]bool{},
	}
	now := time.Now()
	for _, step := range []struct {
		ahead, took time.Duration
		differs     bool
		lines       int // lines in the log so far
	}{
		{0, time.Millisecond, false, 0},
		{1900 * time.Millisecond, time.Millisecond, false, 0},
		{2100 * time.Millisecond, time.Millisecond, true, 1},
		{400 * 24 * time.Hour, time.Millisecond, true, 1},
		{-time.Millisecond, time.Millisecond, false, 2},
		{-time.Hour, time.Second, true, 3},
		{2100 * time.Millisecond, 2 * time.Second, false, 4},
	} {
		engine := now.Round(0).Add(step.took / 2).Add(step.ahead)
		if got := w.compare("postgres", now, now.Add(step.took), engine); got != step.differs {
			t.Errorf("%+v: %v", step, got)
		}
		if got := strings.Count(log.String(), "\n"); got != step.lines {
			t.Errorf("%+v: %d lines\n%s", step, got, log)
		}
	}
}
