package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// TestDataIsContinued checks that a table has exactly the wanted number of events, without duplicates, all within 13
// months. After an interrupted run, the next run must complete the missing days.
func TestDataIsContinued(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: make bench-quick")
	}
	t.Parallel()
	options, err := clickhouse.ParseDSN(enginetest.ClickHouse(t))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	must := func(statement string) {
		t.Helper()
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	one := func(expression string) (n uint64) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), "SELECT "+expression+" FROM "+insights.Table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const unique, copies = 100_000, 3
	s := &querySize{
		queryData: &queryData{Sites: []string{"a", "b", "c"}, Base: "base", Unique: unique, End: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)},
		events:    unique * copies, conn: conn,
	}
	for _, table := range []string{"copied", insights.Table} {
		must(strings.Replace(createWithoutVisits(), "EXISTS "+insights.Table, "EXISTS "+table, 1))
	}
	began := s.End.Add(-dataSpan)
	must(fmt.Sprintf(`INSERT INTO copied (site, log_offset, time, visitor, session)
		SELECT 'base', number, fromUnixTimestamp64Milli(%d + toInt64(number * %d), 'UTC'), intDiv(number, 7), intDiv(number, 3) FROM numbers(%d)`,
		began.UnixMilli(), dataSpan.Milliseconds()/unique, unique))
	fill := func() uint64 {
		t.Helper()
		made, err := s.fill(t.Context(), "copied")
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	if made := fill(); made != unique*copies {
		t.Errorf("made %d events", made)
	}
	check := func(what string) {
		t.Helper()
		for expression, want := range map[string]uint64{
			"count()": unique * copies, "uniqExact(log_offset)": unique * copies,
			"uniqExact(site)": 3, "uniqExact(toDate(received))": uint64(dataSpan / day),
			fmt.Sprintf("countIf(time < toDateTime(%d, 'UTC') OR time >= toDateTime(%d, 'UTC') OR toDate(time) != toDate(received))", began.Unix(), s.End.Unix()): 0,
		} {
			if got := one(expression); got != want {
				t.Errorf("%s: %s is %d, want %d", what, expression, got, want)
			}
		}
	}
	check("made at once")
	rows := one("sum(cityHash64(*))")
	if made := fill(); made != 0 {
		t.Errorf("made %d events again", made)
	}
	must(fmt.Sprintf("ALTER TABLE %s DELETE WHERE received = %s AND session %% 2 = 0 OR received = %s SETTINGS mutations_sync = 2", insights.Table, dayText(began, 5), dayText(began, 390)))
	if made := fill(); made == 0 || made > unique*copies/2 {
		t.Errorf("made %d events for two days", made)
	}
	check("continued")
	if one("sum(cityHash64(*))") != rows {
		t.Error("the events that were made anew are others")
	}
	must("INSERT INTO " + insights.Table + " (site, log_partition, time) VALUES ('live', 0, now())")
	if err := s.forget(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	check("after what was sent is deleted")
}

// TestAskedOfSomePanels checks that the method `of` leaves out panels to which no goal applies, and returns one value
// for each round.
func TestAskedOfSomePanels(t *testing.T) {
	t.Parallel()
	a := asked{
		panels: []panel{
			{site: 1, days: 365}, {site: 1, days: 365, dashboardQuestion: dashboardQuestion{filters: true}},
			{site: 20, days: 365}, {site: 1, days: 1, dashboardQuestion: dashboardQuestion{filters: true}},
		},
		rounds: [][]float64{{1, 100, 2, 3}, {4, 200, 5, 6}},
	}
	for what, c := range map[string]struct {
		which func(panel) bool
		want  string
	}{"goals": {inGoals, "[3 6]"}, "12 months of the largest": {longOfLargest, "[1 4]"}, "apart": {panel.apart, "[100 200]"}} {
		if got := fmt.Sprint(a.of(1, c.which)); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
	var names []string
	for _, g := range a.groups() {
		names = append(names, g.what)
	}
	if got := strings.Join(names, "; "); got != "largest site, 24 hours; largest site, 12 months; largest site, 12 months, filters on what visits do not have; small site, 12 months; all of it" {
		t.Error("groups:", got)
	}
}

func TestDashboardHasEnoughQuestions(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, q := range dashboard {
		if names[q.name] || (q.body == "") == (q.path == "") || q.body != "" && !presetRange.MatchString(q.body) {
			t.Errorf("question %+v", q)
		}
		names[q.name] = true
	}
	if len(names) < 20 {
		t.Errorf("%d questions", len(names))
	}
}
