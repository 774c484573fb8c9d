package query

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// clock goes on by a second whenever it is looked at.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time { return c.after(time.Second) }

func (c *clock) after(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	return c.at
}

// TestKept: an answer is given again for a short time, with its age, to those who ask
// the same about the same site; not to those who want a fresh one, and not after the
// site's events were changed.
func TestKept(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	time1 := clock{at: testNow}
	service := newService(conn, keeping)
	service.cache.now = time1.now
	ask := func(site, body string, events int, who Caller) map[string]string {
		t.Helper()
		answer, headers, err := service.Aggregate(t.Context(), who, site, []byte(body), testNow)
		if want := fmt.Sprintf(`{"columns":[{"column":"eventsCount","values":[%d]}]}`, events); err != nil || string(answer) != want {
			t.Errorf("%s: %s %v, want %s", body, answer, err, want)
		}
		return headers
	}
	const month, exactly = `{"range":"last30Days"}`, `{"range":"last30Days","accuracy":"exact"}`
	first := ask(testSite, month, 8, Caller{Token: "1"})
	insert(t, conn, testSite, fixture()[:1])
	again := ask(
		testSite, ` { "range" : "last30Days" , "select" : [ {"column":"eventsCount"} ] } `, 8, Caller{Token: "2"},
	)
	if first[headerAge] != "" || again[headerAge] == "" || again[headerAge] == "0" || again[headerRowsRead] != first[headerRowsRead] {
		t.Errorf("%v, then %v", first, again)
	}
	ask(testSite, `{"range":"last7Days"}`, 7, Caller{})
	ask(testSite, exactly, 9, Caller{})
	ask("site_2", month, 0, Caller{})
	if fresh := ask(testSite, month, 9, Caller{Fresh: true}); fresh[headerAge] != "" {
		t.Errorf("a fresh answer has the age %s", fresh[headerAge])
	}
	if after := ask(testSite, month, 9, Caller{}); after[headerAge] == "" {
		t.Error("nothing is kept of a fresh answer")
	}
	time1.after(time.Minute)
	ask(testSite, month, 9, Caller{})
	insert(t, conn, testSite, fixture()[1:2])
	ask(testSite, month, 9, Caller{})
	service.Forget("site_2")
	ask(testSite, month, 9, Caller{})
	service.Forget(testSite)
	ask(testSite, month, 10, Caller{})
	kept := testutil.ToFloat64(service.metrics.keptBytes)
	if n := len(service.cache.kept.Keys()); n != 1 || kept != float64(service.cache.size) {
		t.Errorf("%d answers are kept", n)
	}
}

// TestForgetWhileRunning: what was read before a site was changed is not kept.
func TestForgetWhileRunning(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, keeping)
	all := asking{t: t, service: service}
	all.ask(t.Context(), Caller{}, byCountry)
	before := <-engine.started
	service.Forget(testSite)
	all.ask(t.Context(), Caller{}, byCountry)
	after := <-engine.started // takes no part in the run that had begun before
	close(before)
	close(after)
	all.answered()
	wantAnswers(t, service, map[origin]float64{fromRun: 2})
}

// TestOldRunsAreNotJoined: who asks later than answers may be old runs a query of
// its own, whose answer stays when the older run ends.
func TestOldRunsAreNotJoined(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, keeping, func(c *Config) { c.Keep = 5 * time.Second })
	time1 := clock{at: testNow}
	service.cache.now = func() time.Time { return time1.after(0) }
	ask := func() (end func()) {
		ended := make(chan error)
		go func() {
			_, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(byCountry), testNow)
			ended <- err
		}()
		running := <-engine.started
		return func() {
			close(running)
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	older := ask()
	time1.after(6 * time.Second)
	younger := ask()
	time1.after(2 * time.Second)
	younger()
	time1.after(time.Second)
	older()
	if _, headers, err := service.Aggregate(
		t.Context(), Caller{}, testSite, []byte(byCountry), testNow,
	); err != nil || headers[headerAge] != "3" {
		t.Errorf("%v, %v", headers, err)
	}
	wantAnswers(t, service, map[origin]float64{fromRun: 2, fromKept: 1})
	if len(service.cache.runs) != 0 {
		t.Errorf("left: %v", service.cache.runs)
	}
	service.Forget(testSite)
	service.cache.put(cacheKey{site: "another"}, &cachedAnswer{until: testNow.Add(time.Hour)})
	slow := ask()
	time1.after(6 * time.Second)
	slow()
	if n := service.cache.kept.Len() - 1; n != 0 {
		t.Errorf("%d answers are kept that are too old", n)
	}
}

// leaving is an engine whose caller goes away when it has all rows.
type leaving struct {
	*slow
	leave func()
}

func (l leaving) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	rows, err := l.slow.Query(ctx, sql, args...)
	if err == nil && strings.Contains(sql, "country") {
		rows = lastRows{rows, l.leave}
	}
	return rows, err
}

type lastRows struct {
	driver.Rows
	leave func()
}

func (r lastRows) Close() error {
	r.leave()
	return r.Rows.Close()
}

// TestAnswerOfWhoLeft: an answer that is complete when its client goes away is one for
// the others.
func TestAnswerOfWhoLeft(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	engine := leaving{newSlow(t), leave}
	service := newService(engine, keeping)
	all := asking{t: t, service: service}
	all.ask(ctx, Caller{}, byCountry)
	done := <-engine.started
	all.ask(t.Context(), Caller{}, byCountry)
	wantAskers(t, service, 2)
	close(done)
	answered := make(chan struct{})
	go func() { all.answered(); close(answered) }()
	select {
	case <-engine.started:
		t.Fatal("the query runs again")
	case <-answered:
	}
	wantAnswers(t, service, map[origin]float64{fromRun: 1, fromShared: 1})
}

