package insights

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// TestCountersHavePlaces checks that each counter of events has one place in the projection of visits.
func TestCountersHavePlaces(t *testing.T) {
	t.Parallel()
	for code, c := range typeCounters {
		if _, quad := places[c]; quad == (c.state != "") {
			t.Errorf("the type %s: in a quad %v, own column %q; want one of both", EventTypes.Word(code), quad, c.state)
		}
	}
	if len(places) != 4*len(quads) {
		t.Errorf("%d counters have a place in %d quads, want four for each quad", len(places), len(quads))
	}
}

// TestQuadsCount checks that each counter of a quad counts exactly its own events. The engine merges some parts of the
// table. All counters differ, and some are larger than 16 bits.
func TestQuadsCount(t *testing.T) {
	t.Parallel()
	options, err := clickhouse.ParseDSN(enginetest.ClickHouse(t))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	exec := func(statement string) {
		t.Helper()
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for _, statement := range CreateStatements(Topology{}) {
		exec(statement)
	}
	// About n in 288 events have the type with the code n. All events of a part belong to two sessions.
	for part := range 3 {
		exec(fmt.Sprintf(`INSERT INTO events (site, time, received, type, visitor, session, display_context,
			feedback_rating, ask_rating, engaged_seconds, scroll_depth, log_offset)
			SELECT 's', toDateTime64('2026-03-01 00:00:00', 3, 'UTC'), toDateTime('2026-03-01 00:00:00', 'UTC'),
			toInt8(floor(sqrt(2 * (sipHash64(number, 1) %% 288)))) AS type, 7, number %% 2, 'site', number %% 16 %% 4,
			number %% 9 %% 5 %% 3 - 1, if(number %% 5 < 2, -1, number %% 90), if(number %% 7 = 3, -1, number %% 90),
			number FROM numbers(%d, 100000)`, part*100_000))
	}
	exec("OPTIMIZE TABLE events")
	var wanted, got []string
	var read []sqltree.Aliased
	number := func(name, condition string, e sqltree.Expr) {
		wanted = append(wanted, "toUInt64(countIf("+condition+"))")
		got = append(got, name)
		read = append(read, sqltree.Aliased{Expr: sqltree.Call("sum", e)})
	}
	number(Events.Name, "1", Events.read())
	number("page views", typeCounted(pageView), typed("page_view").read())
	for _, quad := range quads {
		for _, c := range quad {
			number(c.Name, c.counted, c.read())
		}
	}
	numbers := func(statement string) []uint64 {
		t.Helper()
		list := make([]uint64, len(got))
		into := make([]any, len(got))
		for i := range list {
			into[i] = &list[i]
		}
		if err := conn.QueryRow(context.Background(), statement).Scan(into...); err != nil {
			t.Fatal(err)
		}
		return list
	}
	want := numbers("SELECT " + strings.Join(wanted, ", ") + " FROM events")
	have := numbers((&sqltree.Select{Rows: VisitRows(), Columns: read}).Print().SQL)
	largest := uint64(0)
	seen := map[uint64]string{}
	for i, name := range got {
		if have[i] != want[i] || want[i] == 0 {
			t.Errorf("%s: %d in visits, %d events; want equal numbers above 0", name, have[i], want[i])
		}
		if other, ok := seen[want[i]]; ok && name != sessionPageViews.Name {
			t.Errorf("%s and %s both count %d events; want different numbers", other, name, want[i])
		}
		seen[want[i]], largest = name, max(largest, want[i])
	}
	if largest < 1<<16 {
		t.Errorf("the largest counter has %d events, want more than 16 bits", largest)
	}
}
