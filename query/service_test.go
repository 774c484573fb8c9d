package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/query/resultcache"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

const byCountry = `{"range":"lastYear","groupBy":[{"column":"visitorGeoCountry"}],"select":[{"column":"visitorGeoCountry"},{"column":"visitorsCount"}]}`

// fill stores n events of n visitors, without going through the log.
func fill(t testing.TB, conn driver.Conn, site string, n int) {
	t.Helper()
	err := conn.Exec(context.Background(), fmt.Sprintf(`INSERT INTO events (site, time, type, url, visitor, session, country, device)
		SELECT '%s', toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + toIntervalSecond(number %% 1000000), 'page_view',
		'https://docs.example.com/page/' || toString(number %% 500), sipHash64(number, 1), sipHash64(intDiv(number, 3), 2),
		['DE','FR','US','GB','JP','BR','IN','CA','IT','ES'][1 + sipHash64(number) %% 10], 'desktop' FROM numbers(%d)`, site, n))
	if err != nil {
		t.Fatal(err)
	}
}

// fillRaw does what fill does, but drops the projection of visits first. Storing visits takes nine times as long as
// storing events.
func fillRaw(t testing.TB, conn driver.Conn, site string, n int) {
	t.Helper()
	for _, statement := range insights.DropVisits(insights.VisitsProjection()) {
		execute(t, conn, statement)
	}
	fill(t, conn, site, n)
}

// TestUniquesBound compares counts with the true numbers, for each method of counting. Up to its limit, a method must
// be exact. Above the limit, the error must be within the method's bound, and the query must report that its count is
// approximate.
func TestUniquesBound(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	conn := store(t)
	service := newService(conn)
	for _, n := range []int{1, 1024, 1025, 4096, 16384, 16385, 65536, 65537, 400000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			site := fmt.Sprint("u", n)
			fillRaw(t, conn, site, n)
			request := []byte(`{"range":"last30Days","select":[{"column":"visitorsCount"}]}`)
			p, err := compile(Site{ID: site}, request, testNow)
			if err != nil {
				t.Fatal(err)
			}
			for counting, c := range map[insights.Counting]struct {
				exactly int // counts up to this number are exact
				bound   float64
			}{
				insights.CountExact: {exactly: math.MaxInt}, insights.CountBounded: {insights.UniquesBound, 0.01}, insights.CountSketched: {insights.SketchedExactly, 0.02}, insights.CountTotals: {insights.TotalsExactly, 0.005},
			} {
				q := service.ask()
				p.env.Counting = counting
				body, err := p.answer(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				var got float64
				if _, err := fmt.Sscanf(string(body), `{"columns":[{"column":"visitorsCount","values":[%g]}]}`, &got); err != nil {
					t.Fatalf("%s: %v", body, err)
				}
				off := math.Abs(got-float64(n)) / float64(n)
				if n <= c.exactly && off != 0 || off > c.bound {
					t.Errorf("%d visitors, counted in way %d: %.0f", n, counting, got)
				}
				// Below the limit, a query may report that an exact count is approximate.
				if said := q.approximate == counting; n > c.exactly && !said || counting != insights.CountExact && n <= c.exactly/4 && said {
					t.Errorf("%d visitors, counted in way %d: said to be approximate: %v", n, counting, said)
				}
			}
		})
	}
}

// TestOutOfMemory checks a query that cannot count exactly within its memory. The query is answered in bounded memory,
// with its error bound. If the request demands an exact answer, the query is refused with the status 400.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	conn := store(t)
	fillRaw(t, conn, testSite, 400_000)
	service := newService(conn, func(c *Config) { c.MaxMemory = 12 << 20 })
	body, headers, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(
		`{"range":"last30Days","select":[{"column":"visitorsCount"}]}`,
	), testNow)
	if err != nil {
		t.Fatal(err)
	}
	if headers[headerResult] != "approximate" || headers[headerBound] != "1%" {
		t.Errorf("%v %s", headers, body)
	}
	_, _, err = service.Aggregate(t.Context(), Caller{}, testSite, []byte(
		`{"range":"last30Days","select":[{"column":"visitorsCount"}],"accuracy":"exact"}`,
	), testNow)
	if e, ok := errors.AsType[*schema.Error](err); !ok || e.Code != schema.CodeBadRequest || !strings.Contains(e.Message, "leave out accuracy") {
		t.Errorf("exactly: %v, want a 400 that names accuracy", err)
	}
}

