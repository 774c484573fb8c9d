package intake

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
)

// testNow is the time at which every request of these tests arrives.
var testNow = time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)

var testKey = [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

// discardLog accepts every message and discards it.
type discardLog struct{}

func (discardLog) Append(context.Context, string, int, []byte) error { return nil }

// mapPlaces is a Locator for a few addresses.
type mapPlaces map[netip.Addr]Place

func (m mapPlaces) Locate(ip netip.Addr) (Place, bool) {
	p, ok := m[ip]
	return p, ok
}

func newTestIntake(t testing.TB, log Appender, change func(*Config)) *Intake {
	t.Helper()
	r := prometheus.NewRegistry()
	cfg := Config{Log: log, Balances: balance.NewSites(r), HashKey: testKey, Places: mapPlaces{
		netip.MustParseAddr("203.0.113.7"):  {Country: "DE", Latitude: 52.5, Longitude: 13.25, HasPoint: true},
		netip.MustParseAddr("198.51.100.9"): {Country: "FR"},
	}}
	if change != nil {
		change(&cfg)
	}
	in, err := New(cfg, NewMetrics(r))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

var testSite = Site{ID: "site_1"}

var testClient = Client{IP: netip.MustParseAddr("198.51.100.9"), Now: testNow, AnyPast: true}

// row is a stored row by column name, without empty values.
type row = ingesttest.Row

// acceptOne accepts a body with one event and returns the row that is stored for it.
func acceptOne(t testing.TB, body string) row {
	t.Helper()
	log := &ingesttest.MemoryLog{}
	in := newTestIntake(t, log, nil)
	if err := in.Accept(t.Context(), testSite, []byte(body), testClient); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if len(log.Messages) != 1 {
		t.Fatalf("%d messages in the log, want 1", len(log.Messages))
	}
	rows := ingesttest.RowsOf(t, log.Messages[0])
	if len(rows) != 1 {
		t.Fatalf("%d events in the message, want 1", len(rows))
	}
	return rows[0]
}
