package intake

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// at returns a page view with a timestamp.
func at(when time.Time) string {
	return ingesttest.Event("page_view", fmt.Sprintf("%q:%q", "timestamp", when.Format("2006-01-02T15:04:05.000Z07:00")))
}

// TestMaxPast checks that an event exactly at the age limit is accepted, and that an event one millisecond older is
// refused. The refusal must name the event and the field. Imports have no limit.
func TestMaxPast(t *testing.T) {
	t.Parallel()
	const bound = 30 * 24 * time.Hour
	visitor := testClient
	visitor.AnyPast = false
	for _, c := range []struct {
		name   string
		client Client
		max    time.Duration // 0 means the default
		list   []string
		field  string // "" means that the events are accepted
	}{
		{"now", visitor, 0, []string{ingesttest.Event("page_view", "")}, ""},
		{"at the bound", visitor, 0, []string{at(testNow.Add(-bound))}, ""},
		{"a millisecond older", visitor, 0, []string{at(testNow.Add(-bound - time.Millisecond))}, "events[0].timestamp"},
		{"one of several", visitor, 0, []string{at(testNow), ingesttest.Event("page_view", ""), at(testNow.Add(-bound * 2)), at(testNow)}, "events[2].timestamp"},
		{"in 1970", visitor, 0, []string{at(time.UnixMilli(0).UTC())}, "events[0].timestamp"},
		{"with an offset", visitor, 0, []string{at(testNow.Add(-bound).In(time.FixedZone("", -7*3600)))}, ""},
		{"an import", testClient, 0, []string{at(time.UnixMilli(0).UTC()), at(testNow.Add(-bound * 2))}, ""},
		{"at another bound", visitor, time.Hour, []string{at(testNow.Add(-time.Hour))}, ""},
		{"older than another bound", visitor, time.Hour, []string{at(testNow.Add(-time.Hour - time.Millisecond))}, "events[0].timestamp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := &ingesttest.MemoryLog{}
			in := newTestIntake(t, log, func(cfg *Config) { cfg.MaxPast = c.max })
			err := in.Accept(t.Context(), testSite, []byte(ingesttest.Events(c.list...)), c.client)
			if c.field == "" {
				if err != nil || len(log.Messages) != 1 {
					t.Errorf("%s: %v, %d messages", c.name, err, len(log.Messages))
				}
				return
			}
			refused, ok := errors.AsType[*insights.Refusal](err)
			if !ok || refused.Reason != insights.TooOld || refused.Field != c.field || len(log.Messages) != 0 {
				t.Errorf("%s: %v, %d messages; want %s of %s and none", c.name, err, len(log.Messages), insights.TooOld.Label, c.field)
			}
		})
	}
	in := newTestIntake(t, &ingesttest.MemoryLog{}, nil)
	err := in.Accept(t.Context(), testSite, []byte(ingesttest.Events(at(testNow.Add(-bound*2)))), visitor)
	if err == nil || !strings.Contains(err.Error(), "30 days") || !strings.Contains(err.Error(), "user's token") {
		t.Errorf("%v does not name the bound and the way around it", err)
	}
}

// TestMaxPastProperty checks requests with events of random ages. The refusal must name the first event that is too
// old. A request without such an event must be accepted.
func TestMaxPastProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bound := time.Duration(rapid.Int64Range(1, 4000).Draw(t, "bound hours")) * time.Hour
		visitor := testClient
		visitor.AnyPast = rapid.Bool().Draw(t, "import")
		first, list := -1, []string{}
		for i, past := range rapid.SliceOfN(rapid.Int64Range(-2, 2), 1, 20).Draw(t, "milliseconds beyond the bound") {
			list = append(list, at(testNow.Add(-bound-time.Duration(past)*time.Millisecond)))
			if past > 0 && first < 0 && !visitor.AnyPast {
				first = i
			}
		}
		log := &ingesttest.MemoryLog{}
		r := prometheus.NewRegistry()
		in, err := New(Config{Log: log, Balances: balance.NewSites(r), HashKey: testKey, MaxPast: bound}, NewMetrics(r))
		if err != nil {
			t.Fatal(err)
		}
		err = in.Accept(t.Context(), testSite, []byte(ingesttest.Events(list...)), visitor)
		switch refused, _ := errors.AsType[*insights.Refusal](err); {
		case first < 0 && (err != nil || len(ingesttest.RowsOf(t, log.Messages[0])) != len(list)):
			t.Fatalf("%v: the request was not taken whole", err)
		case first >= 0 && (refused == nil || refused.Reason != insights.TooOld || refused.Index != first || len(log.Messages) > 0):
			t.Fatalf("%v, %d messages: event %d is the first too old", err, len(log.Messages), first)
		}
	})
}

// TestReceivedSecond checks that rows have the time at which their message arrived, in whole seconds. The table is
// partitioned by the month of this time, and erasures compare this time.
func TestReceivedSecond(t *testing.T) {
	t.Parallel()
	log := &ingesttest.MemoryLog{}
	if err := newTestIntake(t, log, nil).Accept(t.Context(), testSite, []byte(ingesttest.Events(at(time.UnixMilli(0).UTC()))), testClient); err != nil {
		t.Fatal(err)
	}
	m, err := insights.ParseMessage(log.Messages[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range insights.InsertColumns() {
		if want := testNow.Unix(); name == insights.ColumnReceived &&
			ingesttest.BatchOf(t, m, 0, nil).Values()[i].([]int64)[0] != want {
			t.Errorf("%v, want %d", ingesttest.BatchOf(t, m, 0, nil).Values()[i], want)
		}
	}
}
