package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// naiveCells queries the engine for the H3 cells of the places, because the naive evaluator cannot compute H3 cells.
func naiveCells(t *testing.T, conn driver.Conn) *naive {
	t.Helper()
	n := &naive{cells: map[[2]float32][16]naiveCell{}, zone: time.UTC, buckets: map[naiveMoment]time.Time{}}
	for _, p := range places {
		var cells [16]naiveCell
		for r := range cells {
			row := conn.QueryRow(context.Background(), fmt.Sprintf(
				"SELECT h3ToString(geoToH3(toFloat64(%[1]g), toFloat64(%[2]g), %[3]d::UInt8)) AS c, h3ToGeo(stringToH3(c)).1, h3ToGeo(stringToH3(c)).2", float64(p[0]), float64(p[1]), r))
			if err := row.Scan(&cells[r].Index, &cells[r].Lat, &cells[r].Lon); err != nil {
				t.Fatal(err)
			}
		}
		n.cells[p] = cells
	}
	// A known cell shows that latitude and longitude are not exchanged.
	var index string
	if err := conn.QueryRow(context.Background(), "SELECT h3ToString(geoToH3(37.7752702151959, -122.418307270836, 9::UInt8))").Scan(&index); err != nil || index != "8928308280fffff" {
		t.Fatalf("cell %q, %v", index, err)
	}
	return n
}

// TestMain sets the number of cases that rapid draws: 500, or 50 with -short. The engine takes
// almost all of the time of a case. The flag -rapid.checks overrides the number.
func TestMain(m *testing.M) {
	flag.Parse()
	checks := "500"
	if testing.Short() {
		checks = "250" // rapid draws a fifth of this number
	}
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "rapid.checks" {
			checks = f.Value.String()
		}
	})
	if err := flag.Set("rapid.checks", checks); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestDifferential compares random requests over random events with the naive evaluator. Both return the same rows in
// the same order, or the same refusal. A run with -rapid.checks=100000 is the most thorough.
func TestDifferential(t *testing.T) {
	t.Parallel()
	conn := store(t)
	n := naiveCells(t, conn)
	data := map[string][]insights.Event{"none": nil, "hot": storeHot(t, conn, "hot")}
	for i, size := range []int{1, 12, 300} {
		site := fmt.Sprint("site", i)
		for _, some := range arrivals(randomEvents(rand.New(rand.NewPCG(7, uint64(i))), size)) {
			insertAt(t, conn, some.month, site, some.events)
			data[site] = append(data[site], some.events...) // in the order of sending
		}
	}
	oneThread := func(c *Config) { c.MaxThreads, c.Site = 1, ownSite } // starting threads costs more than the rows
	raw, visits := newService(conn, oneThread), newService(conn, oneThread)
	visits.sources.limits = sourceLimits{many: math.MaxUint64} // read visits whenever that is possible
	states := keepingMonths(conn)
	states.config.MaxThreads, states.config.Site = 1, ownSite
	read := map[string]int{}
	answered, refused, paged := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		site := rapid.SampledFrom([]string{"none", "site0", "site1", "site2", "site2", "site2", "hot", "hot", "hot"}).
			Draw(t, "site")
		now := testNow.Add(time.Duration(rapid.IntRange(0, 999_999).Draw(t, "nanoseconds")))
		like := data["site2"]
		if site == "hot" {
			like = data[site]
		}
		request := drawRequest(t, like, n, now)
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		service := rapid.SampledFrom([]*Service{raw, visits, visits, states, states}).Draw(t, "service")
		got, headers, err := service.Aggregate(context.Background(), Caller{}, site, body, now)
		if want := naiveRefusal(request); want != "" {
			e, ok := errors.AsType[*schema.Error](err)
			if !ok || e.Code != schema.CodeBadRequest || !strings.HasPrefix(e.Message, want) {
				t.Fatalf("%s: %v, want a 400 that %s", body, err, want)
			}
			refused++
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if headers[headerResult] != "exact" && service != states {
			t.Fatalf("%s: %v", body, headers)
		}
		if must, may := n.tellsAssigned(data[site], request); must && headers[headerSessions] == "" ||
			!may && headers[headerSessions] != "" {
			t.Fatalf("%s on %s: %v, with assigned sessions %t, %t", body, site, headers, must, may)
		} else if must {
			read["with assigned sessions"]++
		}
		all, compared, others := n.answer(data[site], request)
		for page := 0; ; page++ {
			var result struct {
				Columns []struct{ Values json.RawMessage }
				Next    *struct{ Cursor string }
				Others  *struct {
					Columns []struct{ Values json.RawMessage }
				}
				RowsTotal *int
				Compare   struct {
					Columns []struct{ Values json.RawMessage }
				}
			}
			if err := json.Unmarshal(got, &result); err != nil {
				t.Fatal(err)
			}
			if len(all) != len(result.Columns) {
				t.Fatalf("%s: %d columns, want %d", body, len(result.Columns), len(all))
			}
			if counts := request.Count && page == 0; counts != (result.RowsTotal != nil) ||
				counts && *result.RowsTotal != len(all[0]) {
				t.Fatalf("%s on %s: %d rows, want %d; all: %s", body, site, result.RowsTotal, len(all[0]), got)
			}
			if (result.Others != nil) != (others != nil) {
				t.Fatalf("%s on %s: want others %v; all: %s", body, site, others, got)
			}
			for i := range others {
				if values := decodeAny(result.Others.Columns[i].Values); !same(others[i], values) {
					t.Fatalf("%s on %s: others in column %d: got %v, want %v\nall: %s", body, site, i, values, others[i], got)
				}
			}
			if others != nil {
				read["others of "+headers[headerSource]]++
			}
			limit := cmp.Or(request.Limit, 1000)
			more := len(all[0]) > (page+1)*limit
			if len(result.Compare.Columns) != len(compared) {
				t.Fatalf("%s: compared are %d columns, want %d", body, len(result.Compare.Columns), len(compared))
			}
			for i, c := range result.Compare.Columns {
				want := compared[i][min(page*limit, len(all[i])):min((page+1)*limit, len(all[i]))]
				if values := decodeAny(c.Values); !same(want, values) {
					t.Fatalf("%s on %s: compared column %d: got %v, want %v\nall: %s", body, site, i, values, want, got)
				}
			}
			for i, c := range result.Columns {
				want := all[i][min(page*limit, len(all[i])):min((page+1)*limit, len(all[i]))]
				if values := decodeAny(c.Values); !same(want, values) {
					t.Fatalf("%s on %s: column %d: got %v, want %v\nall: %s", body, site, i, values, want, got)
				}
			}
			if (headers[headerTruncated] == "true") != more || (result.Next != nil) != (more && request.Cursor != nil) {
				t.Fatalf("%s on %s: page %d has next %v and headers %v, want more: %v", body, site, page, result.Next, headers, more)
			}
			if result.Next == nil || page == 20 {
				break
			}
			request.Cursor = &result.Next.Cursor
			if body, err = json.Marshal(request); err != nil {
				t.Fatal(err)
			}
			if got, headers, err = service.Aggregate(
				context.Background(), Caller{}, site, body, now.Add(time.Duration(page)*time.Hour),
			); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			paged++
		}
		if len(all[0]) > 0 {
			answered++
			read[headers[headerSource]]++
		}
	})
	parts, _ := states.states.KnownParts()
	if read["states"] > 0 && (len(parts.Closed) == 0 || len(parts.Newest) == 0) {
		t.Errorf("states were of no parts of a kind: %v", parts)
	}
	t.Logf("%d answers had rows (%v), %d requests were refused, %d pages were read", answered, read, refused, paged)
	if answered > 200 && (read["visits"] == 0 || read["raw"] == 0 || read["states"] == 0) {
		t.Errorf("a source was never read: %v", read)
	}
}