func TestOwnLimits(t *testing.T) {
	t.Parallel()
	conn := store(t)
	fill(t, conn, testSite, 100_000)
	for name, change := range map[string]func(*Config){
		"rows":   func(c *Config) { c.MaxRowsRead = 10 },
		"memory": func(c *Config) { c.MaxMemory = 1 << 20 },
	} {
		t.Run(name, func(t *testing.T) {
			service := newService(conn, change)
			_, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(
				`{"range":"last30Days","groupBy":[{"column":"datetime"}]}`,
			), testNow)
			e, ok := errors.AsType[*schema.Error](err)
			if !ok || e.Code != schema.CodeBadRequest || !strings.HasPrefix(e.Message, tooHeavy) || e.Cause == nil {
				t.Errorf("%s: %v", name, err)
			}
			if memory := strings.Contains(e.Message, "for the memory that a query has"); memory != (name == "memory") {
				t.Errorf("%s: the message is %q", name, e.Message)
			}
			engine, ok := errors.AsType[*clickhouse.Exception](err)
			if text := fmt.Sprintf("%+v", e.Body()); !ok || engine.Message == "" || strings.Contains(text, engine.Message) {
				t.Errorf("%s: the engine's text leaves: %s", name, text)
			}
		})
	}
}

// TestLongestRequests checks that the longest allowed requests are answered or refused as too heavy, and never cause
// an internal error.
func TestLongestRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	repeat := func(n int, format string, args ...any) string {
		return strings.TrimSuffix(strings.Repeat(fmt.Sprintf(format, args...)+",", n), ",")
	}
	values := repeat(100, `"guide"`)
	var groups []string
	for i := range maxColumns {
		groups = append(groups, fmt.Sprintf(`{"column":"visitorClaim","claim":"c%d"}`, i))
	}
	for _, c := range []struct {
		name, request string
		refused       bool
	}{
		{"parts of urls", `"where":[` + repeat(100, `{"column":"url","operator":"contains","values":[%s]}`, values) + `]`, true},
		{"some parts of claims", `"where":[` + repeat(10, `{"column":"visitorClaim","claim":"plan","operator":"contains","values":[%s]}`, values) + `]`, false},
		{"parts of claims", `"where":[` + repeat(100, `{"column":"visitorClaim","claim":"plan","operator":"contains","values":[%s]}`, values) + `]`, true},
		{"patterns of claims", `"where":[` + repeat(100, `{"column":"visitorClaimProperty","operator":"matches","values":[%s]}`, values) + `]`, true},
		{"some hours of a zone", `"timezone":"America/New_York","where":[` + repeat(9, `{"column":"hourOfDay","operator":"lessThan","values":[23]}`) + `]`, false},
		{"hours of a zone", `"timezone":"America/New_York","where":[` + repeat(100, `{"column":"hourOfDay","operator":"lessThan","values":[23]}`) + `]`, true},
		{"claims, hours and days", `"timezone":"America/New_York","groupBy":[` + strings.Join(groups, ",") + `],"select":[{"column":"hourOfDay"},{"column":"datetime","interval":"hour"}]`, false},
		{"deep", `"where":[` + strings.Repeat(`{"or":[`, 5) + repeat(90, `{"column":"url","values":["a"]}`) + strings.Repeat(`]}`, 5) + `]`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := `{"range":{"from":"1900-01-01T00:00:00Z","to":"2200-01-01T00:00:00Z"},"cursor":"",` + c.request + `}`
			for source, service := range map[string]*Service{"events": newService(conn), "visits": fromVisits(conn)} {
				_, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(body), testNow)
				e, _ := errors.AsType[*schema.Error](err)
				if (err != nil) != c.refused || c.refused && e.Message != tooLong {
					t.Errorf("from %s: %v (%v)", source, err, errors.Unwrap(err))
				}
			}
		})
	}
}

