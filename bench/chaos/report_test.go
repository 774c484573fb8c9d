package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/bench/witness"
)

// TestResultSaysWhatIsBroken checks that each broken promise makes the run fail, and that the text of the result
// mentions it.
func TestResultSaysWhatIsBroken(t *testing.T) {
	t.Parallel()
	good := func() *result {
		return &result{
			Run:    machine.Run{Date: "2026-11-21T10:00:00Z"},
			Broker: "embedded", Wanted: 1,
			Faults: map[string]*faultCount{"api killed": {Injected: 1}},
			Sent:   witness.Counts{Acknowledged: 1},
			Log:    witness.Reconciled{Events: 1},
		}
	}
	if problems := good().problems(); len(problems) > 0 {
		t.Errorf("a good run has %v", problems)
	}
	for want, spoil := range map[string]func(*result){
		"the log and the table differ in 1 ranges of offsets": func(r *result) { r.Log.Ranges = 1 },
		"1 events were acknowledged but the log has 0":        func(r *result) { r.Log.Events = 0 },
		"1 acknowledged events are lost":                      func(r *result) { r.Verdict.Lost = 1 },
		"2 events are stored more than once":                  func(r *result) { r.Verdict.Doubled = 2 },
		"1 requests are partly stored":                        func(r *result) { r.Verdict.Torn = 1 },
		"1 events are stored although they were refused":      func(r *result) { r.Verdict.Refused = 1 },
		"1 stored events were never sent":                     func(r *result) { r.Verdict.Foreign = 1 },
		"the sinks did not catch up: slow":                    func(r *result) { r.Stuck = "slow" },
		"good requests were refused: 400 no":                  func(r *result) { r.Sent.Odd = []string{"400 no"} },
		"nothing was acknowledged, so the run proves nothing": func(r *result) { r.Sent.Acknowledged = 0 },
		"only 1 of 2 faults were injected in the time":        func(r *result) { r.Wanted = 2 },
	} {
		r := good()
		spoil(r)
		if problems := r.problems(); !slices.Equal(problems, []string{want}) || !strings.Contains(r.text(), want) {
			t.Errorf("got %v, want %s", problems, want)
		}
	}
}
