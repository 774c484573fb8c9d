package ingest

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/schema/insights"
)

func TestCountEvents(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		``:                                    0,
		`[]`:                                  0,
		`{"events":[]}`:                       0,
		`{"events":null}`:                     0,
		`{"a":{"events":[1]},"events":[1,2]}`: 2,
		`{"events":[{"a":[1,2]},{},3]}`:       3,
		`{"events":[{},{},`:                   3,
		`{"events":[{},{"a":}]}`:              2,
		`{"events":[{}],"b":`:                 1,
	} {
		if got := countEvents([]byte(body)); got != want {
			t.Errorf("%s: %d events, want %d", body, got, want)
		}
	}
}

// A refused request counts with all of its events, not only the bad one.
func TestRefusedEventsAreCounted(t *testing.T) {
	t.Parallel()
	m := NewMetrics(prometheus.NewRegistry())
	m.refuse(newAccounts().of("site_1"), insights.MissingField, countEvents([]byte(`{"events":[{},{},{}]}`)))
	if got := testutil.ToFloat64(m.refused[insights.MissingField].events); got != 3 {
		t.Errorf("%v events are counted, want 3", got)
	}
}