// TestReadOnly checks that the method `rows`, which reads answers, cannot run a statement that writes.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	conn := store(t)
	service := newService(conn)
	for _, sql := range []string{"DROP TABLE events", "INSERT INTO events (site) SELECT 'x'", "CREATE TABLE x (a UInt8) ENGINE = Memory"} {
		t.Run(sql, func(t *testing.T) {
			st := sqltree.Statement{SQL: sql}
			if err := service.ask().rows(t.Context(), st, nil, func() int { return 0 }); err == nil {
				t.Errorf("%s: was run", sql)
			}
		})
	}
	var n uint64
	if err := conn.QueryRow(t.Context(), "SELECT count() FROM events").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d events, %v", n, err)
	}
}

// TestQueryTime checks the error of a query whose time ends before the engine can end it. The error is not an internal
// error.
func TestQueryTime(t *testing.T) {
	t.Parallel()
	hangs := newService(newSlow(t), func(c *Config) { c.MaxTime = time.Millisecond })
	hangs.grace = time.Nanosecond
	for name, service := range map[string]*Service{
		"before a statement": newService(store(t), func(c *Config) { c.MaxTime = time.Nanosecond }),
		"engine that hangs":  hangs,
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(byCountry), testNow)
			e, ok := errors.AsType[*schema.Error](err)
			if !ok || e.Code != schema.CodeBadRequest || !strings.HasPrefix(e.Message, tooHeavy) || e.RetryAfter != 0 {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestEngineErrors(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	late, stop := context.WithTimeoutCause(context.Background(), -1, errQueryTime)
	defer stop()
	for _, c := range []struct {
		ctx   context.Context
		err   error
		code  schema.Code
		class class
	}{
		{context.Background(), &clickhouse.Exception{Code: codeTimeout}, http.StatusBadRequest, classTooHeavy},
		{context.Background(), &clickhouse.Exception{Code: codeMemory, Message: "Query memory limit exceeded"}, http.StatusBadRequest, classTooHeavy},
		{context.Background(), &clickhouse.Exception{Code: codeMemory, Message: "(total) memory limit exceeded"}, http.StatusServiceUnavailable, classUnavailable},
		{context.Background(), &clickhouse.Exception{Code: codeTooManySimult}, http.StatusServiceUnavailable, classUnavailable},
		{context.Background(), &clickhouse.Exception{Code: 47, Message: "Unknown identifier secret"}, http.StatusInternalServerError, classInternal},
		{context.Background(), &clickhouse.Exception{Code: 40, Message: "Checksum doesn't match: secret"}, http.StatusServiceUnavailable, classDamaged},
		{context.Background(), &clickhouse.Exception{Code: 33, Message: "Cannot read all data"}, http.StatusServiceUnavailable, classDamaged},
		{context.Background(), &clickhouse.Exception{Code: 33, Message: "Cannot read all data: while receiving packet from b:9000"}, http.StatusInternalServerError, classInternal},
		{context.Background(), schema.Damaged(schema.StorePostgres, errors.New("invalid page")), http.StatusServiceUnavailable, classDamaged},
		{context.Background(), &net.OpError{Op: "dial", Err: errors.New("refused")}, http.StatusServiceUnavailable, classUnavailable},
		{context.Background(), clickhouse.ErrAcquireConnTimeout, http.StatusServiceUnavailable, classUnavailable},
		{ended, context.Canceled, http.StatusServiceUnavailable, classCanceled},
		{context.Background(), cause(late, context.DeadlineExceeded), http.StatusBadRequest, classTooHeavy},
		{context.Background(), errors.New("odd"), http.StatusInternalServerError, classInternal},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			got, class := engineError(c.ctx, fmt.Errorf("cannot run: %w", c.err))
			if got.Code != c.code || class != c.class || strings.Contains(got.Message, "secret") {
				t.Errorf("%v: %v %v, want %v %v", c.err, got, class, c.code, c.class)
			}
			if c.code == http.StatusServiceUnavailable && c.class != classDamaged && got.RetryAfterSeconds() == 0 {
				t.Errorf("%v: no Retry-After", c.err)
			}
		})
	}
}

