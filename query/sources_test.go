package query

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema/insights"
)

// fromVisits returns a service that reads visits whenever they have the requested columns.
func fromVisits(conn driver.Conn) *Service {
	s := newService(conn)
	s.sources.limits = sourceLimits{many: math.MaxUint64}
	return s
}

// TestOfVisits checks that a query reads visits if and only if they have its columns.
func TestOfVisits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request string
		visits  bool
	}{
		"totals":                         {`"range":"last7Days"`, true},
		"a quarter less than a range":    {`"range":{"from":"2026-03-01T00:01:00Z","to":"2026-03-01T00:29:00Z"}`, false},
		"a whole quarter":                {`"range":{"from":"2026-03-01T00:15:00Z","to":"2026-03-01T00:30:00Z"}`, true},
		"days of a zone with a quarter":  {`"range":"last7Days","timezone":"Asia/Kathmandu","groupBy":[{"column":"datetime","interval":"day"}]`, true},
		"days of a zone with minutes":    {`"range":{"from":"1970-01-01T00:00:00Z","to":"1973-01-01T00:00:00Z"},"timezone":"Africa/Monrovia","groupBy":[{"column":"datetime","interval":"day"}]`, false},
		"exact times":                    {`"range":"last7Days","groupBy":[{"column":"datetime"}]`, false},
		"a filter on the moment":         {`"range":"last7Days","where":[{"column":"datetime","operator":"lessThan","values":["2026-03-14T00:00:00Z"]}]`, false},
		"types":                          {`"range":"last7Days","where":[{"column":"eventType","values":["page_view"]},{"column":"eventType","operator":"notIn","values":["link_click"]}]`, true},
		"types in a group of conditions": {`"range":"last7Days","where":[{"or":[{"column":"eventType","values":["page_view"]}]}]`, false},
		"groups of types":                {`"range":"last7Days","groupBy":[{"column":"eventType"}]`, false},
		"ratings of a type":              {`"range":"last7Days","where":[{"column":"eventType","values":["page_post_feedback"]}],"select":[{"column":"pageFeedbackRating"}]`, true},
		"ratings of answers":             {`"range":"last7Days","select":[{"column":"askResponseRating"}]`, true},
		"ratings of answers and a type":  {`"range":"last7Days","where":[{"column":"eventType","values":["ask_rate_response"]}],"select":[{"column":"askResponseRating"}]`, false},
		"people":                         {`"range":"last7Days","select":[{"column":"peopleCount"},{"column":"visitorsCount"}]`, true},
		"people and a type":              {`"range":"last7Days","where":[{"column":"eventType","values":["page_view","mcp_request"]}],"select":[{"column":"peopleCount"}]`, true},
		"people of pages":                {`"range":"last7Days","groupBy":[{"column":"page"}],"select":[{"column":"peopleCount"}]`, false},
		"pages":                          {`"range":"last7Days","groupBy":[{"column":"page"}]`, false},
		"pages of sessions":              {`"range":"last7Days","groupBy":[{"column":"entryPage"}]`, false},
		"conditions on sessions":         {`"range":"last7Days","where":[{"column":"exitPage","values":[null]}]`, false},
		"metrics of sessions":            {`"range":"last7Days","select":[{"column":"bounceRate"}]`, true},
		"metrics of sessions by day": {
			`"range":"last7Days",` +
				`"select":[{"column":"datetime","interval":"day"},{"column":"sessionDuration"},{"column":"sessionsCount"}]`, true,
		},
		"durations of sessions": {`"range":"last7Days","select":[{"column":"sessionDuration"}]`, false},
		"metrics of sessions of a type": {
			`"range":"last7Days","where":[{"column":"eventType","values":["search_open"]}],` +
				`"select":[{"column":"pagesPerSession"}]`, true,
		},
		"metrics of sessions by page": {`"range":"last7Days","select":[{"column":"page"},{"column":"bounceRate"}]`, false},
		"metrics of sessions by entry": {
			`"range":"last7Days",` +
				`"select":[{"column":"entryPage"},{"column":"bounceRate"}]`, false,
		},
		"metrics of sessions by claims": {
			`"range":"last7Days",` +
				`"select":[{"column":"visitorClaimProperty"},{"column":"bounceRate"}]`, false,
		},
		"claims": {`"range":"last7Days","groupBy":[{"column":"visitorClaim","claim":"plan"}],"where":[{"column":"visitorClaimProperty","values":["plan"]}]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := compile(Site{ID: testSite}, []byte("{"+c.request+"}"), testNow)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := p.ofVisits(p.sourceRefs()); ok != c.visits {
				t.Errorf("read from visits: %v, want %v", ok, c.visits)
			}
		})
	}
}

// TestBestSource checks that visits are read if they have many fewer rows. The visitors of very many rows are counted
// with a sketch. A count that must be exact uses no sketch.
func TestBestSource(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request  string
		rows     dayRows
		source   string
		counting insights.Counting
	}{
		"few events":           {`{"range":"lastYear"}`, dayRows{events: 100_000, visits: 20_000}, "raw", insights.CountExact},
		"many events":          {`{"range":"lastYear"}`, dayRows{events: 10_000_000, visits: 2_000_000}, "visits", insights.CountExact},
		"visits of an event":   {`{"range":"lastYear"}`, dayRows{events: 10_000_000, visits: 9_000_000}, "raw", insights.CountExact},
		"many visitors":        {`{"range":"lastYear","select":[{"column":"visitorsCount"}]}`, dayRows{events: 20_000_000, visits: 4_000_000}, "visits", insights.CountTotals},
		"many visitors by day": {`{"range":"lastYear","select":[{"column":"datetime","interval":"day"},{"column":"visitorsCount"}]}`, dayRows{events: 20_000_000, visits: 4_000_000}, "visits", insights.CountSketched},
		"many events by day":   {`{"range":"lastYear","select":[{"column":"datetime","interval":"day"},{"column":"eventsCount"}]}`, dayRows{events: 20_000_000, visits: 4_000_000}, "visits", insights.CountExact},
		"many visitors of raw": {`{"range":"lastYear","select":[{"column":"page"},{"column":"visitorsCount"}]}`, dayRows{events: 20_000_000, visits: 2_000_000}, "raw", insights.CountSketched},
		"visitors and the last time": {`{"range":"lastYear","groupBy":[{"column":"visitorGeoCountry"}],
			"select":[{"column":"datetime"},{"column":"visitorsCount"}]}`,
			dayRows{events: 20_000_000, visits: 2_000_000}, "raw", insights.CountExact},
		"many visitors and the last time": {`{"range":"lastYear","groupBy":[{"column":"visitorGeoCountry"}],
			"select":[{"column":"datetime"},{"column":"visitorsCount"}]}`,
			dayRows{events: 20_000_000, visits: 4_000_000}, "raw", insights.CountSketched},
		"exactly":       {`{"range":"lastYear","accuracy":"exact","select":[{"column":"visitorsCount"}]}`, dayRows{events: 20_000_000, visits: 4_000_000}, "visits", insights.CountExact},
		"many sessions": {`{"range":"lastYear","select":[{"column":"sessionsCount"},{"column":"bounceRate"}]}`, dayRows{events: 20_000_000, visits: 4_000_000}, "visits", insights.CountExact},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := compile(Site{ID: testSite}, []byte(c.request), testNow)
			if err != nil {
				t.Fatal(err)
			}
			got := usualLimits.best(p.scope, c.rows, p.sourceRefs(), p.estimate())
			if got.source.name != c.source || got.env.Counting != c.counting {
				t.Errorf("%s, counted in way %d; want %s, %d", got.source.name, got.env.Counting, c.source, c.counting)
			}
		})
	}
}

// TestShortRanges checks queries of a short range. The first query reads visits if the engine's index has many events.
// No query waits until the rows are counted. Later queries know the number of rows.
func TestShortRanges(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	const day, hour = `"last24Hours"`, `{"from":"2026-03-15T11:00:00Z","to":"2026-03-15T12:00:00Z"}`
	for name, c := range map[string]struct {
		period       string
		few, fewer   uint64
		first, later string
	}{
		"many events":              {day, 0, 0, visitsName, visitsName},
		"few events":               {day, math.MaxUint64, 0, rawEvents.name, rawEvents.name},
		"as many visits as events": {day, 0, 1_000_000, rawEvents.name, rawEvents.name},
		"an hour starts no count":  {hour, 0, 0, rawEvents.name, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newService(conn)
			service.sources.limits.few, service.sources.limits.fewer = c.few, c.fewer
			read := func() string {
				body := `{"range":` + c.period + `}`
				_, headers, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(body), testNow)
				if err != nil {
					t.Fatal(err)
				}
				return headers[headerSource]
			}
			if first := read(); first != c.first {
				t.Errorf("the first query read %s, want %s", first, c.first)
			}
			if c.later == "" {
				return
			}
			eventually.True(t, "the rows are counted", func() bool {
				return service.sources.known(newScope(testSite, daysBefore(1)(testNow), testNow, nil)).events > 0
			})
			if source := read(); source != c.later {
				t.Errorf("after the rows were counted, a query read %s, want %s", source, c.later)
			}
		})
	}
}

// TestPartsWithoutVisits checks that events are read while a part has no projection, and after the events table has
// lost the projection. Earlier results about the table are not used.
func TestPartsWithoutVisits(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := fromVisits(conn)
	ask := func(want string) {
		t.Helper()
		body, headers, err := service.Aggregate(
			t.Context(), Caller{}, testSite, []byte(`{"range":"last30Days"}`), testNow,
		)
		if err != nil || string(body) != `{"columns":[{"column":"eventsCount","values":[8]}]}` || headers[headerSource] != want {
			t.Errorf("%s %v, %v; want 8 events of %s", body, headers, err, want)
		}
	}
	ask("visits")
	insert(t, conn, "erased", fixture())
	execute(t, conn, "ALTER TABLE events DELETE WHERE site = 'erased' SETTINGS mutations_sync = 2")
	ask("visits") // the part whose rows were all deleted has no projection, and does not matter
	execute(t, conn, "ALTER TABLE events DROP PROJECTION "+insights.VisitsProjection())
	ask("raw")
	clear(service.sources.sites)
	ask("raw") // the events of the site are also counted, for admission
	if rows, known := service.sources.cost(newScope(testSite, daysBefore(30)(testNow), testNow, nil), nil,
		insights.CountExact); rows != 8 ||
		!known {
		t.Errorf("30 days have %d events, known %v", rows, known)
	}
	add := insights.VisitsStatements(insights.Topology{}, nil, true)
	execute(t, conn, add[0])
	insert(t, conn, "site_2", fixture()) // a part without the projection, next to a part that has it
	service.sources.checked = time.Time{}
	ask("raw")
	execute(t, conn, strings.Replace(add[1], "mutations_sync = 0", "mutations_sync = 2", 1))
	service.sources.checked = time.Time{}
	ask("visits") // the rows of visits are counted immediately
	if !service.sources.sites[testSite].visits {
		t.Error("visits are not counted")
	}
}

// dropping is an engine that drops the projection of visits just before a statement reads it.
type dropping struct {
	driver.Conn
	t *testing.T
}

func (d dropping) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if strings.Contains(sql, "UNION ALL") {
		if err := d.Exec(d.t.Context(), "ALTER TABLE events DROP PROJECTION IF EXISTS "+insights.VisitsProjection()); err != nil {
			d.t.Error(err)
		}
	}
	return d.Conn.Query(ctx, sql, args...)
}

// TestVisitsDropped drops the projection of visits after the query has found that visits are complete, and before its
// statement reads them. The query must succeed, and read events.
func TestVisitsDropped(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	body, headers, err := fromVisits(
		dropping{conn, t},
	).Aggregate(t.Context(), Caller{}, testSite, []byte(`{"range":"last30Days"}`), testNow)
	if err != nil || string(body) != `{"columns":[{"column":"eventsCount","values":[8]}]}` || headers[headerSource] != "raw" {
		t.Errorf("%s %v, %v", body, headers, err)
	}
}

// hangingUp is an engine. When it gets a statement with the given text, the caller disconnects.
type hangingUp struct {
	driver.Conn
	text  string
	leave context.CancelFunc
}

func (h hangingUp) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if strings.Contains(sql, h.text) {
		h.leave()
	}
	return h.Conn.Query(ctx, sql, args...)
}

// TestWhoHangsUpSpoilsNothing: if a client disconnects while a source is being chosen, the stored numbers of visits and
// rows do not change.
func TestWhoHangsUpSpoilsNothing(t *testing.T) {
	t.Parallel()
	conn := store(t)
	for _, site := range []string{testSite, "site_2"} {
		insert(t, conn, site, fixture())
	}
	for name, text := range map[string]string{"visits": "system.parts", "rows": "AS day"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, leave := context.WithCancel(t.Context())
			service := fromVisits(hangingUp{conn, text, leave})
			if _, _, err := service.Aggregate(
				ctx, Caller{}, testSite, []byte(`{"range":"last30Days"}`), testNow,
			); err == nil {
				t.Error("who hung up got an answer")
			}
			for _, site := range []string{testSite, "site_2"} {
				_, headers, err := service.Aggregate(
					t.Context(), Caller{}, site, []byte(`{"range":"last30Days"}`), testNow,
				)
				if err != nil || headers[headerSource] != visitsName {
					t.Errorf("%s: %v, %v; want visits", site, headers, err)
				}
			}
		})
	}
}

// busy is an engine that does not answer statements with the given text in time.
type busy struct {
	driver.Conn
	text string
}

func (b *busy) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if b.text != "" && strings.Contains(sql, b.text) {
		return nil, &clickhouse.Exception{Code: codeTimeout, Message: "Timeout exceeded"}
	}
	return b.Conn.Query(ctx, sql, args...)
}

// TestBusyEngine checks that a busy engine, which answers some statements too late, does not make queries read events
// in place of visits. Events are many more rows, and would make the engine busier.
func TestBusyEngine(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	for name, c := range map[string]struct {
		text  string // what the busy engine does not answer
		while string // the source of a query meanwhile
	}{
		"the rows are not counted":   {"AS day", visitsName},
		"a check of parts fails":     {"SELECT count() = 0", rawEvents.name},
		"nothing is known of visits": {"system.table_functions", rawEvents.name},
	} {
		for _, preset := range []string{"last24Hours", "last30Days"} {
			t.Run(name+"/"+preset, func(t *testing.T) {
				t.Parallel()
				engine := &busy{conn, c.text}
				service := fromVisits(engine)
				reads := func(want string) {
					t.Helper()
					body := `{"range":"` + preset + `"}`
					_, headers, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(body), testNow)
					if err != nil || headers[headerSource] != want {
						t.Errorf("%v, %v; want %s", headers, err, want)
					}
				}
				reads(c.while)
				engine.text = ""
				service.sources.checked = time.Now().Add(-checkVisits)
				reads(visitsName)
				// The check before the statement fails. The next query reads visits again.
				engine.text = "SELECT count() = 0"
				reads(rawEvents.name)
				engine.text = ""
				reads(visitsName)
			})
		}
	}
}

// refusing is an engine that refuses every statement.
type refusing struct{ driver.Conn }

func (refusing) Query(context.Context, string, ...any) (driver.Rows, error) {
	return nil, errors.New("no")
}

// TestFailedRecountKeepsRows checks that the known rows of a site stay if a new count fails.
func TestFailedRecountKeepsRows(t *testing.T) {
	t.Parallel()
	service := newService(refusing{})
	service.knows(testSite, 30, dayRows{events: 100_000, visits: 20_000})
	service.sources.sites[testSite].counted = time.Time{}
	sc := newScope(testSite, daysBefore(60)(testNow), testNow, nil)
	if _, err := service.sources.rows(t.Context(), sc, true, maxChoice); err == nil {
		t.Error("a count that failed is no error")
	}
	if rows, known := service.sources.cost(sc, nil, insights.CountExact); rows != 29*20_000+10_833 || !known {
		t.Errorf("%d rows, known %v", rows, known)
	}
}

// TestDaysOfDecades checks that visits are also read for a site with events on more days than an answer may have
// rows.
func TestDaysOfDecades(t *testing.T) {
	t.Parallel()
	conn := store(t)
	events := make([]insights.Event, maxLimit+100)
	for i := range events {
		events[i] = fixture()[0]
		events[i].TimeMillis = daysBefore(i)(testNow).Add(-time.Hour).UnixMilli()
	}
	insert(t, conn, testSite, events)
	service := fromVisits(conn)
	_, headers, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(`{"range":"last30Days"}`), testNow)
	if err != nil || headers[headerSource] != visitsName {
		t.Errorf("%v, %v; want visits", headers, err)
	}
	// The first and the last day have one hour with events, which may be in the range.
	if rows, known := service.sources.cost(newScope(testSite, daysBefore(30)(testNow), testNow, nil), nil,
		insights.CountExact); rows != 31 ||
		!known {
		t.Errorf("30 days have %d rows, known %v", rows, known)
	}
}
