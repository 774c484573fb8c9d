package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// testTree returns pages with events, a page that nobody reads, the same path in two spaces, and pages with missing
// properties. Events also refer to pages outside of testTree.
func testTree() []schema.SitePage {
	ada := &schema.SitePageOwner{ID: "u1", DisplayName: "Ada"}
	bob := &schema.SitePageOwner{ID: "u2", DisplayName: "Bob \"B\""}
	at := func(days int) time.Time { return testNow.Add(-time.Duration(days) * 24 * time.Hour) }
	return []schema.SitePage{
		{Space: "sp1", ID: "p1", Path: "start", Title: "Start", Owner: ada, EditedAt: at(10), Words: 200},
		{Space: "sp2", ID: "p1", Path: "start", Title: "Start", Owner: bob, EditedAt: at(400), Words: 20},
		{Space: "sp2", ID: "p2", Path: "start/Überblick", Title: "Überblick", EditedAt: at(10), Words: -1},
		{Space: "sp1", ID: "p3", Path: "never", Title: "Never read", Owner: ada, EditedAt: at(700)},
		{Space: "sp3", ID: "p4", Path: "never/too", Title: "", Owner: bob, EditedAt: at(1), Words: 200},
	}
}

func ofTree(_ context.Context, _ string, spaces []string, most int) (list []schema.SitePage, ok bool, err error) {
	for _, page := range testTree() {
		if spaces == nil || slices.Contains(spaces, page.Space) {
			list = append(list, page)
		}
	}
	return list, len(list) <= most, nil
}

// drawPages draws a request for pages.
func drawPages(t *rapid.T, events []insights.Event, n *naive, now time.Time) naivePagesRequest {
	like := drawRequest(t, events, n, now)
	r := naivePagesRequest{Range: like.Range, Zone: like.Zone, Week: like.Week, Where: onMetrics(like.Where, false)}
	metrics := slices.Sorted(maps.Keys(naiveMetrics))
	metrics = slices.DeleteFunc(metrics, func(name string) bool { return name == naiveLast.column })
	for range rapid.IntRange(0, 3).Draw(t, "metrics of pages") {
		name := rapid.SampledFrom(metrics).Draw(t, "metric")
		r.Select = append(r.Select, naiveRef{Column: name})
		if !slices.Contains(r.metrics, name) {
			r.metrics = append(r.metrics, name)
		}
	}
	if len(r.metrics) == 0 {
		r.metrics = []string{"eventsCount"}
	}
	some := func(label string, list ...string) (drawn []string) {
		if rapid.IntRange(0, 5).Draw(t, label) == 0 {
			drawn = rapid.SliceOfN(rapid.SampledFrom(list), 1, 2).Draw(t, label+" list")
		}
		return drawn
	}
	r.Owners, r.Spaces = some("owners", "u1", "u2", "u3"), some("spaces", "sp1", "sp2", "sp3", "sp4")
	r.Kinds = some("kinds", "current", "removed", "path")
	if rapid.IntRange(0, 3).Draw(t, "never") == 0 {
		never := rapid.Bool().Draw(t, "never read")
		r.Never = &never
	}
	if rapid.IntRange(0, 5).Draw(t, "since") == 0 {
		since := testNow.Add(-time.Duration(rapid.IntRange(0, 800).Draw(t, "days")) * 24 * time.Hour)
		r.Since = &since
	}
	r.Title = rapid.SampledFrom([]string{"", "", "", "", "start", "ÜBER", "e"}).Draw(t, "title")
	r.Path = rapid.SampledFrom([]string{"", "", "", "", "/", "start", "X"}).Draw(t, "path")
	if rapid.Bool().Draw(t, "pages ordered") {
		by := rapid.SampledFrom(append(metrics, PageOrders()...)).Draw(t, "by")
		r.Order = &naiveOrder{naiveRef{Column: by}, rapid.SampledFrom(directions).Draw(t, "pages direction")}
	}
	r.Limit = rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(t, "pages limit")
	return r
}

