package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/intake"
	"github.com/octavo-docs/octavo/schema"
)

type countingLog struct{ appended int }

func (l *countingLog) Append(context.Context, string, int, []byte) error {
	l.appended++
	return nil
}

// TestSiteKeyMaxPast checks that the adapter tells the intake whether the caller may import old events. A refusal must
// name the event's index and field.
func TestSiteKeyMaxPast(t *testing.T) {
	t.Parallel()
	log := &countingLog{}
	registry := prometheus.NewRegistry()
	in, err := intake.New(intake.Config{Log: log, Balances: balance.NewSites(registry), HashKey: [16]byte{1}, MaxPast: time.Hour}, intake.NewMetrics(registry))
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(`{"events":[
		{"type":"page_view","session":{"visitorId":"v","sessionId":"s"},"location":{"url":"https://d.example/"}},
		{"type":"page_view","session":{"visitorId":"v","sessionId":"s"},"location":{"url":"https://d.example/"},"timestamp":"2020-01-01T00:00:00Z"}]}`)
	from := schema.ClientInfo{Now: time.Now()}
	_, err = eventIntake{in}.Accept(t.Context(), schema.EventSite{SiteID: "site_a"}, body, from)
	refused, ok := errors.AsType[*schema.Error](err)
	if !ok || refused.Code != 400 || len(refused.Details) != 1 || refused.Details[0].Field != "events[1].timestamp" || log.appended != 0 {
		t.Errorf("%+v, %d appended; want a 400 that names events[1].timestamp, and nothing", err, log.appended)
	}
	from.AnyPast = true
	if _, err := (eventIntake{in}).Accept(t.Context(), schema.EventSite{SiteID: "site_a"}, body, from); err != nil || log.appended != 1 {
		t.Errorf("an import: %v, %d appended", err, log.appended)
	}
}

// TestUnknownTypesAlone checks that the adapter refuses only the events of unknown types if the caller sets KnownTypes.
// Otherwise it must refuse the whole body.
func TestUnknownTypesAlone(t *testing.T) {
	t.Parallel()
	log := &countingLog{}
	registry := prometheus.NewRegistry()
	in, err := intake.New(intake.Config{Log: log, Balances: balance.NewSites(registry), HashKey: [16]byte{1}}, intake.NewMetrics(registry))
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(`{"events":[{"type":"new"},` + pageView("v") + `]}`)
	from := schema.ClientInfo{Now: time.Now()}
	if unknown, err := (eventIntake{in}).Accept(t.Context(), schema.EventSite{SiteID: "site_a"}, body, from); !schema.IsCode(err, 400) || unknown != 0 || log.appended != 0 {
		t.Errorf("%d, %v, %d appended", unknown, err, log.appended)
	}
	from.KnownTypes = true
	if unknown, err := (eventIntake{in}).Accept(t.Context(), schema.EventSite{SiteID: "site_a"}, body, from); err != nil || unknown != 1 || log.appended != 1 {
		t.Errorf("%d, %v, %d appended", unknown, err, log.appended)
	}
}
