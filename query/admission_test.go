package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// slow is an engine on which each statement about testSite runs until the test releases it. All other statements end
// immediately. A statement that counts a site's rows fails.
type slow struct {
	driver.Conn
	started chan chan struct{}
}

func newSlow(t *testing.T) *slow {
	t.Helper()
	return &slow{started: make(chan chan struct{}, 1000)}
}

func (s *slow) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if strings.Contains(sql, "AS day") || strings.HasPrefix(sql, "EXPLAIN ") {
		return nil, errors.New("nothing is counted")
	}
	heavy := slices.ContainsFunc(args, func(a any) bool { return a.(driver.NamedValue).Value == testSite })
	if !heavy {
		return noRows{}, nil
	}
	done := make(chan struct{})
	s.started <- done
	select {
	case <-done:
		return noRows{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type noRows struct{ driver.Rows }

func (noRows) Next() bool   { return false }
func (noRows) Err() error   { return nil }
func (noRows) Close() error { return nil }

// TestHalvedLoad: while the load is halved, fewer queries run concurrently, with fewer threads each.
func TestHalvedLoad(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	var halvings atomic.Int64
	service := newService(engine, func(c *Config) {
		c.Concurrency, c.PerOrganization, c.PerToken, c.QueueWait = 4, 4, 4, time.Hour
		c.MaxThreads, c.Halvings, c.Rows = 4, func() int { return int(halvings.Load()) }, 0
	})
	for h, want := range []int{4, 2, 1, 1} {
		halvings.Store(int64(h))
		if got := service.config.settings(time.Second)["max_threads"]; got != want {
			t.Errorf("after %d halvings a query has %v threads, want %d", h, got, want)
		}
	}
	halvings.Store(1)
	var wait sync.WaitGroup
	ask := func() {
		wait.Go(func() {
			_, _, err := service.Aggregate(t.Context(), Caller{Organization: "a"}, testSite, []byte(byCountry), testNow)
			if err != nil {
				t.Error(err)
			}
		})
	}
	waiting := func(n float64) {
		t.Helper()
		eventually.True(t, fmt.Sprint(n, " queries to wait"), func() bool {
			return testutil.ToFloat64(service.metrics.waiting) == n
		})
	}
	for range 3 {
		ask()
	}
	waiting(1)
	var running []chan struct{}
	for range 2 {
		running = append(running, <-engine.started)
	}
	halvings.Store(0) // the next query uses the full limits again
	ask()
	for range 2 {
		running = append(running, <-engine.started)
	}
	waiting(0)
	for _, done := range running {
		close(done)
	}
	wait.Wait()
}

// TestHeavyTokenLeavesTheOthers checks that a token with 80 endless queries gets only its share of the slots, and that
// the errors of its refused queries name this limit. The other tokens of its organization, and other organizations, get
// answers before any of the 80 ends.
func TestHeavyTokenLeavesTheOthers(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, func(c *Config) {
		c.Concurrency, c.PerOrganization, c.PerToken, c.QueueWait = 4, 3, 2, time.Hour // up to 64 queries may wait
	})
	var wait sync.WaitGroup
	answers := make(chan error, 1000)
	ask := func(organization, token, site string) {
		_, _, err := service.Aggregate(
			t.Context(), Caller{Organization: organization, Token: token}, site, []byte(byCountry), testNow,
		)
		answers <- err
	}
	answer := func(want schema.Code) {
		t.Helper()
		select {
		case err := <-answers:
			e, _ := errors.AsType[*schema.Error](err)
			if want == 0 && err != nil || want != 0 && (e == nil || e.Code != want || e.RetryAfterSeconds() == 0) {
				t.Fatalf("%v, want %d and Retry-After", err, want)
			}
		case <-time.After(eventually.Patience):
			t.Fatal("no answer")
		}
	}
	for range 80 {
		wait.Go(func() { ask("a", "greedy", testSite) })
	}
	var running []chan struct{}
	for range 2 {
		running = append(running, <-engine.started)
	}
	for range 80 - 2 - 64 {
		answer(schema.CodeTooManyRequests)
	}
	for range 100 {
		for _, who := range [][2]string{{"a", "modest"}, {"b", "1"}, {"c", "1"}} {
			ask(who[0], who[1], "light")
			answer(0)
		}
	}
	if n := testutil.ToFloat64(service.metrics.running); n != 2 || len(engine.started) != 0 {
		t.Errorf("%v are running, and %d more have started", n, len(engine.started))
	}
	// Two more organizations fill the node. A later query then waits for the first free slot, and gets the slot before
	// the 64 earlier queries.
	for _, organization := range []string{"b", "c"} {
		wait.Go(func() { ask(organization, "1", testSite) })
		running = append(running, <-engine.started)
	}
	wait.Go(func() { ask("d", "1", "light") })
	eventually.True(t, "the query of d to wait", func() bool {
		return testutil.ToFloat64(service.metrics.waiting) == 64
	})
	answer(schema.CodeTooManyRequests) // the query of organization d displaced one of the 64 queries
	close(running[2])
	answer(0) // the query of organization b
	answer(0) // the query of organization d
	if len(engine.started) != 0 {
		t.Error("the greedy token got a third slot")
	}
	close(running[3])
	for _, done := range running[:2] {
		close(done)
	}
	answer(0) // the query of organization c
	answered := make(chan struct{})
	go func() {
		for {
			select {
			case done := <-engine.started:
				close(done)
			case <-answered:
				return
			}
		}
	}()
	for range 2 + 63 {
		answer(0)
	}
	close(answered)
	wait.Wait()
	if len(service.admission.parties) != 0 || testutil.ToFloat64(service.metrics.waiting)+testutil.ToFloat64(service.metrics.running) != 0 {
		t.Errorf("left: %v", service.admission.parties)
	}
}

// TestShed checks the error of a query whose wait ends. The error is a 429 if the query's token or organization is at
// its limit, and a 503 otherwise. Each error has a Retry-After, and the metrics count each error.
func TestShed(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, func(c *Config) {
		c.Concurrency, c.PerOrganization, c.PerToken, c.QueueWait = 3, 2, 1, time.Millisecond
	})
	var wait sync.WaitGroup
	var running []chan struct{}
	for _, who := range []Caller{
		{Organization: "a", Token: "1"}, {Organization: "a", Token: "2"}, {Organization: "b", Token: "1"},
	} {
		wait.Go(func() {
			if _, _, err := service.Aggregate(t.Context(), who, testSite, []byte(byCountry), testNow); err != nil {
				t.Error(err)
			}
		})
		running = append(running, <-engine.started)
	}
	for _, c := range []struct {
		who   Caller
		code  schema.Code
		class class
	}{
		{Caller{Organization: "a", Token: "3"}, schema.CodeTooManyRequests, classOverShare},
		{Caller{Organization: "b", Token: "1"}, schema.CodeTooManyRequests, classOverShare},
		{Caller{Organization: "c", Token: "1"}, schema.CodeUnavailable, classFull},
	} {
		t.Run(c.who.Organization+c.who.Token, func(t *testing.T) {
			count := service.metrics.errors[Aggregate][c.class]
			before := testutil.ToFloat64(count)
			_, _, err := service.Aggregate(t.Context(), c.who, testSite, []byte(byCountry), testNow)
			e, ok := errors.AsType[*schema.Error](err)
			if !ok || e.Code != c.code || e.RetryAfterSeconds() == 0 || testutil.ToFloat64(count) != before+1 {
				t.Errorf("%+v: %v", c.who, err)
			}
		})
	}
	for _, done := range running {
		close(done)
	}
	wait.Wait()
}

