package query

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/query/resultcache"
	"github.com/octavo-docs/octavo/schema"
)

// keeping turns on a service's result cache.
func keeping(c *Config) { c.Keep, c.KeepBytes = time.Hour, 1<<20 }

func wantCallers(t *testing.T, s *Service, n int) {
	t.Helper()
	eventually.True(t, fmt.Sprint(n, " callers to share the run"), func() bool { return s.results.Callers() == n })
}

func wantAnswers(t *testing.T, s *Service, want map[resultcache.Source]float64) {
	t.Helper()
	for _, from := range resultcache.Sources() {
		if got := testutil.ToFloat64(s.metrics.answers[Aggregate][from]); got != want[from] {
			t.Errorf("%v answers %s, want %v", got, from, want[from])
		}
	}
}

// TestEqualQuestionsRunOnce checks that concurrent equal queries run once in the engine, even if the token of a query
// has no free slot. A different query runs separately.
func TestEqualQuestionsRunOnce(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, keeping, func(c *Config) {
		c.Concurrency, c.PerOrganization, c.PerToken, c.QueueWait = 8, 4, 1, time.Hour
	})
	var wait sync.WaitGroup
	bodies := make(chan string, 100)
	ask := func(token, body string) {
		wait.Go(func() {
			answer, headers, err := service.Aggregate(
				t.Context(), Caller{Organization: "a", Token: token}, testSite, []byte(body), testNow,
			)
			if err != nil || headers[headerSource] == "" {
				t.Errorf("%v %v", headers, err)
			}
			bodies <- string(answer)
		})
	}
	for i := range 40 {
		ask(fmt.Sprint(i%20), byCountry)
	}
	done := <-engine.started
	wantCallers(t, service, 40)
	eventually.True(t, "only one query to run or wait for a slot", func() bool {
		return testutil.ToFloat64(service.metrics.running) == 1 && testutil.ToFloat64(service.metrics.waiting) == 0
	})
	ask("20", strings.Replace(byCountry, "{", `{"accuracy":"exact",`, 1))
	other := <-engine.started
	close(done)
	close(other)
	wait.Wait()
	for first := <-bodies; len(bodies) > 0; {
		if next := <-bodies; next != first {
			t.Errorf("%s and %s", first, next)
		}
	}
	if len(engine.started) != 0 {
		t.Errorf("the engine has seen %d more statements", len(engine.started))
	}
	wantAnswers(t, service, map[resultcache.Source]float64{resultcache.Run: 2, resultcache.Shared: 39})
	if service.results.Callers() != 0 || len(service.admission.parties) != 0 {
		t.Errorf("left: %d callers, %v", service.results.Callers(), service.admission.parties)
	}
}

// TestWhoRunsMayLeave: if the client that started a query disconnects, the waiting clients still get the answer. If a
// waiting client disconnects, the query continues.
func TestWhoRunsMayLeave(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, keeping)
	var wait sync.WaitGroup
	ask := func(token string, want schema.Code) (leave func()) {
		ctx, leave := context.WithCancel(t.Context())
		wait.Go(func() {
			_, _, err := service.Aggregate(ctx, Caller{Token: token}, testSite, []byte(byCountry), testNow)
			if want == 0 && err != nil || want != 0 && !schema.IsCode(err, want) {
				t.Errorf("%s: %v, want %d", token, err, want)
			}
		})
		return leave
	}
	runs := ask("1", schema.CodeUnavailable)
	<-engine.started
	waits := ask("2", schema.CodeUnavailable)
	stays := []func(){ask("3", 0), ask("4", 0)}
	wantCallers(t, service, 4)
	waits()
	wantCallers(t, service, 3)
	runs()
	close(<-engine.started)
	wait.Wait()
	for _, leave := range stays {
		leave()
	}
	if n := testutil.ToFloat64(
		service.metrics.answers[Aggregate][resultcache.Run],
	); n != 1 || len(engine.started) != 0 || service.results.Callers() != 0 {
		callers := service.results.Callers()
		t.Errorf("%v answers were made, %d more statements, %d callers", n, len(engine.started), callers)
	}
}

// TestTurnsAreOnesOwn checks that only the caller that exceeds its share gets the error about the share. Other callers
// of the same query do not get this error.
func TestTurnsAreOnesOwn(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, keeping, func(c *Config) { c.Concurrency, c.PerToken, c.QueueWait = 2, 1, time.Hour })
	all := asking{t: t, service: service}
	var running []chan struct{}
	const each = float64(unknownRows)
	another := 0 // makes each query different from the others
	other := func() string {
		another++
		return strings.Replace(byCountry, "{", fmt.Sprintf(`{"limit":%d,`, another), 1)
	}
	for _, token := range []string{"greedy", "other"} {
		all.ask(t.Context(), Caller{Token: token}, other())
		running = append(running, <-engine.started)
	}
	all.ask(t.Context(), Caller{Token: "modest"}, byCountry)
	all.waiting(1, each)
	ctx, leave := context.WithCancel(t.Context())
	for range waitersPerSlot*2 - 1 {
		all.ask(ctx, Caller{Token: "greedy"}, other())
	}
	all.waiting(waitersPerSlot*2, waitersPerSlot*2*each)
	if _, _, err := service.Aggregate(
		t.Context(), Caller{Token: "greedy"}, testSite, []byte(byCountry), testNow,
	); !schema.IsCode(err, schema.CodeTooManyRequests) {
		t.Errorf("greedy: %v", err)
	}
	leave()
	all.waiting(1, each)
	for _, done := range running {
		close(done)
	}
	close(<-engine.started)
	all.answered()
	if len(engine.started) != 0 {
		t.Errorf("%d more statements", len(engine.started))
	}
}