func ownSite(context.Context, string) (Site, error) { return Site{Hosts: naiveOwn}, nil }

// arrival has the events that arrived in one month. They become one part of the events table.
type arrival struct {
	month  time.Time
	events []insights.Event
}

// arrivals distributes events over months, also long after or before they happened. The newest month has a large and
// a small part.
func arrivals(events []insights.Event) (list []arrival) {
	for back := range 4 {
		list = append(list, arrival{month: monthsBefore(back)(testNow)})
	}
	if len(events) > 100 {
		list = append(list, arrival{testNow, events[:2]})
		events = events[2:]
	}
	for i, e := range events {
		of := &list[max(0, i%5-1)]
		of.events = append(of.events, e)
	}
	return slices.DeleteFunc(list, func(a arrival) bool { return len(a.events) == 0 })
}

// storeHot stores the events of two days, up to five hours after testNow. Events arrive late and out of order, many at
// the borders of quarters of an hour. Visitors are erased between the inserts, and some of them return. Parts are also
// merged between the inserts. storeHot returns the remaining events in the order in which they were sent.
func storeHot(t *testing.T, conn driver.Conn, site string) (left []insights.Event) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 37))
	for round := range 6 {
		some := randomEvents(r, 60)
		for i := range some {
			e := &some[i]
			at := testNow.Add(5*time.Hour - time.Duration(r.Int64N(int64(48*time.Hour))))
			if r.IntN(4) == 0 {
				at = at.Truncate(insights.VisitQuarter).Add(time.Duration(r.IntN(2)-1) * time.Millisecond)
			}
			e.TimeMillis, e.Session = at.UnixMilli(), 1+r.Uint64N(6)
		}
		insertAt(t, conn, monthsBefore(round%2)(testNow), site, some)
		left = append(left, some...)
		if round%2 == 1 {
			erased := 1 + r.Uint64N(9)
			execute(t, conn, fmt.Sprintf("ALTER TABLE events DELETE WHERE site = '%s' AND visitor = %d "+
				"SETTINGS mutations_sync = 2", site, erased))
			left = slices.DeleteFunc(left, func(e insights.Event) bool { return e.Visitor == erased })
		}
		if round%3 == 2 {
			execute(t, conn, "OPTIMIZE TABLE events FINAL")
		}
	}
	return left
}

// same reports whether two decoded JSON values are equal. It compares coordinates with six digits, as answers have
// them.
func same(want, got any) bool {
	switch w := want.(type) {
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, same)
	case map[string]any:
		g, ok := got.(map[string]any)
		return ok && maps.EqualFunc(w, g, same)
	case float64:
		g, ok := got.(json.Number)
		f, err := g.Float64()
		return ok && err == nil && math.Abs(f-w) < 1e-6
	}
	return want == got
}
