package query

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/query/statecache"
	"github.com/octavo-docs/octavo/schema/insights"
)

// keepingStates returns a service that caches all possible states of whole days and hours. It counts visitors with
// sketches, which are exact for few visitors. The event that it inserts makes the months of earlier events past months,
// whose parts are settled.
func keepingStates(t testing.TB, conn driver.Conn) *Service {
	t.Helper()
	insertAt(t, conn, time.Now().Add(31*24*time.Hour), "later", fixture()[2:3])
	return keepingMonths(conn)
}

// keepingMonths returns a service like keepingStates. Its newest month is the month in which the last event arrived.
func keepingMonths(conn driver.Conn) *Service {
	s := newService(conn, func(c *Config) { c.StateBytes = 1 << 30 })
	s.states.Cuts = statecache.Cuts{Coarse: statecache.Every(24 * time.Hour), Fine: statecache.Every(time.Hour)}
	s.states.Asks, s.states.MinPartAge, s.states.ListParts, s.states.MaxTables = 1, 0, time.Hour, 10_000
	s.sources.limits = sourceLimits{}
	return s
}

// asked runs a query in a test of aggregate states.
type asked struct {
	t       *testing.T
	service *Service
	request string
}

const totals = `{"range":"last30Days","select":[{"column":"eventsCount"},{"column":"visitorsCount"}]}`

// wants runs the query, and compares the answer's numbers and source.
func (a asked) wants(source string, numbers ...int) {
	a.t.Helper()
	body, headers, err := a.service.Aggregate(a.t.Context(), Caller{}, testSite, []byte(a.request), testNow)
	if err != nil {
		a.t.Fatal(err)
	}
	want := fmt.Sprintf(`{"columns":[{"column":"eventsCount","values":[%d]},{"column":"visitorsCount","values":[%d]}]}`, numbers[0], numbers[1])
	if string(body) != want || headers[headerSource] != source {
		a.t.Errorf("%s of %s, want %s of %s", body, headers[headerSource], want, source)
	}
}

// earlier returns the fixture's events with times a minute earlier. The engine would drop equal rows as a repeated
// insert.
func earlier() []insights.Event {
	events := fixture()
	for i := range events {
		events[i].TimeMillis -= 60_000
	}
	return events
}

func execute(t testing.TB, conn driver.Conn, statement string) {
	t.Helper()
	if err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// TestStates checks that states are built for a repeated query, which then reads no events. Later events are read in
// addition. After events were deleted or parts merged, all events are read and the states are built again.
func TestStates(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := keepingStates(t, conn)
	service.states.Asks = 2
	ask := asked{t, service, totals}
	ask.wants("visits", 8, 4)
	ask.wants("states", 8, 4)
	ask.wants("states", 8, 4)
	insert(t, conn, testSite, earlier())
	ask.wants("states", 16, 4) // although the service listed the parts before the insert
	execute(t, conn, "ALTER TABLE events DELETE WHERE visitor = 1 SETTINGS mutations_sync = 2")
	ask.wants("visits", 10, 3)
	ask.wants("visits", 10, 3)
	ask.wants("states", 10, 3)
	execute(t, conn, "OPTIMIZE TABLE events FINAL")
	ask.wants("visits", 10, 3)
	ask.wants("visits", 10, 3)
	ask.wants("states", 10, 3)
}

// TestStatesOfTheNewestMonth checks the month in which events are still arriving. The states of the month's large parts
// are cached. The month's small parts are read as events. Events of earlier months that arrive in this month are read
// as events, too.
func TestStatesOfTheNewestMonth(t *testing.T) {
	t.Parallel()
	conn := store(t)
	at := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC) }
	arrived := func(when time.Time, events int, happened time.Time) {
		list := make([]insights.Event, events)
		for i := range list {
			list[i] = fixture()[0]
			list[i].TimeMillis = happened.UnixMilli() + int64(i)
		}
		insertAt(t, conn, when, testSite, list)
	}
	service := keepingMonths(conn)
	service.states.Cuts = statecache.MonthsAndDays()
	ask := asked{t, service, strings.Replace(totals, `"last30Days"`, `{"from":"2026-01-10T12:00:00Z","to":"2026-03-15T12:00:00Z"}`, 1)}
	relist := func() { service.states.ListParts = 0 } // from now on, each query lists the parts again
	made := func(spans float64) {
		t.Helper()
		if got := testutil.ToFloat64(service.metrics.states[statesMade]); got != spans {
			t.Errorf("%g spans were made, want %g", got, spans)
		}
	}
	arrived(at(2, 3), 100, at(2, 3))
	arrived(at(3, 3), 100, at(3, 3))
	ask.wants("states", 200, 1)
	made(3) // spans: days of January, all of February, days of March
	arrived(at(3, 4), 2, at(3, 4))
	relist()
	ask.wants("states", 202, 1)
	made(3)
	if parts, _ := service.states.KnownParts(); len(parts.Newest) != 1 {
		t.Errorf("states are of %d parts, want the large one", len(parts.Newest))
	}
	arrived(at(3, 5), 50, at(2, 5)) // the events arrive late, in a large part
	relist()
	ask.wants("states", 252, 1)
	made(4)
	service.states.MinPartAge = time.Hour
	relist()
	ask.wants("visits", 252, 1)
}