// TestRunsAgainAreAsOld: when the client that a query runs for goes away, the caller that reruns it keeps its request
// time. Later callers do not share an answer of that age.
func TestRunsAgainAreAsOld(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, keeping, func(c *Config) { c.Keep = 5 * time.Second })
	time1 := clock{at: testNow}
	service.cache.now = time1.now
	all := asking{t: t, service: service}
	ctx, leave := context.WithCancel(t.Context())
	all.ask(ctx, Caller{Token: "leaves"}, byCountry)
	<-engine.started
	all.ask(t.Context(), Caller{Token: "waits"}, byCountry)
	wantAskers(t, service, 2)
	time1.after(time.Minute)
	leave()
	again := <-engine.started
	all.ask(t.Context(), Caller{Token: "late"}, byCountry)
	eventually.True(t, "the late caller's query to run", func() bool { return len(engine.started) == 1 })
	close(again)
	close(<-engine.started)
	all.answered()
	wantAnswers(t, service, map[origin]float64{fromRun: 2})
}

// TestFreshAnswers: who asks for a fresh answer takes no part in what was asked before;
// who asks then takes part in the fresh one.
func TestFreshAnswers(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, keeping)
	all := asking{t: t, service: service}
	all.ask(t.Context(), Caller{Token: "1"}, byCountry)
	older := <-engine.started
	all.ask(t.Context(), Caller{Token: "2", Fresh: true}, byCountry)
	fresh := <-engine.started
	all.ask(t.Context(), Caller{Token: "3"}, byCountry)
	wantAskers(t, service, 2)
	close(fresh)
	eventually.True(t, "a shared answer", func() bool {
		return testutil.ToFloat64(service.metrics.answers[Aggregate][fromShared]) == 1
	})
	close(older)
	all.answered()
	wantAnswers(t, service, map[origin]float64{fromRun: 2, fromShared: 1})
}

// TestNothingIsKept: without the setting every query runs.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	service := newService(newSlow(t))
	for range 3 {
		if _, headers, err := service.Aggregate(
			t.Context(), Caller{}, "light", []byte(byCountry), testNow,
		); err != nil || headers[headerAge] != "" {
			t.Errorf("%v %v", headers, err)
		}
	}
	wantAnswers(t, service, map[origin]float64{fromRun: 3})
}

// TestKeptBytes: what is kept stays within its bound.
func TestKeptBytes(t *testing.T) {
	t.Parallel()
	a := newService(nil, func(c *Config) { c.Keep, c.KeepBytes = time.Hour, 1<<20 }).cache
	largest := 0
	for i := range 5000 {
		k := &cachedAnswer{body: make([]byte, rand.IntN(1<<18)), until: a.now().Add(time.Minute)}
		a.put(cacheKey{site: fmt.Sprint(i % 3000)}, k)
		sum := 0
		for _, k := range a.kept.Values() {
			sum += k.size()
			largest = max(largest, k.size())
		}
		if sum != a.size || sum > 1<<20 {
			t.Fatalf("%d bytes, said to be %d", sum, a.size)
		}
	}
	if largest > 1<<17 || len(a.kept.Keys()) < 8 {
		t.Errorf("%d answers, of %d bytes at most", a.kept.Len(), largest)
	}
}

// TestKeys: queries with one key have one statement, whenever they are asked, and
// spaces and the order of members make no other query.
func TestKeys(t *testing.T) {
	t.Parallel()
	statements, keys := map[string]string{}, 0
	check := func(body []byte) {
		p, err := compile(testSite, body, testNow)
		if err != nil {
			return
		}
		st := lower(p)
		text := fmt.Sprintf("%s %#v %s %v", st.SQL, st.Params, p, p.paged)
		if p.compare != nil {
			text += fmt.Sprint(p.compare)
		}
		if other, ok := statements[p.key]; ok && other != text {
			t.Errorf("%s: one key for\n%s\n%s", body, text, other)
		} else if !ok {
			keys++
		}
		statements[p.key] = text
		later, err := compile(testSite, body, testNow.Add(3*time.Second))
		if err != nil || later.key != p.key {
			t.Errorf("%s: another key a few seconds later: %v", body, err)
		}
	}
	for _, cases := range rowFiles(t) {
		for _, c := range cases {
			check([]byte(c.request))
		}
	}
	for _, end := range []string{"04", "05"} {
		for _, more := range []string{
			"", `,"fill":true`, `,"cursor":""`, `,"compare":"previousPeriod"`, `,"compare":"previousYear"`, `,"timezone":"Europe/Berlin"`, `,"limit":10`,
			`,"compare":{"from":"2025-01-01T00:00:00Z","to":"2025-01-02T00:00:00Z"}`, `,"compare":{"from":"2025-01-01T00:00:00Z","to":"2025-01-03T00:00:00Z"}`,
			`,"where":[{"column":"url","values":["a b","c"]}]`, `,"where":[{"column":"url","values":["a","b c"]}]`, `,"where":[{"column":"url","values":["a\" \"b","c"]}]`,
			`,"where":[{"column":"page","values":[{"space":"a b","page":"c"}]}]`, `,"where":[{"column":"page","values":[{"space":"a","page":"b c"}]}]`,
			`,"where":[{"column":"visitorClaim","claim":"a","values":["b"]}]`, `,"where":[{"column":"visitorClaim","claim":"a [b]","values":["b"]}]`,
		} {
			check([]byte(`{"range":{"from":"2026-03-01T00:00:00Z","to":"2026-03-` + end + `T00:00:00Z"},"groupBy":[{"column":"datetime","interval":"day"}]` + more + `}`))
		}
	}
	if keys < 100 {
		t.Errorf("%d queries only", keys)
	}
}