// TestNoEngine checks the error of a query if no engine listens on the address.
func TestNoEngine(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	conn, err := clickhouse.Open(&clickhouse.Options{Addr: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = newService(conn).Aggregate(t.Context(), Caller{}, testSite, []byte(byCountry), testNow)
	if !schema.IsCode(err, schema.CodeUnavailable) {
		t.Errorf("%v, want a 503", err)
	}
}

// TestMetrics checks that every series exists from the start, has a help text, and counts queries.
func TestMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := New(DefaultConfig(), conn, NewMetrics(registry))
	_, _, _ = service.Aggregate(t.Context(), Caller{}, testSite, []byte(`{}`), testNow)
	if _, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(byCountry), testNow); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series, invalid, answered, read := 0, 0.0, uint64(0), 0.0
	for _, f := range families {
		if f.GetHelp() == "" || !strings.HasPrefix(f.GetName(), "octavo_query_") {
			t.Errorf("%s: %q", f.GetName(), f.GetHelp())
		}
		series += len(f.GetMetric())
		for _, m := range f.GetMetric() {
			if f.GetName() == "octavo_query_seconds" {
				answered += m.GetHistogram().GetSampleCount()
			}
			if f.GetName() == "octavo_query_rows_read_total" {
				read += m.GetCounter().GetValue()
			}
			for _, l := range m.GetLabel() {
				if l.GetValue() == string(classInvalid) {
					invalid += m.GetCounter().GetValue()
				}
			}
		}
	}
	want := len(kinds())*(2+len(classes())+len(resultcache.Sources())) + 12
	if series != want || invalid != 1 || answered != 1 || read == 0 {
		t.Errorf("%d series, want %d; %v invalid, %d answered from %v rows", series, want, invalid, answered, read)
	}
}

func TestPresets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ preset, now, from, to string }{
		{"lastYear", "2024-02-29T10:00:00Z", "2023-02-28T10:00:00Z", "2024-02-29T10:00:00Z"},
		{"lastYear", "2025-02-28T10:00:00Z", "2024-02-28T10:00:00Z", "2025-02-28T10:00:00Z"},
		{"last3Months", "2026-05-31T23:59:59.9999Z", "2026-02-28T23:59:59.9999Z", "2026-05-31T23:59:59.9999Z"},
		{"last3Months", "2026-01-15T00:00:00+02:00", "2025-10-14T22:00:00Z", "2026-01-14T22:00:00Z"},
		{"last30Days", "2026-03-15T12:00:00Z", "2026-02-13T12:00:00Z", "2026-03-15T12:00:00Z"},
		{"last7Days", "2026-03-03T12:00:00.0004Z", "2026-02-24T12:00:00.001Z", "2026-03-03T12:00:00.001Z"},
		{"last24Hours", "2026-03-01T12:00:00Z", "2026-02-28T12:00:00Z", "2026-03-01T12:00:00Z"},
		{"today", "2026-03-01T12:00:00Z", "2026-03-01T00:00:00Z", "2026-03-01T12:00:00Z"},
		{"today", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"thisWeek", "2026-03-01T12:00:00Z", "2026-02-23T00:00:00Z", "2026-03-01T12:00:00Z"},
		{"thisMonth", "2026-02-28T23:59:59.9999Z", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"thisMonth", "2026-05-31T12:00:00Z", "2026-05-01T00:00:00Z", "2026-05-31T12:00:00Z"},
	} {
		t.Run(c.preset+" at "+c.now, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339Nano, c.now)
			if err != nil {
				t.Fatal(err)
			}
			from, to, err := resolveRange(rangeRequest{preset: c.preset}, ceil(now), 0)
			wantFrom, _ := time.Parse(time.RFC3339Nano, c.from)
			wantTo, _ := time.Parse(time.RFC3339Nano, c.to)
			if err != nil || !from.Equal(ceil(wantFrom)) || !to.Equal(ceil(wantTo)) {
				t.Errorf("%s at %s: %v to %v, %v", c.preset, c.now, from, to, err)
			}
		})
	}
}

