package query

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// meddling is an engine that changes the events table just before states are read, or just after they were built.
type meddling struct {
	driver.Conn
	before, after string // texts that identify the statements
	meddle        func()
}

func (m *meddling) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if m.before != "" && strings.Contains(sql, m.before) {
		m.meddle()
	}
	return m.Conn.Query(ctx, sql, args...)
}

func (m *meddling) Exec(ctx context.Context, sql string, args ...any) error {
	err := m.Conn.Exec(ctx, sql, args...)
	if m.after != "" && strings.HasPrefix(sql, m.after) {
		m.meddle()
	}
	return err
}

// TestStatesMeddled checks that events are counted correctly if they are deleted or merged while states are built or
// read. States built from such events are dropped.
func TestStatesMeddled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after, statement string
		events, visitors         int
	}{
		"deleted before they are read": {before: "UNION ALL", statement: "ALTER TABLE events DELETE WHERE visitor = 1 SETTINGS mutations_sync = 2", events: 5, visitors: 3},
		"deleted when they are made":   {after: "INSERT INTO", statement: "ALTER TABLE events DELETE WHERE visitor = 1 SETTINGS mutations_sync = 2", events: 5, visitors: 3},
		"merged before they are read":  {before: "UNION ALL", statement: "OPTIMIZE TABLE events FINAL", events: 16, visitors: 4},
		"merged when they are made":    {after: "INSERT INTO", statement: "OPTIMIZE TABLE events FINAL", events: 16, visitors: 4},
		"moved":                        {before: "UNION ALL", statement: "EXCHANGE TABLES events AND other", events: 0, visitors: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := store(t)
			insert(t, conn, testSite, fixture())
			if strings.HasPrefix(c.statement, "OPTIMIZE") {
				insert(t, conn, testSite, earlier())
			}
			execute(t, conn, "CREATE TABLE other AS events")
			m := &meddling{Conn: conn, before: c.before, after: c.after}
			m.meddle = func() {
				if m.before, m.after = "", ""; m.Conn.Exec(context.Background(), c.statement) != nil {
					t.Error("cannot meddle")
				}
			}
			ask := asked{t, keepingStates(t, m), totals}
			ask.wants("visits", c.events, c.visitors)
			if m.before+m.after != "" {
				t.Fatal("nobody meddled")
			}
			for _, table := range stateTables(t, conn) {
				var rows uint64
				if err := conn.QueryRow(t.Context(), "SELECT count() FROM "+table).Scan(&rows); err != nil || rows > 0 {
					t.Errorf("%d rows of states are left, %v", rows, err)
				}
			}
		})
	}
}

// TestStatesAreMadeOnce checks that other queries read events while one query builds their states.
func TestStatesAreMadeOnce(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	m := &meddling{Conn: conn, after: "INSERT INTO"}
	service := keepingStates(t, m)
	m.meddle = func() {
		m.after = ""
		asked{t, service, strings.Replace(totals, "{", `{"limit":7,`, 1)}.wants("visits", 8, 4)
	}
	asked{t, service, totals}.wants("states", 8, 4)
	if m.after != "" {
		t.Error("nothing was made")
	}
}

const byDevice = `{"range":"last30Days","groupBy":[{"column":"visitorDevice"}],"select":[{"column":"visitorDevice"},{"column":"eventsCount"}]}`

// source runs the query, and returns where the answer came from.
func (a asked) source() string {
	a.t.Helper()
	_, headers, err := a.service.Aggregate(a.t.Context(), Caller{}, testSite, []byte(a.request), testNow)
	if err != nil {
		a.t.Fatal(err)
	}
	return headers[headerSource]
}

// TestStatesHaveNoRoom checks that queries read events if there is no room for states, or too many groups. Not every
// such query tries to build states.
func TestStatesHaveNoRoom(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Service){
		"no room":         func(s *Service) { s.states.MaxBytes = 1 },
		"too many groups": func(s *Service) { s.states.MaxGroups = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := store(t)
			insert(t, conn, testSite, fixture())
			execute(t, conn, "CREATE TABLE octavo_states_0000000000000001 ENGINE = MergeTree ORDER BY () AS SELECT 1")
			service := keepingStates(t, conn)
			change(service)
			for range 3 {
				if source := (asked{t, service, byDevice}).source(); source != visitsName {
					t.Errorf("from %s", source)
				}
				if failed := testutil.ToFloat64(service.metrics.states[statesFailed]); failed != 1 {
					t.Errorf("%g tries failed, want 1", failed)
				}
			}
		})
	}
}

