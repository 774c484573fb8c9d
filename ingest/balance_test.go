package ingest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestBalance: received = accepted + refused by reason, for each site, and
// what is shown to Prometheus is the same with a bounded number of series.
func TestBalance(t *testing.T) {
	t.Parallel()
	log := &memoryLog{}
	in := newTestIntake(t, log, func(c *IntakeConfig) { c.MetricSites = 2 })
	post := func(site string, body string) {
		_ = in.Accept(t.Context(), Site{ID: site}, []byte(body), testClient) // the balance says how it went
	}
	good := event("page_view", "")
	for i, site := range []string{"site_a", "site_b", "site_c", "site_d"} {
		for range i + 1 {
			post(site, events(good, good))
		}
	}
	post("site_a", events(good, good, event("page_viewed", "")))
	post("site_a", `{`)
	log.err = errors.New("away")
	post("site_c", events(good))
	post("site_d", events(good))

	for site, want := range map[string]Balance{
		"site_a": {Received: 5, Accepted: 2, Refused: map[string]uint64{"unknown_type": 3}},
		"site_c": {Received: 7, Accepted: 6, Refused: map[string]uint64{"log_unavailable": 1}},
		"none":   {Refused: map[string]uint64{}},
	} {
		got := in.metrics.Balance(site)
		if fmt.Sprint(got) != fmt.Sprint(want) || got.Unanswered() != 0 {
			t.Errorf("%s: %+v, want %+v", site, got, want)
		}
	}
	want := `
# HELP octavo_site_events_total What became of events, by site as before: accepted, repeated (known by their Idempotency-Key), or the reason of their refusal; and of those accepted, stored or dead_lettered.
# TYPE octavo_site_events_total counter
octavo_site_events_total{outcome="accepted",site="site_a"} 2
octavo_site_events_total{outcome="unknown_type",site="site_a"} 3
octavo_site_events_total{outcome="accepted",site="site_b"} 4
octavo_site_events_total{outcome="accepted",site="other"} 14
octavo_site_events_total{outcome="log_unavailable",site="other"} 2
`
	if err := testutil.CollectAndCompare(in.metrics.sites, strings.NewReader(want), "octavo_site_events_total"); err != nil {
		t.Error(err)
	}
}

// TestBalanceInFlight: between its reading and its answer an event is in
// flight.
func TestBalanceInFlight(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, nil)
	c.post("site_a", typicalBody(3))
	held := c.next("site_a")
	if b := c.in.metrics.Balance("site_a"); b.Received != 3 || b.Unanswered() != 3 {
		t.Errorf("%+v", b)
	}
	close(held.release)
	c.answer(nil)
	if b := c.in.metrics.Balance("site_a"); b.Accepted != 3 || b.Unanswered() != 0 {
		t.Errorf("%+v", b)
	}
}
