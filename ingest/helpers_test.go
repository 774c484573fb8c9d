package ingest

import (
	"bytes"
	"context"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/schema/insights"
)

// testNow is when every request of these tests arrives.
var testNow = time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)

var testKey = [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

func testMetrics() *Metrics { return NewMetrics(prometheus.NewRegistry()) }

// memoryLog keeps copies of what is appended.
type memoryLog struct {
	mu       sync.Mutex
	messages [][]byte
	err      error
}

func (l *memoryLog) Append(_ context.Context, _ string, _ int, message []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	l.messages = append(l.messages, bytes.Clone(message))
	return nil
}

// discardLog takes everything and keeps nothing.
type discardLog struct{}

func (discardLog) Append(context.Context, string, int, []byte) error { return nil }

// mapPlaces knows a few addresses.
type mapPlaces map[netip.Addr]Place

func (m mapPlaces) Locate(ip netip.Addr) (Place, bool) {
	p, ok := m[ip]
	return p, ok
}

func newTestIntake(t testing.TB, log Appender, change func(*IntakeConfig)) *Intake {
	t.Helper()
	cfg := IntakeConfig{Log: log, HashKey: testKey, Places: mapPlaces{
		netip.MustParseAddr("203.0.113.7"):  {Country: "DE", Latitude: 52.5, Longitude: 13.25, HasPoint: true},
		netip.MustParseAddr("198.51.100.9"): {Country: "FR"},
	}}
	if change != nil {
		change(&cfg)
	}
	in, err := New(cfg, testMetrics())
	if err != nil {
		t.Fatal(err)
	}
	return in
}

var testSite = Site{ID: "site_1"}

var testClient = Client{IP: netip.MustParseAddr("198.51.100.9"), Now: testNow, AnyPast: true}

// row is a stored row by column name, without what is empty.
type row map[string]any

// rowsOf reads a log message as the sink does.
func rowsOf(t interface {
	Helper()
	Fatal(...any)
}, message []byte) []row {
	t.Helper()
	m, err := insights.ParseMessage(message)
	if err != nil {
		t.Fatal(err)
	}
	b := insights.NewBatch()
	if err := b.Add(m, insights.Position{}, nil); err != nil {
		t.Fatal(err)
	}
	list := make([]row, b.Rows())
	names := insights.InsertColumns()
	for i := range list {
		list[i] = row{}
		for c, values := range b.Values() {
			v := reflect.ValueOf(values).Index(i)
			if names[c] == insights.ColumnReceived { // of the message, not of the event: TestReceivedDay
				continue
			}
			if !v.IsZero() && (v.Kind() != reflect.Float32 || v.Float() == v.Float()) {
				list[i][names[c]] = v.Interface()
			}
		}
	}
	return list
}

// acceptOne takes a body with one event in and returns the row it becomes.
func acceptOne(t testing.TB, body string) row {
	t.Helper()
	log := &memoryLog{}
	in := newTestIntake(t, log, nil)
	if err := in.Accept(t.Context(), testSite, []byte(body), testClient); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if len(log.messages) != 1 {
		t.Fatalf("%d messages in the log, want 1", len(log.messages))
	}
	rows := rowsOf(t, log.messages[0])
	if len(rows) != 1 {
		t.Fatalf("%d events in the message, want 1", len(rows))
	}
	return rows[0]
}

// event makes a valid event with extra members.
func event(kind, extra string) string {
	if extra != "" {
		extra = "," + extra
	}
	return `{"type":"` + kind + `","session":{"visitorId":"v","sessionId":"s"},"location":{"url":"https://d.example/p"}` + extra + `}`
}

func events(list ...string) string {
	return `{"events":[` + strings.Join(list, ",") + "]}"
}
