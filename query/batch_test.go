package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// batchResult is the answer of a batch.
type batchResult struct {
	Now     string `json:"now"`
	Queries map[string]struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Answer  json.RawMessage   `json:"answer"`
	} `json:"queries"`
}

func (r batchResult) check(t testing.TB, name string, answer []byte, headers map[string]string, err error) {
	t.Helper()
	got, ok := r.Queries[name]
	if err != nil {
		e, _ := errors.AsType[*schema.Error](err)
		want, _ := json.Marshal(e.Body())
		if !ok || got.Status != int(e.Code) || string(got.Answer) != string(want) {
			t.Errorf("%s: %d %s, want %s", name, got.Status, got.Answer, want)
		}
		return
	}
	if !ok || got.Status != 200 || string(got.Answer) != string(answer) {
		t.Errorf("%s: %d %s, want %s", name, got.Status, got.Answer, answer)
	}
	for _, header := range []string{headerResult, headerSource, headerTruncated, headerBound} {
		if got.Headers[header] != headers[header] {
			t.Errorf("%s: %s is %q, want %q", name, header, got.Headers[header], headers[header])
		}
	}
}

func askBatch(t testing.TB, s *Service, body string) (r batchResult, headers map[string]string) {
	t.Helper()
	answer, headers, err := s.Batch(t.Context(), Caller{}, testSite, []byte(body), testNow)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return r, headers
}

// TestBatch checks that each query of a batch has the same answer or error as a single query.
func TestBatch(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := newService(conn)
	type query struct {
		report Report
		body   string
	}
	queries := map[string]query{
		"total":         {Aggregate, `"range":"lastYear"`},
		"total again":   {Aggregate, `"range":"lastYear"`},
		"countries":     {Aggregate, `"range":"lastYear","groupBy":[{"column":"visitorGeoCountry"}],"limit":1,"others":true`},
		"beside":        {Aggregate, `"range":"last7Days","compare":"previousPeriod"`},
		"funnel":        {Funnel, `"range":"lastYear","steps":[{},{}]`},
		"retention":     {Retention, `"range":"last30Days","interval":"week"`},
		"transitions":   {Transitions, `"range":"lastYear","page":{"path":"/guide"}`},
		"a typo":        {Aggregate, `"range":"lastYear","groupby":[]`},
		"no range":      {Funnel, `"steps":[{},{}]`},
		"wrong":         {Retention, `"range":"lastYear","interval":"decade"`},
		"":              {Aggregate, `"range":"last24Hours"`},
		"it's \"q\" \\": {Aggregate, `"range":"last24Hours","select":[{"column":"visitorsCount"}]`},
	}
	var members []string
	for name, q := range queries {
		report := fmt.Sprintf(`"report":%q,`, q.report)
		if q.report == Aggregate && name == "total" {
			report = ""
		}
		members = append(members, string(insights.AppendText(nil, name))+`:{`+report+q.body+`}`)
	}
	got, headers := askBatch(t, service, `{"queries":{`+strings.Join(members, ",")+`}}`)
	if got.Now != "2026-03-15T12:30:45.678Z" || len(got.Queries) != len(queries) {
		t.Errorf("now is %s, %d answers", got.Now, len(got.Queries))
	}
	read := 0
	for name, q := range queries {
		answer, own, err := service.Answer(t.Context(), Caller{}, q.report, testSite, []byte("{"+q.body+"}"), testNow)
		got.check(t, name, answer, own, err)
		rows := 0
		_, _ = fmt.Sscan(got.Queries[name].Headers[headerRowsRead], &rows)
		if name != "total again" {
			read += rows
		}
	}
	if headers[headerRowsRead] != fmt.Sprint(read) {
		t.Errorf("%s rows read, want %d: equal queries run once", headers[headerRowsRead], read)
	}
	if n := service.results.Callers(); n != 0 || len(service.admission.parties) != 0 {
		t.Errorf("left: %d callers, %v", n, service.admission.parties)
	}
}