// TestPagesDifferential compares random requests for pages with the naive evaluator. The data has pages with and
// without readers, removed pages, the same path in two spaces, and paths outside of all spaces.
func TestPagesDifferential(t *testing.T) {
	t.Parallel()
	conn := store(t)
	n := naiveCells(t, conn)
	var events []insights.Event
	for _, some := range arrivals(randomEvents(rand.New(rand.NewPCG(7, 3)), 300)) {
		insertAt(t, conn, some.month, testSite, some.events)
		events = append(events, some.events...)
	}
	change := func(c *Config) { c.MaxThreads, c.Site, c.Pages = 1, ownSite, ofTree }
	raw, states := newService(conn, change), keepingMonths(conn)
	change(&states.config)
	kinds, read, pages := map[any]int{}, map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		now := testNow.Add(time.Duration(rapid.IntRange(0, 999_999).Draw(t, "nanoseconds")))
		request := drawPages(t, events, n, now)
		service := rapid.SampledFrom([]*Service{raw, states}).Draw(t, "service")
		refusal := naiveFilterRefusal("where", request.Where)
		want := []naivePagesRow(nil)
		if refusal == "" {
			want = n.pagesOf(events, testTree(), request)
		}
		limit := request.Limit
		if limit == 0 {
			limit = DefaultPagesRows
		}
		all := len(want)
		for page := 0; ; page++ {
			body, err := json.Marshal(request)
			if err != nil {
				t.Fatal(err)
			}
			later := now.Add(time.Duration(page) * time.Hour)
			answer, headers, err := service.Answer(context.Background(), Caller{}, Pages, testSite, body, later)
			if refusal != "" {
				e, ok := errors.AsType[*schema.Error](err)
				if !ok || e.Code != schema.CodeBadRequest || !strings.HasPrefix(e.Message, refusal) {
					t.Fatalf("%s: %v, want a 400 that %s", body, err, refusal)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			got := decodeAny(answer).(map[string]any)
			items := got["items"].([]any)
			if got["count"] != count(int64(all)) || len(items) != min(limit, len(want)) {
				t.Fatalf("%s: %d rows of %v, want %d of %d\n%s",
					body, len(items), got["count"], min(limit, len(want)), all, answer)
			}
			for i, item := range items {
				if !same(want[i].shown, item) {
					t.Fatalf("%s: row %d of page %d is %v, want %v\n%s", body, i, page, item, want[i].shown, answer)
				}
				kinds[want[i].shown["kind"]]++
			}
			read[headers[headerSource]]++
			want = want[len(items):]
			next, more := got["next"].(map[string]any)
			if more != (len(want) > 0) || more != (headers[headerTruncated] == "true") {
				t.Fatalf("%s: next is %v with %d rows left, headers %v", body, next, len(want), headers)
			}
			if !more || page == 3 && limit == 1 { // with the other limits, the test reads the list to its end
				break
			}
			pages++
			request.Cursor = next["cursor"].(string)
		}
	})
	t.Logf("rows %v, sources %v, %d more pages", kinds, read, pages)
	if len(kinds) < 3 || len(read) < 2 || pages == 0 {
		t.Errorf("rows of kinds %v, sources %v, %d more pages", kinds, read, pages)
	}
}

// TestPagesThatAreRefused checks that the error of an invalid request names the invalid member.
func TestPagesThatAreRefused(t *testing.T) {
	t.Parallel()
	conn := store(t)
	service := newService(conn, func(c *Config) { c.Pages = ofTree })
	insert(t, conn, testSite, fixture())
	ask := func(body string) (string, error) {
		answer, _, err := service.Answer(t.Context(), Caller{}, Pages, testSite, []byte(body), testNow)
		return string(answer), err
	}
	first, err := ask(`{"range":"last7Days","limit":1}`)
	if err != nil {
		t.Fatal(err)
	}
	_, cursor, _ := strings.Cut(first, `"cursor":"`)
	cursor, _, _ = strings.Cut(cursor, `"`)
	for _, c := range [][2]string{ // request, beginning of the refusal
		{`{}`, "range is required"},
		{`{"range":"last7Days","groupBy":[]}`, "groupBy is not a known member"},
		{`{"range":"last7Days","limit":0}`, "limit must be an integer from 1 to 1000"},
		{`{"range":"last7Days","kinds":["currents"]}`,
			`kinds[0] must be a kind of page, not "currents"; did you mean "current"?`},
		{`{"range":"last7Days","owners":"u1"}`, "owners must be an array"},
		{`{"range":"last7Days","neverRead":"yes"}`, "neverRead must be true or false"},
		{`{"range":"last7Days","cursor":"x"}`, "cursor is not a cursor of this request"},
		{`{"range":"last7Days","notEditedSince":1}`, "notEditedSince must be a string"},
		{`{"range":"last7Days","accuracy":"close"}`, `accuracy must be auto or exact, not "close"`},
		{`{"range":"last30Days","cursor":"` + cursor + `"}`, "cursor is not a cursor of this request"},
		{`{"range":"last7Days","notEditedSince":"yesterday"}`, "notEditedSince must be a date-time"},
		{`{"range":"last7Days","select":[{"column":"page"}]}`, "select[0].column is not a metric"},
		{`{"range":"last7Days","order":{"by":{"column":"titel"},"direction":"asc"}}`,
			`order.by.column must be a metric or a member of pages, not "titel"; did you mean "title"?`},
		{`{"range":"last7Days","order":{"by":{"column":"page"},"direction":"asc"}}`,
			`order.by.column must be a metric or a member of pages, not "page"`},
		{`{"range":"last7Days","order":{"by":{"column":"title"},"direction":"up"}}`,
			"order.direction must be a direction"},
		{`{"range":"last7Days","where":[{"column":"eventsCount","operator":"lessThan","values":[3]}]}`,
			"where[0].column is a metric: only events can be filtered here"},
		{`{"range":"last7Days","where":[{"column":"url","operator":"matches","values":["(a{999}){999}"]}]}`, "where"},
	} {
		_, err := ask(c[0])
		e, ok := errors.AsType[*schema.Error](err)
		if !ok || e.Code != schema.CodeBadRequest || !strings.HasPrefix(e.Message, c[1]) {
			t.Errorf("%s: %v, want %s", c[0], err, c[1])
		}
	}
	if second, err := ask(`{"range":"last7Days","limit":1,"cursor":"` + cursor + `"}`); err != nil || second == first {
		t.Errorf("the next page is %s, %v", second, err)
	}
}

