package query

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

// TestLiveRefusalsEndTogether checks how long the callers of a live answer wait if the share of their organization, or
// of their common token, is used up. They do not wait one after the other.
func TestLiveRefusalsEndTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		organization int
		tokens       []string
	}{
		"the organization's share": {1, []string{"1", "2", "3", "4", "5"}},
		"the token's share":        {4, []string{"busy", "busy", "busy", "busy", "busy"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				engine := newSlow(t)
				service := newService(engine, keeping, func(to *Config) {
					to.Concurrency, to.PerOrganization, to.PerToken = 4, c.organization, 1
				})
				var wait sync.WaitGroup
				wait.Go(func() {
					who := Caller{Organization: "a", Token: "busy"}
					_, _, err := service.Aggregate(t.Context(), who, testSite, []byte(byCountry), testNow)
					if err != nil {
						t.Error(err)
					}
				})
				blocker := <-engine.started
				begin := time.Now()
				var callers sync.WaitGroup
				for _, token := range c.tokens {
					callers.Go(func() {
						who := Caller{Organization: "a", Token: token}
						_, _, err := service.Live(t.Context(), who, testSite, nil, testNow)
						if !schema.IsCode(err, schema.CodeTooManyRequests) {
							t.Errorf("%s: %v", token, err)
						}
					})
				}
				callers.Wait()
				if took := time.Since(begin); took > 2*service.config.QueueWait {
					t.Errorf("the callers waited for %v", took)
				}
				close(blocker)
				wait.Wait()
			})
		})
	}
}

// TestSlowLiveAnswersAreShared checks that a live answer that takes long is computed once for the callers that come
// meanwhile, and for the callers that come soon afterwards.
func TestSlowLiveAnswersAreShared(t *testing.T) {
	t.Parallel()
	engine := newSlow(t)
	service := newService(engine)
	var passed atomic.Int64
	service.live.Now = func() time.Time { return testNow.Add(time.Duration(passed.Load())) }
	var wait sync.WaitGroup
	live := func() {
		wait.Go(func() {
			if _, _, err := service.Live(t.Context(), Caller{}, testSite, nil, testNow); err != nil {
				t.Error(err)
			}
		})
	}
	live()
	first := <-engine.started
	passed.Add(int64(3 * time.Second))
	live()
	eventually.True(t, "both callers share the run", func() bool { return service.live.Callers() == 2 })
	close(first)
	for range len(LiveParts()) - 1 {
		close(<-engine.started)
	}
	wait.Wait()
	passed.Add(int64(2500 * time.Millisecond))
	_, headers, err := service.Live(t.Context(), Caller{}, testSite, nil, testNow)
	if err != nil || headers[headerAge] != "5" || len(engine.started) != 0 {
		t.Errorf("%v, %v, %d more statements", headers, err, len(engine.started))
	}
}

// TestLiveLeavesCachedAnswers checks that live answers take no place in the cache of the other answers.
func TestLiveLeavesCachedAnswers(t *testing.T) {
	t.Parallel()
	service := newService(panicking{text: "no statement has this"}, keeping)
	now, passed := testNow, time.Duration(0)
	service.live.Now = func() time.Time { return now }
	service.results.Now = func() time.Time { // each reading of the clock takes a second
		passed += time.Second
		return testNow.Add(passed)
	}
	month := func() map[string]string {
		t.Helper()
		body := []byte(`{"range":"last30Days"}`)
		_, headers, err := service.Aggregate(t.Context(), Caller{}, testSite, body, testNow)
		if err != nil {
			t.Fatal(err)
		}
		return headers
	}
	month()
	before := testutil.ToFloat64(service.metrics.keptBytes)
	for range 500 {
		now = now.Add(3 * time.Second)
		if _, _, err := service.Live(t.Context(), Caller{}, testSite, nil, now); err != nil {
			t.Fatal(err)
		}
	}
	if after := testutil.ToFloat64(service.metrics.keptBytes); after != before || month()[headerAge] == "" {
		t.Errorf("%v bytes are cached, and before %v", after, before)
	}
}
