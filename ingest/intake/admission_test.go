package intake

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// heldAppend is a call of Append that waits until the test closes `release`.
type heldAppend struct {
	site    string
	release chan struct{}
}

// heldLog sends each call of Append to the channel `entered`, and then blocks the call until the test releases it.
type heldLog struct{ entered chan heldAppend }

func (l heldLog) Append(_ context.Context, site string, _ int, _ []byte) error {
	a := heldAppend{site, make(chan struct{})}
	l.entered <- a
	<-a.release
	return nil
}

// crowd sends requests of several sites concurrently and collects their answers.
type crowd struct {
	t       *testing.T
	in      *Intake
	log     heldLog
	body    []byte
	wait    sync.WaitGroup
	answers chan error
}

func newCrowd(t *testing.T, change func(*Config)) *crowd {
	t.Helper()
	c := &crowd{t: t, log: heldLog{make(chan heldAppend)}, body: ingesttest.TypicalBody(1), answers: make(chan error, 1000)}
	c.in = newTestIntake(t, c.log, change)
	return c
}

func (c *crowd) post(site string, body []byte) {
	c.wait.Go(func() { c.answers <- c.in.Accept(c.t.Context(), Site{ID: site}, body, testClient) })
}

// next returns the next request that reached the log.
func (c *crowd) next(site string) heldAppend {
	c.t.Helper()
	select {
	case a := <-c.log.entered:
		if a.site != site {
			c.t.Fatalf("a request of %s entered, want one of %s", a.site, site)
		}
		return a
	case <-time.After(eventually.Patience):
		c.t.Fatalf("no request of %s entered", site)
	}
	panic("unreachable")
}

func (c *crowd) answer(want *insights.Reason) {
	c.t.Helper()
	select {
	case err := <-c.answers:
		if (err == nil) != (want == nil) || ingesttest.ReasonOf(err) != want {
			c.t.Fatalf("got %v, want %v", err, want)
		}
	case <-time.After(eventually.Patience):
		c.t.Fatal("no answer")
	}
}

func (c *crowd) waiting(n int) {
	c.t.Helper()
	eventually.True(c.t, fmt.Sprint(n, " requests to wait"), func() bool {
		return testutil.ToFloat64(c.in.metrics.requestsWaiting) == float64(n)
	})
}

// TestHotSiteLeavesRoom checks a site that sends more requests than the node can process. Its requests must get only
// its share of the node, and the refusals must name the site's own load as the reason. Requests of other sites must be
// admitted immediately.
func TestHotSiteLeavesRoom(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, func(cfg *Config) { cfg.MaxInFlight, cfg.AdmitWait = 8, time.Hour })
	var held []heldAppend
	for range 50 {
		c.post("hot", c.body)
	}
	for range 6 { // three quarters of the node's eight places
		held = append(held, c.next("hot"))
	}
	c.waiting(8)
	for range 50 - 6 - 8 { // the queue is full too
		c.answer(insights.SiteOverloaded)
	}
	for _, site := range []string{"calm", "quiet"} {
		c.post(site, c.body)
		held = append(held, c.next(site))
	}
	// Now all places of the node are used. A request of a third site replaces a waiting request of the hot site.
	c.post("late", c.body)
	c.answer(insights.SiteOverloaded)
	c.waiting(8)
	close(held[0].release)
	c.answer(nil)
	held[0] = c.next("late")
	for _, a := range held {
		close(a.release)
	}
	for range 7 {
		close(c.next("hot").release)
	}
	c.wait.Wait()
	for range 15 {
		c.answer(nil)
	}
	wantIdle(t, c.in, "hot", "calm", "quiet", "late")
}

// TestWhoseFault checks the reasons of refusals. A site that uses more than an equal share gets SiteOverloaded. A site
// gets Overloaded if other sites fill the node.
func TestWhoseFault(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, func(cfg *Config) { cfg.MaxInFlight, cfg.AdmitWait = 4, time.Millisecond })
	var held []heldAppend
	for _, site := range []string{"big", "big", "big", "small"} {
		c.post(site, c.body)
		held = append(held, c.next(site))
	}
	for site, want := range map[string]*insights.Reason{"big": insights.SiteOverloaded, "small": insights.Overloaded, "new": insights.Overloaded} {
		c.post(site, c.body)
		c.answer(want)
	}
	for _, a := range held {
		close(a.release)
		c.answer(nil)
	}
	wantIdle(t, c.in, "big", "small", "new")
	if b := c.in.cfg.Balances.Balance("big"); b.Received != 3 || b.Accepted != 3 || b.Unread["site_overloaded"] != 1 || b.Unanswered() != 0 {
		t.Errorf("balance %+v", b)
	}
}

// TestLargeBodyIsNotPassedBy checks that small requests do not overtake an earlier large request of the same site.
func TestLargeBodyIsNotPassedBy(t *testing.T) {
	t.Parallel()
	large := ingesttest.TypicalBody(40)
	c := newCrowd(t, func(cfg *Config) { cfg.MaxBytesInFlight, cfg.AdmitWait = int64(len(large)), time.Hour })
	c.post("a", c.body)
	first := c.next("a")
	c.post("b", large)
	c.waiting(1)
	if err := c.in.admission.enter(ingesttest.Cancelled(t), &c.in.cfg.Balances.Account("b").InFlight, 1); err == nil {
		t.Error("a small request overtook a large one")
	}
	close(first.release)
	c.answer(nil)
	close(c.next("b").release)
	c.answer(nil)
	wantIdle(t, c.in, "a", "b")
}

// wantIdle fails if requests of the sites are still in flight. The tests of package fair check the sums of the gate.
func wantIdle(t *testing.T, in *Intake, sites ...string) {
	t.Helper()
	for _, site := range sites {
		if !in.admission.gate.Idle(&in.cfg.Balances.Account(site).InFlight) {
			t.Errorf("requests of %s are still in flight", site)
		}
	}
	m := in.metrics
	if n := testutil.ToFloat64(m.requestsInFlight) + testutil.ToFloat64(m.bytesInFlight) + testutil.ToFloat64(m.requestsWaiting); n != 0 {
		t.Errorf("the metrics still have %v in flight", n)
	}
}