// TestTooManyPages checks two limits: the number of a site's pages, and the number of pages that events name.
func TestTooManyPages(t *testing.T) {
	t.Parallel()
	conn := store(t)
	fill := fmt.Sprintf(`INSERT INTO events (site, time, type, url, visitor, session)
		SELECT '%s', toDateTime64('2026-03-14 00:00:00', 3, 'UTC') + toIntervalMillisecond(number), 'page_view',
		'https://docs.example.com/page/' || toString(number), number, number FROM numbers(%d)`, testSite, MaxPages+1)
	if err := conn.Exec(t.Context(), fill); err != nil {
		t.Fatal(err)
	}
	size := MaxPages
	service := newService(conn, func(c *Config) {
		c.Pages = func(_ context.Context, _ string, _ []string, most int) ([]schema.SitePage, bool, error) {
			list := make([]schema.SitePage, size)
			for i := range list {
				list[i] = schema.SitePage{Space: "sp1", ID: fmt.Sprint("p", i), Title: "Page", Path: fmt.Sprint("p", i)}
			}
			return list, size <= most, nil
		}
	})
	ask := func(where string) (string, error) {
		body := `{"range":"last7Days","limit":1,"where":[` + where + `]}`
		answer, _, err := service.Answer(t.Context(), Caller{}, Pages, testSite, []byte(body), testNow)
		return string(answer), err
	}
	const others = `{"column":"urlPath","operator":"notIn","values":["/page/7"]}`
	if answer, err := ask(others); err != nil || !strings.Contains(answer, fmt.Sprintf(`"count":%d,`, 2*MaxPages)) {
		t.Errorf("%v: %s", err, answer)
	}
	refused := func(where, want string) {
		t.Helper()
		_, err := ask(where)
		e, ok := errors.AsType[*schema.Error](err)
		if !ok || e.Code != schema.CodeBadRequest || !strings.HasPrefix(e.Message, want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	refused("", "where must select events of at most 50000 pages")
	size++
	refused(others, "spaces must name spaces with at most 50000 pages together")
}

// TestPagesWithoutTheStore checks that a query returns the error of reading the site's pages.
func TestPagesWithoutTheStore(t *testing.T) {
	t.Parallel()
	down := schema.Unavailable(errors.New("down"), time.Second)
	service := newService(store(t), func(c *Config) {
		c.Pages = func(context.Context, string, []string, int) ([]schema.SitePage, bool, error) {
			return nil, false, down
		}
	})
	_, _, err := service.Answer(t.Context(), Caller{}, Pages, testSite, []byte(`{"range":"last7Days"}`), testNow)
	if e, ok := errors.AsType[*schema.Error](err); !ok || e.Code != down.Code || e.RetryAfter == 0 {
		t.Errorf("%v, want %v", err, down)
	}
}
