package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// batchOf returns a batch of heavy queries with these limits.
func batchOf(limits ...int) string {
	list := make([]string, len(limits))
	for i, limit := range limits {
		list[i] = fmt.Sprintf(`"q%d":{"range":"lastYear","limit":%d}`, i, limit)
	}
	return `{"queries":{` + strings.Join(list, ",") + `}}`
}

// TestBatchesTakeCachedAnswers runs batches whose queries have cached answers on a node without a free slot. If all
// answers are cached and current, a batch is answered without a turn. If a batch must wait, its cached answers stay
// valid, so that only the other queries run in its turn.
func TestBatchesTakeCachedAnswers(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine, keeping, func(c *Config) {
		c.Keep, c.Concurrency, c.QueueWait = 5*time.Second, 1, time.Hour
	})
	var passed atomic.Int64
	service.results.Now = func() time.Time { return testNow.Add(time.Duration(passed.Load())) }
	service.versions.engine, service.versions.age = versionedEngine, 0
	service.versions.sites[testSite] = siteVersion{version: "1"} // the engine's table never changes
	var wait sync.WaitGroup
	single := func(limit int) chan struct{} {
		wait.Go(func() {
			body := fmt.Appendf(nil, `{"range":"lastYear","limit":%d}`, limit)
			if _, _, err := service.Aggregate(t.Context(), Caller{}, testSite, body, testNow); err != nil {
				t.Error(err)
			}
		})
		return <-engine.started
	}
	for _, limit := range []int{1, 2} {
		close(single(limit))
		wait.Wait()
	}
	occupant := single(3)
	passed.Add(int64(10 * time.Second)) // the answers are no longer young
	got, _ := askBatch(t, service, batchOf(1, 2))
	for name, q := range got.Queries {
		if q.Status != 200 || q.Headers[headerAge] != "10" {
			t.Errorf("%s: %d %v", name, q.Status, q.Headers)
		}
	}
	wait.Go(func() {
		got, _ := askBatch(t, service, batchOf(1, 2, 4))
		for name, age := range map[string]string{"q0": "3610", "q1": "3610", "q2": ""} {
			if q := got.Queries[name]; q.Status != 200 || q.Headers[headerAge] != age {
				t.Errorf("%s: %d %v", name, q.Status, q.Headers)
			}
		}
	})
	eventually.True(t, "the batch waits", func() bool { return testutil.ToFloat64(service.metrics.waiting) == 1 })
	passed.Add(int64(time.Hour)) // the cached answers expire
	close(occupant)
	statement := <-engine.started
	if rows := testutil.ToFloat64(service.metrics.runningRows); rows != float64(unknownRows) {
		t.Errorf("%v rows are read", rows)
	}
	close(statement)
	wait.Wait()
	if len(engine.started) != 0 {
		t.Errorf("%d more statements", len(engine.started))
	}
}

// uncountable is an engine whose events table has other parts at each look. While `hangs` is set, counting a site's
// events does not end.
type uncountable struct {
	driver.Conn
	hangs         atomic.Bool
	looks, counts atomic.Int64
}

func (u *uncountable) Query(ctx context.Context, sql string, _ ...any) (driver.Rows, error) {
	switch {
	case sql == engineOf:
		return &oneRow{values: []any{versionedEngine}}, nil
	case sql == tableOf:
		return &oneRow{values: []any{"", fmt.Sprint(u.looks.Add(1))}}, nil
	case sql == countOf:
		u.counts.Add(1)
		if u.hangs.Load() {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return &oneRow{values: []any{uint64(1)}}, nil
	case strings.Contains(sql, "AS day"), strings.HasPrefix(sql, "EXPLAIN "):
		return nil, errors.New("nothing is counted")
	}
	return noRows{}, nil
}

// oneRow is the result of a statement that returns one row of texts and numbers.
type oneRow struct {
	noRows
	values []any
	read   bool
}

func (r *oneRow) Next() bool {
	first := !r.read
	r.read = true
	return first
}

func (r *oneRow) Scan(to ...any) error {
	for i, value := range r.values {
		switch v := value.(type) {
		case string:
			*to[i].(*string) = v
		case uint64:
			*to[i].(*uint64) = v
		}
	}
	return nil
}

// TestVersionsThatCannotBeRead checks that a batch waits at most once for the version of the site's events, and not in
// the time of its queries. After a reading that failed, queries do not wait for another reading.
func TestVersionsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := &uncountable{}
		service := newService(engine, keeping, func(c *Config) { c.Keep, c.MaxTime = 5*time.Second, 2*time.Second })
		ask := func(step string, counts int64) {
			t.Helper()
			before := engine.counts.Load()
			got, _ := askBatch(t, service, batchOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12))
			for name, q := range got.Queries {
				if q.Status != 200 {
					t.Errorf("%s: %s: %d %s", step, name, q.Status, q.Answer)
				}
			}
			if n := engine.counts.Load() - before; n != counts {
				t.Errorf("%s: events are counted %d times, want %d", step, n, counts)
			}
		}
		ask("first", 1)
		engine.hangs.Store(true)
		time.Sleep(10 * time.Second)
		ask("old answers", 1)
		time.Sleep(10 * time.Second)
		ask("during the pause", 0)
		engine.hangs.Store(false)
		time.Sleep(40 * time.Second)
		ask("after the pause", 1)
	})
}
