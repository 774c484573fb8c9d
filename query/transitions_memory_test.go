package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// fillSessions stores sessions of `views` page views each. Every second session begins at /start.
func fillSessions(t testing.TB, conn driver.Conn, site string, sessions, views int) {
	t.Helper()
	for _, statement := range insights.DropVisits(insights.VisitsProjection()) {
		execute(t, conn, statement)
	}
	execute(t, conn, fmt.Sprintf(`INSERT INTO events (site, time, type, url, visitor, session)
		SELECT '%s', toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + toIntervalSecond(number %% 1000000), 'page_view',
		'https://docs.example.com/' || if(number %% %d = 0, 'start', 'page-' || toString(number %% 500)),
		sipHash64(intDiv(number, %d), 1), sipHash64(intDiv(number, %d), 2) FROM numbers(%d)`,
		site, 2*views, views, views, sessions*views))
}

// ofStart is a request about a page that every second session of fillSessions viewed.
const ofStart = `{"range":"last30Days","page":{"path":"/start"}}`

// TestTransitionsOutgrowMemory checks that lists of sessions go to disk, and that the sessions of a very frequent page
// are not found by their keys. The answers stay the same. A query that still needs too much memory is refused.
func TestTransitionsOutgrowMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	conn := store(t)
	fillSessions(t, conn, testSite, 360_000, 4)
	fillSessions(t, conn, "frequent", 450_000, 2)
	with := func(site string, memory uint64) (Explanation, error) {
		service := newService(conn, func(c *Config) { c.MaxMemory, c.MaxThreads = memory, 2 })
		return service.Explain(t.Context(), Transitions, site, []byte(ofStart), testNow)
	}
	for _, c := range []struct {
		site         string
		views        int
		memory       uint64 // a limit that is too low for the lists
		everySession bool
	}{
		{testSite, 180_000, 96 << 20, false},
		{"frequent", 225_000, 96 << 20, true}, // may also run out of memory before its keys are too many
	} {
		want, err := with(c.site, 1<<30)
		begins := fmt.Sprintf(`{"views":%[1]d,"entries":%[1]d,"exits":0,"reloads":0,"from":[],"to":[{`, c.views)
		if err != nil || len(want.Statements) != 2 || !strings.HasPrefix(string(want.Answer), begins) {
			t.Errorf("%s: %d statements, %v: %.200s", c.site, len(want.Statements), err, want.Answer)
		}
		x, err := with(c.site, c.memory)
		if err != nil || string(x.Answer) != string(want.Answer) || len(x.Statements) < 2 {
			t.Errorf("%s: %d statements, %v: %.200s, want %.200s",
				c.site, len(x.Statements), err, x.Answer, want.Answer)
			continue
		}
		keys := false
		failed, count := x.Statements[:len(x.Statements)-2], x.Statements[len(x.Statements)-2]
		for _, st := range failed {
			if keys = keys || tooManyInSet(st.Err); !outOfMemory(st.Err) && !tooManyInSet(st.Err) {
				t.Errorf("%s: %v", c.site, st.Err)
			}
		}
		if keys != c.everySession || strings.Contains(count.SQL, "HAVING") != c.everySession {
			t.Errorf("%s: too many keys %v, then %s", c.site, keys, count.SQL)
		}
	}
	_, err := with(testSite, 8<<20)
	if e, ok := errors.AsType[*schema.Error](err); !ok || e.Code != schema.CodeBadRequest || e.Message != tooWide {
		t.Errorf("with little memory: %v", err)
	}
}

// TestFewLongSessionsSpill checks that few sessions go to disk if their lists of views do not fit into the memory. The
// answers stay the same.
func TestFewLongSessionsSpill(t *testing.T) {
	t.Parallel()
	conn := store(t)
	fillSessions(t, conn, testSite, 400, 4_000)
	for _, c := range []struct {
		of     Report
		body   string
		memory uint64 // is too little for the lists
	}{
		{Transitions, `{"range":"last30Days","page":{"path":"/page-7"}}`, 112 << 20},
		{Funnel, `{"range":"last30Days","by":"session","steps":[{},{},{},{},{},{}]}`, 136 << 20},
		{Funnel, `{"range":"last30Days","by":"session","steps":[{},{}],"strictIncrease":false}`, 136 << 20},
	} {
		with := func(memory uint64) (Explanation, error) {
			service := newService(conn, func(c *Config) { c.MaxMemory, c.MaxThreads = memory, 2 })
			return service.Explain(t.Context(), c.of, testSite, []byte(c.body), testNow)
		}
		want, err := with(1 << 30)
		if err != nil {
			t.Errorf("%s %s: %v", c.of, c.body, err)
		}
		x, err := with(c.memory)
		if err != nil || string(x.Answer) != string(want.Answer) {
			t.Errorf("%s %s: %v: %.200s, want %.200s", c.of, c.body, err, x.Answer, want.Answer)
		}
	}
}

// TestFewGroupsStayInMemory checks that a statement with few groups writes no group to disk, even if the statement
// takes much memory. Otherwise the engine writes the outer groups of each block.
func TestFewGroupsStayInMemory(t *testing.T) {
	t.Parallel()
	conn := store(t)
	fillSessions(t, conn, testSite, 5_000, 250)
	service := newService(conn, func(c *Config) { c.MaxMemory, c.MaxThreads = 256<<20, 2 })
	r, err := compileTransitions(reach{site: Site{ID: testSite}}, []byte(ofStart), testNow)
	if err != nil {
		t.Fatal(err)
	}
	r.everySession = true
	q := service.ask()
	q.spills, q.passes = true, true
	nothing := clickhouse.Settings{"max_temporary_data_on_disk_size_for_query": 1}
	rows := 0
	st := r.lower()
	err = q.run(t.Context(), st, nothing, func(ctx context.Context, args []any) error {
		var kind uint8
		var hash, steps, total uint64
		var first, last int64
		return q.read(ctx, st.SQL, args, []any{&kind, &hash, &steps, &first, &last, &total}, func() { rows++ })
	})
	if err != nil || rows == 0 {
		t.Errorf("%d rows, %v", rows, err)
	}
}
