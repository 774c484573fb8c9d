// Package intaketest builds intakes for tests of packages that read the log. It also returns the log messages that an
// intake writes for a request.
package intaketest

import (
	"net/netip"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake"
)

// Site is the site of every test's requests.
var Site = intake.Site{ID: "site_1"}

// Client is the sender of every test's requests. All requests arrive at the same fixed time.
var Client = intake.Client{IP: netip.MustParseAddr("198.51.100.9"), Now: time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC), AnyPast: true}

// New builds an intake.
func New(t testing.TB, log intake.Appender) *intake.Intake {
	t.Helper()
	r := prometheus.NewRegistry()
	in, err := intake.New(intake.Config{
		Log: log, Balances: balance.NewSites(r), HashKey: [16]byte{1}, MaxFuture: 10_000 * time.Hour,
	}, intake.NewMetrics(r))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Messages returns the log messages that an intake writes for requests.
func Messages(t testing.TB, bodies ...[]byte) [][]byte {
	t.Helper()
	log := &ingesttest.MemoryLog{}
	in := New(t, log)
	for _, body := range bodies {
		if err := in.Accept(t.Context(), Site, body, Client); err != nil {
			t.Fatal(err)
		}
	}
	return log.Messages
}
