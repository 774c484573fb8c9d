package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/schema"
)

// counting is an engine that records how many statements have the given text.
type counting struct {
	driver.Conn
	text   string
	counts atomic.Int32
}

func (c *counting) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if strings.Contains(sql, c.text) {
		c.counts.Add(1)
	}
	return c.Conn.Query(ctx, sql, args...)
}

// TestRowsAreCountedOnce checks that the first queries of a site count its rows once. All of these queries wait for the
// count, and then read visits.
func TestRowsAreCountedOnce(t *testing.T) {
	t.Parallel()
	conn := &counting{Conn: store(t), text: "AS day"}
	insert(t, conn, testSite, fixture())
	service := fromVisits(conn)
	if ready, err := service.sources.ready(t.Context()); err != nil || !ready {
		t.Fatal(ready, err)
	}
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			_, headers, err := service.Aggregate(
				t.Context(), Caller{Organization: fmt.Sprint(i)}, testSite, []byte(`{"range":"last30Days"}`), testNow,
			)
			if err != nil || headers[headerSource] != visitsName {
				t.Errorf("%v %v", headers, err)
			}
		})
	}
	wait.Wait()
	if n := conn.counts.Load(); n != 1 {
		t.Errorf("the rows were counted %d times", n)
	}
}

// knows tells a service the number of a site's rows on each of the last days.
func (s *Service) knows(site string, days int, each dayRows) {
	r := &siteRows{counted: time.Now().Add(time.Hour), visits: true, first: make(chan struct{})}
	close(r.first)
	each.hours = 24
	for i := range days {
		each.day = daysBefore(i)(testNow.Truncate(24 * time.Hour))
		r.days = append(r.days, each)
	}
	s.sources.sites[site], s.sources.visits, s.sources.checked = r, true, time.Now().Add(time.Hour)
}

// TestCosts checks that a query's cost is the number of rows that its range has in its source. The cost of a comparison
// is the number of rows of both ranges. If the number of rows is unknown, the cost is a fixed number.
func TestCosts(t *testing.T) {
	t.Parallel()
	service := newService(newSlow(t))
	service.knows(testSite, 400, dayRows{events: 100_000, visits: 20_000})
	service.knows("large", 400, dayRows{events: 960_000, visits: 240_000})
	service.sources.sites["large"].days[0] = dayRows{day: testNow.Truncate(24 * time.Hour), events: 520_000, visits: 130_000, hours: 13} // as yet
	for _, c := range []struct {
		site, body string
		cost       cost
		known      bool
	}{
		{testSite, `{"range":"last24Hours"}`, 50_000 + 54_166, true}, // 12 hours of yesterday, 13 of today
		{testSite, `{"range":"last30Days"}`, 10_000 + 29*20_000 + 10_833, true},
		{testSite, `{"range":"last30Days","groupBy":[{"column":"page"}]}`, 50_000 + 29*100_000 + 54_166, true},
		{testSite, `{"range":"last30Days","compare":"previousPeriod"}`, 10_000 + 29*20_000 + 10_833 + 10_000 + 29*20_000 + 10_833, true},
		{"large", `{"range":"last24Hours"}`, 25 * 10_000, true}, // reads visits, like a longer range
		{"large", `{"range":"last7Days"}`, (12 + 6*24 + 13) * 10_000, true},
		{"large", `{"range":{"from":"2026-03-15T11:45:00Z","to":"2026-03-15T12:15:00Z"}}`, 2 * 40_000, true},
		{"large", `{"range":{"from":"2026-03-14T12:00:00Z","to":"2026-03-14T13:00:00Z"}}`, 40_000, true},
		// Statements about sessions also read the 12 hours around their range. Most of these statements read nothing
		// else.
		{testSite, `{"range":"last24Hours","select":[{"column":"bounceRate"}]}`, 2 * 100_000, true},
		{testSite, `{"range":"last24Hours","select":[{"column":"bounceRate"},{"column":"sessionsCount"}]}`,
			2 * 100_000, true},
		{testSite, `{"range":"last24Hours","select":[{"column":"entryPage"},{"column":"visitorsCount"}]}`,
			2 * 100_000, true},
		{testSite, `{"range":"last24Hours","select":[{"column":"page"},{"column":"bounceRate"}]}`,
			50_000 + 54_166 + 2*100_000, true},
		{testSite, `{"range":"last24Hours","select":[{"column":"firstChannel"},{"column":"bounceRate"}]}`,
			50_000 + 54_166 + 2*100_000, true}, // the statement joins events and sessions
		{"large", `{"range":"last24Hours","select":[{"column":"visitorGeoCountry"},{"column":"bounceRate"}]}`,
			25*10_000 + 240_000 + 130_000, true}, // the statement reads visits
		{"large", `{"range":"last24Hours","select":[{"column":"page"},{"column":"bounceRate"}]}`,
			25*40_000 + 960_000 + 520_000, true},
		{testSite, `{"range":{"from":"2001-01-01T00:00:00Z","to":"2002-01-01T00:00:00Z"}}`, 0, true},
		{"unknown", `{"range":"last24Hours"}`, lightRows, false},
		{"unknown", `{"range":"last30Days"}`, unknownRows, false},
	} {
		p, err := compile(Site{ID: c.site}, []byte(c.body), testNow)
		if err != nil {
			t.Fatal(err)
		}
		q := service.query(Aggregate, Caller{}, c.site)
		if p.weigh(q); q.cost != c.cost || q.known != c.known {
			t.Errorf("%s: %d rows, known %v; want %d, %v", c.body, q.cost, q.known, c.cost, c.known)
		}
	}
	q := service.query(kindSegments, Caller{}, testSite)
	q.weighSegments(segmentPage{to: testNow, reach: reach{site: Site{ID: q.site}}})
	if q.cost != 2*(10_000+29*20_000+10_833) {
		t.Errorf("segments cost %d rows", q.cost)
	}
}