// TestBadQuestionsTakeNoSlot checks that a full node still refuses an invalid request as invalid.
func TestBadQuestionsTakeNoSlot(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, func(c *Config) { c.Concurrency, c.PerOrganization, c.PerToken, c.QueueWait = 1, 1, 1, time.Hour })
	var wait sync.WaitGroup
	wait.Go(func() { _, _, _ = service.Aggregate(t.Context(), Caller{}, testSite, []byte(byCountry), testNow) })
	done := <-engine.started
	if _, _, err := service.Aggregate(
		t.Context(), Caller{}, testSite, []byte(`{}`), testNow,
	); !schema.IsCode(err, schema.CodeBadRequest) {
		t.Errorf("%v", err)
	}
	close(done)
	wait.Wait()
}

// TestOneBudget checks that all statements of a query share the query's time limit.
func TestOneBudget(t *testing.T) {
	t.Parallel()
	service := newService(newSlow(t), func(c *Config) { c.MaxTime = time.Minute })
	first := time.Time{}
	q := service.query(Aggregate, Caller{}, testSite)
	_, err := q.admitted(t.Context(), func(ctx context.Context) ([]byte, error) {
		first = q.ends
		q.ends = time.Now() // pretend that the first statement has used up the time
		sc := newScope("light", testNow.Add(-time.Hour), testNow, nil)
		return nil, q.rows(ctx, lowerSharedClaims(sc), nil, func() int { return 0 })
	})
	if e, ok := errors.AsType[*schema.Error](err); !ok || e.Code != schema.CodeBadRequest || !strings.HasPrefix(e.Message, tooHeavy) || time.Until(first) > time.Minute {
		t.Errorf("%v, until %v", err, first)
	}
}

// TestStatementsAreNamed checks that the engine gets the id of a statement's request.
func TestStatementsAreNamed(t *testing.T) {
	t.Parallel()
	conn := store(t)
	service := newService(conn)
	q := service.ask()
	q.who = Caller{Organization: "org_1", Token: "tok_1", Request: "req-1"}
	var comment, id string
	one := sqltree.Statement{SQL: "SELECT getSetting('log_comment'), queryID()"}
	if err := q.rows(t.Context(), one, []any{&comment, &id}, func() int { return 0 }); err != nil {
		t.Fatal(err)
	}
	// The embedded engine puts its session's name before the comment.
	want := `{"request":"req-1","kind":"aggregate","organization":"org_1","site":"site_1"}`
	if len(comment) < len(want) || comment[len(comment)-len(want):] != want {
		t.Errorf("log_comment is %q", comment)
	}
	a, b := fmt.Sprint(q.queryID()), fmt.Sprint(q.queryID())
	if a == b || a[:6] != "req-1/" || len(a) != 6+12 {
		t.Errorf("query ids %q and %q", a, b)
	}
	t.Logf("the engine's id of it is %q", id)
}
