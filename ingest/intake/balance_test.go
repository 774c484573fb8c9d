package intake

import (
	"errors"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// TestBalance checks that the received events of each site are the sum of its accepted and refused events.
func TestBalance(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{}
	in := newTestIntake(t, log, nil)
	post := func(site string, body string) {
		_ = in.Accept(t.Context(), Site{ID: site}, []byte(body), testClient) // the balance has the result
	}
	good := ingesttest.Event("page_view", "")
	for i, site := range []string{"site_a", "site_b", "site_c", "site_d"} {
		for range i + 1 {
			post(site, ingesttest.Events(good, good))
		}
	}
	post("site_a", ingesttest.Events(good, good, ingesttest.Event("page_viewed", "")))
	post("site_a", `{`)
	log.Err = errors.New("away")
	post("site_c", ingesttest.Events(good))
	post("site_d", ingesttest.Events(good))

	for site, want := range map[string]balance.Balance{
		"site_a": {Received: 5, Accepted: 2, Refused: map[string]uint64{"unknown_type": 3}},
		"site_c": {Received: 7, Accepted: 6, Refused: map[string]uint64{"log_unavailable": 1}},
		"none":   {Refused: map[string]uint64{}},
	} {
		t.Run(site, func(t *testing.T) {
			got := in.cfg.Balances.Balance(site)
			if fmt.Sprint(got) != fmt.Sprint(want) || got.Unanswered() != 0 {
				t.Errorf("%s: %+v, want %+v", site, got, want)
			}
		})
	}
}

// TestBalanceInFlight checks that an event counts as unanswered from the time when it is read until the request is
// answered.
func TestBalanceInFlight(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, nil)
	c.post("site_a", ingesttest.TypicalBody(3))
	held := c.next("site_a")
	if b := c.in.cfg.Balances.Balance("site_a"); b.Received != 3 || b.Unanswered() != 3 {
		t.Errorf("%+v", b)
	}
	close(held.release)
	c.answer(nil)
	if b := c.in.cfg.Balances.Balance("site_a"); b.Accepted != 3 || b.Unanswered() != 0 {
		t.Errorf("%+v", b)
	}
}

// TestRefusedUnread checks that a request which is refused before its body is read is counted for its site and reason.
// Its events must not be counted.
func TestRefusedUnread(t *testing.T) {
	t.Parallel()
	in := newTestIntake(t, &ingesttest.MemoryLog{}, nil)
	for _, reason := range []*insights.Reason{insights.OptedOut, insights.DailyCap, insights.OptedOut} {
		in.RefuseUnread("site_a", reason)
	}
	want := balance.Balance{Refused: map[string]uint64{}, Unread: map[string]uint64{"opted_out": 2, "daily_cap": 1}}
	if got := in.cfg.Balances.Balance("site_a"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := testutil.ToFloat64(in.metrics.refused[insights.OptedOut].requests); got != 2 {
		t.Errorf("%v requests", got)
	}
}