// TestCaps checks that a request above a limit is refused with an error that names the path. A request just within the
// limits is answered.
func TestCaps(t *testing.T) {
	t.Parallel()
	repeat := func(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	value := `"` + strings.Repeat("é", 4096) + `"`
	conn := store(t)
	service := newService(conn)
	for _, c := range []struct{ name, body, want string }{
		{"columns", `{"range":"lastYear","select":[` + repeat(`{"column":"url"}`, maxColumns) + `]}`, ""},
		{"a column too many", `{"range":"lastYear","select":[` + repeat(`{"column":"url"}`, maxColumns+1) + `]}`, "select must have at most 50 entries, not 51"},
		{"a group too many", `{"range":"lastYear","groupBy":[` + repeat(`{"column":"url"}`, maxColumns+1) + `]}`, "groupBy must have at most 50 entries, not 51"},
		{"filters", `{"range":"lastYear","where":[` + repeat(`{"column":"url","values":["a"]}`, maxFilters) + `]}`, ""},
		{"a filter too many", `{"range":"lastYear","where":[` + repeat(`{"column":"url","values":["a"]}`, maxFilters+1) + `]}`, "where must have at most 100 entries, not 101"},
		{"values", `{"range":"lastYear","where":[{"column":"url","values":[` + repeat(`"abc"`, maxValues) + `]}]}`, ""},
		{"a value too many of all filters", `{"range":"lastYear","where":[{"column":"url","values":[` + repeat(`"a"`, maxValues) + `]},{"column":"url","values":["b"]}]}`, "where[1].values must have at most 0 entries, not 1"},
		{"a long value", `{"range":"lastYear","where":[{"column":"url","values":[` + value + `]}]}`, ""},
		{"a byte too many", `{"range":"lastYear","where":[{"column":"url","values":["` + strings.Repeat("é", 4097) + `"]}]}`, "where[0].values[0] must have at most 8192 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(c.body), testNow)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)) {
				t.Errorf("%.80s: %v, want %q", c.body, err, c.want)
			}
		})
	}
}

// TestRangeMessage checks that the same bad request always gets the same answer.
func TestRangeMessage(t *testing.T) {
	t.Parallel()
	for range 64 {
		_, err := decode(reach{}, []byte(`{"range":{}}`))
		if err == nil || !strings.Contains(err.Error(), "range.from is required") {
			t.Fatal(err)
		}
	}
}

// TestPageAfterExactPage runs queries whose exact count exceeds the memory. A query for the page after an exactly
// counted page fails, and so does a query that must be exact. Any other query runs again in bounded memory.
func TestPageAfterExactPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scope scope
		runs  int
		want  error
	}{
		{scope{}, 2, nil},
		{scope{counted: true}, 1, errPage},
		{scope{exact: true}, 1, errExact},
		{scope{exact: true, counted: true}, 1, errExact},
	} {
		q, runs := newService(nil).ask(), 0
		err := q.count(c.scope, func(sc scope) error {
			if runs++; sc.env.Counting == insights.CountExact {
				return &clickhouse.Exception{Code: codeMemory}
			}
			return nil
		})
		if !errors.Is(err, c.want) || runs != c.runs {
			t.Errorf("%+v: %v after %d runs", c.scope, err, runs)
		}
		if c.want != nil {
			q.joins = true
			public, class := engineError(t.Context(), err)
			joined, _ := errors.AsType[*schema.Error](q.failed(t.Context(), err))
			if public.Code != schema.CodeBadRequest || class != classTooHeavy || joined.Message != tooWide {
				t.Errorf("%+v: %v, %v, with sessions %v", c.scope, public, class, joined)
			}
		}
	}
}