// TestExplainBatch checks that each query of a batch is explained, or has its error.
func TestExplainBatch(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	list, err := newService(conn).ExplainBatch(t.Context(), testSite, []byte(
		`{"queries":{"a":{"range":"lastYear"},"b":{"report":"retention"},`+
			`"c":{"report":"funnel","range":"lastYear","steps":[{},{}]}}}`,
	), testNow)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d explanations, %v", len(list), err)
	}
	for i, name := range []string{"a", "b", "c"} {
		x := list[i]
		if failed := name == "b"; x.Name != name || (x.Err != nil) != failed || (len(x.Statements) > 0) == failed {
			t.Errorf("%s: %v, %d statements", x.Name, x.Err, len(x.Statements))
		}
	}
}

func TestBatchesThatAreRefused(t *testing.T) {
	t.Parallel()
	service := newService(newSlow(t))
	var many []string
	for i := range MaxBatch + 1 {
		many = append(many, fmt.Sprintf(`"q%d":{"range":"last7Days"}`, i))
	}
	for _, c := range []struct{ body, want string }{
		{``, "the body must be a JSON object"},
		{`[]`, "the body must be an object"},
		{`{}`, "queries is required"},
		{`{"queries":[]}`, "queries must be an object with a member for each query"},
		{`{"queries":{}}`, "queries must have at least one member"},
		{`{"queries":null}`, "queries is required"},
		{`{"query":{}}`, `query is not a known member`},
		{`{"queries":{` + strings.Join(many, ",") + `}}`, "queries must have at most 24 members"},
		{`{"queries":{"a":` + strings.Repeat("[", 17) + strings.Repeat("]", 17) + `}}`, "the body nests deeper than 18 levels"},
	} {
		_, _, err := service.Batch(t.Context(), Caller{}, testSite, []byte(c.body), testNow)
		e, ok := errors.AsType[*schema.Error](err)
		if !ok || e.Code != schema.CodeBadRequest || !strings.HasPrefix(e.Message, c.want) {
			t.Errorf("%s: %v, want %s", c.body, err, c.want)
		}
	}
	got, _ := askBatch(t, service,
		`{"queries":{"a":3,"b":{"report":"aggregates","range":"last7Days"},"c":{"report":1}}}`)
	for name, want := range map[string]string{
		"a": "the body must be an object", "b": `report must be a report, not \"aggregates\"; did you mean \"aggregate\"?`, "c": "report must be a string",
	} {
		if q := got.Queries[name]; q.Status != 400 || !strings.Contains(string(q.Answer), want) {
			t.Errorf("%s: %d %s, want %s", name, q.Status, q.Answer, want)
		}
	}
}

// TestBatchTakesOneTurn runs a batch of many queries on a node with one slot. At most two of its queries run
// concurrently. If the batch gets no turn, the whole batch is refused.
func TestBatchTakesOneTurn(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, func(c *Config) {
		c.Concurrency, c.PerOrganization, c.PerToken, c.QueueWait = 1, 1, 1, 50*time.Millisecond
	})
	var members []string
	for i := range 6 {
		members = append(members, fmt.Sprintf(`"q%d":{"range":"last24Hours","limit":%d}`, i, i+1))
	}
	body := `{"queries":{` + strings.Join(members, ",") + `}}`
	var wait sync.WaitGroup
	wait.Go(func() {
		if r, _ := askBatch(t, service, body); len(r.Queries) != 6 {
			t.Errorf("%d answers", len(r.Queries))
		}
	})
	first, second := <-engine.started, <-engine.started
	if n := testutil.ToFloat64(service.metrics.running); n != 2 {
		t.Errorf("%v queries run", n)
	}
	_, _, err := service.Batch(t.Context(), Caller{}, testSite, []byte(body), testNow.Add(time.Hour))
	if e, ok := errors.AsType[*schema.Error](err); !ok || e.RetryAfter == 0 {
		t.Errorf("%v, want a refusal with Retry-After", err)
	}
	close(first)
	close(second)
	for range 4 {
		close(<-engine.started)
	}
	wait.Wait()
	if len(service.admission.parties) != 0 {
		t.Errorf("left: %v", service.admission.parties)
	}
}

