package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// TestBalance posts good and bad events. The endpoint and the metrics account for all events. When the sink has stored
// the accepted events, no event is in flight.
func TestBalance(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	for n := range 3 {
		if status, body := i.post(i.token, pageView(fmt.Sprint("v", n)), pageView("w")); status != 204 {
			t.Fatalf("%d %s", status, body)
		}
	}
	if status, _ := i.post(i.token, pageView("x"), `{"type":"no_such_type"}`); status != 400 {
		t.Fatalf("a bad event is answered %d", status)
	}
	i.until("a balance that adds up", func() error {
		status, body := i.request("GET", i.insights()+"/events/balance", i.token, nil)
		var b schema.EventBalance
		if err := json.Unmarshal(body, &b); err != nil || status != 200 {
			return fmt.Errorf("%d %s", status, body)
		}
		if b.Received != 8 || b.Accepted != 6 || b.Stored != 6 || b.Refused["unknown_type"] != 2 || b.DeadLettered != 0 || b.InFlight != 0 ||
			b.Scope != "node" || len(b.Roles) != 3 || b.LostMessages == nil || *b.LostMessages != 0 {
			return fmt.Errorf("%+v", b)
		}
		return nil
	})
	metrics := i.metrics()
	for _, line := range []string{
		fmt.Sprintf("octavo_site_events_received_total{site=%q} 8", i.site), fmt.Sprintf("octavo_site_events_total{outcome=\"stored\",site=%q} 6", i.site),
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
}