// TestLightPassesHeavy checks that a query waits while the running queries of its token, organization or node read too
// many rows. Light queries do not wait. A query heavier than its token's limit runs when the token reads no other rows.
func TestLightPassesHeavy(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, func(c *Config) {
		c.Concurrency, c.PerOrganization, c.PerToken, c.QueueWait = 8, 6, 4, time.Hour
		c.Rows, c.RowsPerOrganization, c.RowsPerToken = 10_000_000, 8_000_000, 4_000_000
	})
	service.knows(testSite, 366, dayRows{events: 100_000, visits: 100_000})
	service.knows("light", 366, dayRows{events: 1000, visits: 1000})
	all := asking{t: t, service: service}
	ask := func(organization, token, preset string) {
		all.ask(t.Context(), Caller{Organization: organization, Token: token}, `{"range":"`+preset+`"}`)
	}
	const week = 50_000 + 6*100_000 + 54_166
	ask("a", "1", "lastYear") // 36.5 million rows
	first := <-engine.started
	ask("a", "1", "last7Days")
	all.waiting(1, week) // token 1 already reads as many rows as a token may
	ask("a", "2", "lastYear")
	second := <-engine.started
	ask("a", "3", "last7Days")
	all.waiting(2, 2*week) // organization a already reads as many rows as an organization may
	ask("b", "1", "last3Months")
	all.waiting(3, 2*week+4_000_000) // the node already reads as many rows as it may
	if n := testutil.ToFloat64(service.metrics.runningRows); n != 8_000_000 {
		t.Errorf("%v rows are read", n)
	}
	for range 100 {
		for _, who := range []Caller{{
			Organization: "a", Token: "1",
		}, {Organization: "a", Token: "3"}, {Organization: "b", Token: "1"}, {Organization: "c"}} {
			if _, _, err := service.Aggregate(t.Context(), who, "light", []byte(`{"range":"lastYear"}`), testNow); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(engine.started) != 0 {
		t.Error("a heavy query has passed another")
	}
	close(second)
	third := <-engine.started // the query of organization b, which has no running query
	fourth := <-engine.started
	close(first)
	close(<-engine.started)
	for _, done := range []chan struct{}{third, fourth} {
		close(done)
	}
	all.answered()
	if n := testutil.ToFloat64(service.metrics.runningRows) + testutil.ToFloat64(service.metrics.waitingRows); n != 0 {
		t.Errorf("left: %v rows", n)
	}
}

// TestLighter checks that the error of a heavy query has advice for a lighter query.
func TestLighter(t *testing.T) {
	t.Parallel()
	service := newService(newSlow(t), func(c *Config) { c.MaxRowsRead = 10_000_000 })
	service.knows(testSite, 366, dayRows{events: 100_000, visits: 100_000})
	for _, c := range []struct {
		name, site, body string
		err              error
		read             uint64
		want             string
	}{
		{"rows", testSite, `{"range":"lastYear","groupBy":[{"column":"page"},{"column":"url"}]}`, &clickhouse.Exception{Code: codeTooManyRows}, 0,
			"narrow the range of 365 days to about 80 days, add filters or group by fewer than 2 columns"},
		{"time", testSite, `{"range":"lastYear"}`, &clickhouse.Exception{Code: codeTimeout}, 18_300_000, "narrow the range of 365 days to about 146 days or add filters"},
		{"hours", testSite, `{"range":"last30Days"}`, errQueryTime, 100_000, "narrow the range of 30 days to about 19 hours or add filters"},
		{"few rows", testSite, `{"range":"last24Hours","groupBy":[{"column":"url"}]}`, errQueryTime, 200_000, "narrow the range of 24 hours, add filters or do not group"},
		{"minutes", testSite, `{"range":{"from":"2026-03-15T11:00:00Z","to":"2026-03-15T11:10:00Z"}}`, errQueryTime, 4200, "narrow the range of 10 minutes or add filters"},
		{"an hour", testSite, `{"range":{"from":"2026-03-15T11:00:00Z","to":"2026-03-15T12:00:00Z"}}`, errQueryTime, 4200, "narrow the range of 1 hour or add filters"},
		{"memory", testSite, `{"range":"lastYear","groupBy":[{"column":"url"}],"select":[{"column":"visitorsCount"}],"accuracy":"exact"}`, &clickhouse.Exception{Code: codeMemory}, 1,
			"narrow the range of 365 days, add filters, do not group or leave out accuracy"},
		{"unknown", "unknown", `{"range":"lastYear"}`, errQueryTime, 1, "narrow the range of 365 days or add filters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := compile(Site{ID: c.site}, []byte(c.body), testNow)
			if err != nil {
				t.Fatal(err)
			}
			q := service.query(Aggregate, Caller{}, c.site)
			p.weigh(q)
			q.rowsRead = c.read
			e, ok := errors.AsType[*schema.Error](q.failed(t.Context(), c.err))
			limit := ""
			if c.name == "memory" {
				limit = " for the memory that a query has"
			}
			if want := tooHeavy + limit + ": " + c.want; !ok || e.Code != schema.CodeBadRequest || e.Message != want {
				t.Errorf("%v, want %s", e, want)
			}
		})
	}
}