// TestEqualBatchesShareATurn sends a batch ten times at once to a node with one slot, as ten browsers do that open a
// dashboard. The queries must run once, and no batch may be refused. If the caller whose batch runs leaves, the queries
// must run once more for the other callers.
func TestEqualBatchesShareATurn(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]bool{"all stay": false, "the first leaves": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := newSlow(t)
			service := newService(engine, keeping, func(c *Config) {
				c.Concurrency, c.PerOrganization, c.PerToken, c.QueueWait = 1, 1, 1, 50*time.Millisecond
			})
			const body = `{"queries":{"a":{"range":"last24Hours"},"b":{"range":"last24Hours","limit":3}}}`
			var wait sync.WaitGroup
			ask := func(ctx context.Context) {
				wait.Go(func() {
					answer, _, err := service.Batch(ctx, Caller{}, testSite, []byte(body), testNow)
					if ctx.Err() == nil && (err != nil || strings.Count(string(answer), `"status":200`) != 2) {
						t.Errorf("%s, %v", answer, err)
					}
				})
			}
			first, leave := context.WithCancel(t.Context())
			defer leave()
			ask(first)
			running := []chan struct{}{<-engine.started, <-engine.started}
			for range 9 {
				ask(t.Context())
			}
			eventually.True(t, "all batches wait for one turn", func() bool { return service.batches.Callers() == 10 })
			if leaves {
				leave()
				running = []chan struct{}{<-engine.started, <-engine.started}
			}
			for _, statement := range running {
				close(statement)
			}
			wait.Wait()
			n, callers, parties := len(engine.started), service.batches.Callers(), service.admission.parties
			if n != 0 || callers != 0 || len(parties) != 0 {
				t.Errorf("%d more statements, %d callers, %v", n, callers, parties)
			}
		})
	}
}

// TestDifferentialBatch compares the queries of random batches with single queries.
func TestDifferentialBatch(t *testing.T) {
	t.Parallel()
	conn := store(t)
	n := naiveCells(t, conn)
	events := randomEvents(rand.New(rand.NewPCG(13, 1)), 200)
	insert(t, conn, testSite, events)
	service := newService(conn, func(c *Config) { c.MaxThreads = 1 })
	failed, answered := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		// Skip four fifths of the draws, because a batch has several queries.
		if rapid.IntRange(0, 4).Draw(t, "few") > 0 {
			return
		}
		bodies := map[string]json.RawMessage{}
		for i := range rapid.IntRange(1, 5).Draw(t, "queries") {
			body, err := json.Marshal(drawRequest(t, events, n, testNow))
			if err != nil {
				t.Fatal(err)
			}
			bodies[fmt.Sprint("q", i)] = body
		}
		body, err := json.Marshal(map[string]any{"queries": bodies})
		if err != nil {
			t.Fatal(err)
		}
		answer, _, err := service.Batch(t.Context(), Caller{}, testSite, body, testNow)
		if err != nil {
			t.Fatal(err)
		}
		var got batchResult
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Fatalf("%v: %s", err, answer)
		}
		for name, body := range bodies {
			answer, _, err := service.Answer(t.Context(), Caller{}, Aggregate, testSite, body, testNow)
			q := got.Queries[name]
			if err != nil {
				e, _ := errors.AsType[*schema.Error](err)
				want, _ := json.Marshal(e.Body())
				if q.Status != int(e.Code) || string(q.Answer) != string(want) {
					t.Fatalf("%s: %d %s, want %s", body, q.Status, q.Answer, want)
				}
				failed++
			} else if q.Status != 200 || string(q.Answer) != string(answer) {
				t.Fatalf("%s: %d %s, want %s", body, q.Status, q.Answer, answer)
			} else {
				answered++
			}
		}
	})
	if failed == 0 || answered == 0 {
		t.Errorf("%d answers, %d errors", answered, failed)
	}
}