// failing is an engine that fails on demand.
type failing struct {
	driver.Conn
	started chan chan error
}

func (f failing) Query(_ context.Context, sql string, _ ...any) (driver.Rows, error) {
	if !strings.Contains(sql, "country") {
		return noRows{}, nil
	}
	done := make(chan error)
	f.started <- done
	if err := <-done; err != nil {
		return nil, err
	}
	return noRows{}, nil
}

// TestTooHeavyForAll checks that a query that is too heavy runs once for all its callers.
func TestTooHeavyForAll(t *testing.T) {
	t.Parallel()
	engine := failing{started: make(chan chan error, 10)}
	service := newService(engine, keeping)
	var wait sync.WaitGroup
	for range 5 {
		wait.Go(func() {
			if _, _, err := service.Aggregate(
				t.Context(), Caller{}, testSite, []byte(byCountry), testNow,
			); !schema.IsCode(err, schema.CodeBadRequest) {
				t.Errorf("%v", err)
			}
		})
	}
	done := <-engine.started
	wantCallers(t, service, 5)
	done <- &clickhouse.Exception{Code: codeTimeout}
	wait.Wait()
	if n := testutil.ToFloat64(service.metrics.errors[Aggregate][classTooHeavy]); n != 5 || len(engine.started) != 0 {
		t.Errorf("%v failed, %d more statements", n, len(engine.started))
	}
}

// TestBatchTimeIsItsOwn checks that a query that failed because a batch had no time left runs again for another caller.
func TestBatchTimeIsItsOwn(t *testing.T) {
	t.Parallel()
	engine := failing{started: make(chan chan error, 10)}
	service := newService(engine, keeping)
	var wait sync.WaitGroup
	wait.Go(func() {
		body := `{"queries":{"a":` + byCountry + `}}`
		answer, _, err := service.Batch(t.Context(), Caller{}, testSite, []byte(body), testNow)
		if err != nil || !strings.Contains(string(answer), `"status":400`) {
			t.Errorf("%s, %v", answer, err)
		}
	})
	ofBatch := <-engine.started
	wait.Go(func() {
		_, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(byCountry), testNow)
		if !schema.IsCode(err, schema.CodeBadRequest) {
			t.Errorf("%v", err)
		}
	})
	wantCallers(t, service, 2)
	ofBatch <- &clickhouse.Exception{Code: codeTimeout}
	(<-engine.started) <- &clickhouse.Exception{Code: codeTimeout}
	wait.Wait()
	if len(engine.started) != 0 {
		t.Errorf("%d more statements", len(engine.started))
	}
}

// TestLiveShareIsItsOwn has two callers who wait for the same live answer. If one caller has used up its share, only
// this caller is refused.
func TestLiveShareIsItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := newSlow(t)
		service := newService(engine, keeping, func(c *Config) {
			c.Concurrency, c.PerOrganization, c.PerToken, c.QueueWait = 4, 4, 1, 300*time.Millisecond
		})
		var wait sync.WaitGroup
		wait.Go(func() {
			_, _, err := service.Aggregate(t.Context(), Caller{Token: "busy"}, testSite, []byte(byCountry), testNow)
			if err != nil {
				t.Error(err)
			}
		})
		blocker := <-engine.started
		live := func(token string, refused bool) {
			wait.Go(func() {
				_, _, err := service.Live(t.Context(), Caller{Token: token}, testSite, nil, testNow)
				if schema.IsCode(err, schema.CodeTooManyRequests) != refused || !refused && err != nil {
					t.Errorf("%s: %v", token, err)
				}
			})
		}
		live("busy", true)
		synctest.Wait() // the busy caller waits
		live("free", false)
		for range LiveParts() {
			close(<-engine.started)
		}
		close(blocker)
		wait.Wait()
	})
}

// TestEqualBatchesHaveTheirOwnTime checks that a batch that shares the run of an earlier batch runs its queries again
// if the earlier batch had no time left for them. It does not run them a third time.
func TestEqualBatchesHaveTheirOwnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := failing{started: make(chan chan error, 10)}
		service := newService(engine, keeping, func(c *Config) { c.MaxTime = 20 * time.Second })
		body := []byte(`{"queries":{"a":` + byCountry + `,"b":{"range":"last7Days"}}}`)
		var wait sync.WaitGroup
		ask := func(now time.Time, wantNow string, answered int) {
			wait.Go(func() {
				answer, _, err := service.Batch(t.Context(), Caller{}, testSite, body, now)
				if err != nil || strings.Count(string(answer), `"status":200`) != answered ||
					!strings.HasPrefix(string(answer), `{"now":"`+wantNow) {
					t.Errorf("%s, %v; want %d answers", answer, err, answered)
				}
			})
		}
		ask(testNow, "2026-03-15T12:30:45", 1)
		first := <-engine.started
		time.Sleep(time.Second)
		ask(testNow.Add(time.Second), "2026-03-15T12:30:45", 1) // this batch has nearly all of the time
		time.Sleep(18 * time.Second)
		ask(testNow.Add(19*time.Second), "2026-03-15T12:30:45", 2)
		ask(testNow.Add(19*time.Second), "2026-03-15T12:30:45", 2)
		synctest.Wait()
		first <- errQueryTime
		second := <-engine.started
		synctest.Wait()
		second <- nil
		wait.Wait()
		if len(engine.started) != 0 {
			t.Errorf("%d more statements", len(engine.started))
		}
	})
}