// TestStatesCostLittle checks the estimated cost and the read rows of a query from states. The cost and the number of
// read rows include only rows outside of the states.
func TestStatesCostLittle(t *testing.T) {
	t.Parallel()
	const events = 100_000
	conn := store(t)
	fill(t, conn, testSite, events)
	service := keepingStates(t, conn)
	p, err := compile(Site{ID: testSite}, []byte(`{"range":"last30Days"}`), testNow)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		q := service.ask()
		p.weigh(q)
		if _, err := p.answer(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if i > 0 && (q.cost > events/100 || q.rowsRead > events/100 || q.summary != statesName) {
			t.Errorf("asked again it costs %d and reads %d rows, of %s; want a hundredth of %d", q.cost, q.rowsRead, q.summary, events)
		}
	}
}

// TestStatesGone checks that an answer is right although states are missing.
func TestStatesGone(t *testing.T) {
	t.Parallel()
	for name, drop := range map[string]func(t *testing.T, conn driver.Conn, table string){
		"the table": func(t *testing.T, conn driver.Conn, table string) { execute(t, conn, "DROP TABLE "+table) },
		"the rows":  func(t *testing.T, conn driver.Conn, table string) { execute(t, conn, "TRUNCATE TABLE "+table) },
		"some rows": func(t *testing.T, conn driver.Conn, table string) {
			var key string
			if err := conn.QueryRow(t.Context(), "SELECT any(key) FROM "+table).Scan(&key); err != nil {
				t.Fatal(err)
			}
			execute(t, conn, "ALTER TABLE "+table+" DROP PARTITION '"+key+"'")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := store(t)
			insert(t, conn, testSite, fixture())
			ask := asked{t, keepingStates(t, conn), totals}
			ask.wants("states", 8, 4)
			drop(t, conn, stateTables(t, conn)[0])
			ask.wants("visits", 8, 4)
			ask.wants("states", 8, 4)
		})
	}
}

func stateTables(t *testing.T, conn driver.Conn) (tables []string) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "SELECT groupArray(name) FROM system.tables WHERE database = currentDatabase() AND match(name, '"+insights.StatesTables+"')").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	return tables
}

// TestStatesSQL checks that no value of a request appears in a statement about states, or in the name of their table.
// The key of states must contain everything on which the states depend.
func TestStatesSQL(t *testing.T) {
	t.Parallel()
	const request = `{"range":"lastYear","timezone":"Europe/Berlin","groupBy":[{"column":"visitorClaim","claim":"%s"},{"column":"page"}],"where":[{"column":"url","operator":"matches","values":["%s"]}],"select":[{"column":"visitorsCount"}]}`
	type told struct{ sql, key, table string }
	tell := func(site, claim, pattern string, parts ...string) (list told) {
		t.Helper()
		p, err := compile(Site{ID: site}, fmt.Appendf(nil, request, claim, pattern), testNow)
		if err != nil {
			t.Fatal(err)
		}
		p.env.Counting = insights.CountSketched
		settled := statecache.Parts{Month: testNow}
		for _, name := range parts {
			settled.Closed = append(settled.Closed, statecache.Part{Name: name, Version: name})
		}
		p, ok := p.fromStates(settled, statecache.MonthsAndDays(), func(scope) bool { return false })
		if !ok {
			t.Fatal("it has no states")
		}
		table, first := p.states.table, p.states.spans[0]
		made := statecache.Keyed(first.entry, p.entryRows(first))
		sql := statecache.Create(table, made).SQL + "\n\n" + statecache.Insert(table, made).SQL + "\n\n" + lower(p).SQL
		return told{sql: sql, key: first.entry.Key, table: table}
	}
	usual := tell(testSite, "plan", "guide", "202601_1_2_1")
	keys := map[string]bool{usual.key: true}
	for _, other := range []told{
		tell("it's", "plan", "guide", "202601_1_2_1"), tell(testSite, "a' OR 1 --", "guide", "202601_1_2_1"),
		tell(testSite, "plan", "x'; DROP TABLE events", "202601_1_2_1"), tell(testSite, "plan", "guide", "202601_1_2_1_7"), tell(testSite, "plan", "guide", "202601_1_2_1", "202601_3_3_0"),
	} {
		if other.sql != usual.sql || other.table != usual.table {
			t.Errorf("the statements differ:\n%s\n%s", usual.sql, other.sql)
		}
		keys[other.key] = true
	}
	if len(keys) != 6 {
		t.Errorf("%d keys of 6", len(keys))
	}
	c := testCase{name: "states", request: fmt.Sprintf(request, "plan", "guide")}
	for i, text := range strings.Split(usual.sql, "\n\n") {
		c.add([]string{"create", "make", "read"}[i], text)
	}
	path := filepath.Join("testdata", "states.txt")
	golden(t, "states", path, readCases(t, path), []testCase{c})
}

// TestHasStates checks which plans can be read from states.
func TestHasStates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request  string
		counting insights.Counting
		want     bool
	}{
		"events":             {`"range":"lastYear"`, insights.CountExact, true},
		"visitors":           {totals[1 : len(totals)-1], insights.CountTotals, true},
		"visitors, exactly":  {totals[1 : len(totals)-1], insights.CountExact, false},
		"moments":            {`"range":"lastYear","groupBy":[{"column":"datetime"}]`, insights.CountExact, false},
		"days":               {`"range":"lastYear","groupBy":[{"column":"datetime","interval":"day"}]`, insights.CountExact, true},
		"sessions' measures": {`"range":"lastYear","select":[{"column":"bounceRate"}]`, insights.CountExact, false},
		"sessions' pages":    {`"range":"lastYear","where":[{"column":"entryPage","values":[null]}]`, insights.CountExact, false},
	} {
		p, err := compile(Site{ID: testSite}, []byte("{"+c.request+"}"), testNow)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.hasStates(c.counting); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