// TestLive checks the parts of a live answer. It also checks that the statements run once for fifty callers.
func TestLive(t *testing.T) {
	t.Parallel()
	conn := store(t)
	now := testNow
	at := func(back time.Duration, bot string, visitor uint64) insights.Event {
		e := fixture()[0]
		e.TimeMillis, e.Visitor, e.Session = now.Add(-back).UnixMilli(), visitor, visitor
		if bot != "" {
			e.Bot = code(insights.Bots, bot)
		}
		return e
	}
	insert(t, conn, testSite, []insights.Event{
		at(0, "", 99), // at the end of the range, so outside of it
		at(time.Second, "", 1), at(2*time.Second, "", 1), at(time.Minute, "", 2), at(4*time.Minute, "gptbot", 3),
		at(6*time.Minute, "", 4), at(29*time.Minute+45*time.Second, "", 5), at(29*time.Minute+46*time.Second, "", 6),
	})
	counted := &tallying{Conn: conn}
	service := newService(counted)
	var wait sync.WaitGroup
	answers := make([]string, 50)
	for i := range answers {
		wait.Go(func() {
			answer, _, err := service.Live(t.Context(), Caller{}, testSite, nil, now)
			if err != nil {
				t.Error(err)
			}
			answers[i] = string(answer)
		})
	}
	wait.Wait()
	if n := counted.queries.Load(); int(n) != len(LiveParts()) {
		t.Errorf("%d statements, want %d", n, len(LiveParts()))
	}
	for _, answer := range answers {
		if answer != answers[0] {
			t.Errorf("%s and %s", answer, answers[0])
		}
	}
	var got struct {
		Now, From string
		Active    struct{ Columns []struct{ Values []int } }
		Agents    struct {
			Columns []struct{ Values []json.RawMessage }
		}
		Events struct {
			Columns []struct{ Values []json.RawMessage }
		}
		People struct {
			Columns []struct{ Values []json.RawMessage }
		}
		Pages struct {
			Columns []struct{ Values []json.RawMessage }
		}
	}
	if err := json.Unmarshal([]byte(answers[0]), &got); err != nil {
		t.Fatal(err)
	}
	if got.Now != "2026-03-15T12:30:45.678Z" || got.From != "2026-03-15T12:01:00.000Z" ||
		got.Active.Columns[0].Values[0] != 2 {
		t.Errorf("%s", answers[0])
	}
	events, people, agents := got.Events.Columns[1].Values, got.People.Columns[1].Values, got.Agents.Columns[1].Values
	if len(events) != LiveMinutes || len(people) != LiveMinutes || string(events[29]) != "2" ||
		string(people[29]) != "1" || string(events[0]) != "1" || string(agents[25]) != "1" ||
		string(people[25]) != "0" || len(got.Pages.Columns[0].Values) != 1 {
		t.Errorf("%s", answers[0])
	}
}

// TestLiveErrors checks that a request for a live answer that gets no turn is refused like a query.
func TestLiveErrors(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, func(c *Config) {
		c.Concurrency, c.PerOrganization, c.PerToken, c.QueueWait = 1, 1, 1, 10*time.Millisecond
	})
	var wait sync.WaitGroup
	wait.Go(func() {
		_, _, _ = service.Aggregate(t.Context(), Caller{}, testSite, []byte(`{"range":"last24Hours"}`), testNow)
	})
	running := <-engine.started
	_, _, err := service.Live(t.Context(), Caller{}, testSite, nil, testNow)
	if e, ok := errors.AsType[*schema.Error](err); !ok || e.RetryAfter == 0 {
		t.Errorf("%v, want a refusal with Retry-After", err)
	}
	close(running)
	wait.Wait()
}

// tallying counts the statements about a site's events.
type tallying struct {
	driver.Conn
	queries atomic.Int64
}

func (c *tallying) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	c.queries.Add(1)
	return c.Conn.Query(ctx, sql, args...)
}