// TestStatesOfNothing checks a span without matching events. The span gets no states, but the states of other spans
// stay cached. Later queries do not try again to build states for this span.
func TestStatesOfNothing(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	made := 0
	m := &meddling{Conn: conn, after: "INSERT INTO", meddle: func() { made++ }}
	ask := asked{t, keepingStates(t, m), byDevice}
	if source := ask.source(); source != visitsName || made < 2 {
		t.Errorf("first from %s, made of %d spans", source, made)
	}
	made = 0
	for range 2 {
		if source := ask.source(); source != statesName || made > 0 {
			t.Errorf("then from %s, made of %d spans", source, made)
		}
	}
}

// TestStatesOfManyGroups checks that states may have more groups than an answer has rows.
func TestStatesOfManyGroups(t *testing.T) {
	t.Parallel()
	conn := store(t)
	fill(t, conn, testSite, 20_000)
	ask := asked{t, keepingStates(t, conn), `{"range":{"from":"2026-03-01T00:00:00Z","to":"2026-03-02T00:00:00Z"},"groupBy":[{"column":"url"},{"column":"visitorGeoCountry"}],"limit":5}`}
	if source := ask.source(); source != statesName {
		t.Errorf("from %s", source)
	}
}

// TestStatesDoNotPay checks that states are not read again if most events are in other parts, as after an import of
// old events.
func TestStatesDoNotPay(t *testing.T) {
	t.Parallel()
	conn := store(t)
	fill(t, conn, testSite, 100)
	ask := asked{t, keepingStates(t, conn), `{"range":"last30Days"}`}
	if source := ask.source(); source != statesName {
		t.Errorf("first from %s", source)
	}
	fill(t, conn, testSite, 2*int(lightRows))
	for i, want := range []bool{true, false} {
		if source := ask.source(); (source == statesName) != want {
			t.Errorf("answer %d after the import is from %s", i, source)
		}
	}
}

// TestStatesOfTwoNodes checks that nodes store states in the same tables, and that each node reads only its own states.
func TestStatesOfTwoNodes(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	one, two := asked{t, keepingStates(t, conn), totals}, asked{t, keepingStates(t, conn), totals}
	for range 2 {
		one.wants("states", 8, 4)
		two.wants("states", 8, 4)
	}
}

// TestStatesAfterAHangUp checks that a caller that disconnects leaves the cached states intact. The next query builds
// states again whose building was interrupted.
func TestStatesAfterAHangUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		made          bool // whether the next queries build the states again
	}{
		"while states are read": {before: "UNION ALL"},
		"while they are made":   {after: "INSERT INTO", made: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := store(t)
			insert(t, conn, testSite, fixture())
			m := &meddling{Conn: conn}
			service := keepingStates(t, m)
			ask := asked{t, service, totals}
			if !c.made {
				ask.wants("states", 8, 4)
			}
			service.states.Asks = 2
			if c.made {
				ask.wants("visits", 8, 4)
			}
			ctx, leave := context.WithCancel(t.Context())
			m.before, m.after, m.meddle = c.before, c.after, leave
			if _, _, err := service.Aggregate(ctx, Caller{}, testSite, []byte(totals), testNow); err == nil {
				t.Error("who hung up got an answer")
			}
			made := false
			m.before, m.after, m.meddle = "", "INSERT INTO", func() { made = true }
			if c.made { // the first query for these states does not build them
				ask.wants("visits", 8, 4)
			}
			if ask.wants("states", 8, 4); made != c.made {
				t.Errorf("made again: %v, want %v", made, c.made)
			}
		})
	}
}

// TestStatesTakeTooLong checks that no states are built from events that take most of a query's time to read.
func TestStatesTakeTooLong(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := keepingStates(t, conn)
	service.states.Asks, service.states.MaxScan = 2, 0
	ask := asked{t, service, totals}
	for range 3 {
		ask.wants("visits", 8, 4)
	}
	service.states.MaxScan = time.Hour
	ask.wants("states", 8, 4)
}
