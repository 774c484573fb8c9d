package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/bench/witness"
)

// result is the result of a run.
type result struct {
	machine.Run
	Broker  string
	Seed    uint64
	Rate    float64
	Wanted  int
	Faults  map[string]*faultCount
	Sent    witness.Counts
	Catchup string // how long the sinks took to catch up after the faults
	Stuck   string
	Verdict witness.Verdict
	// Log is the result of `octavo reconcile`, which compares the log with the events table.
	Log witness.Reconciled

	requests []witness.Request
}

func (r *result) injected() (n int) {
	for _, f := range r.Faults {
		n += f.Injected
	}
	return n
}

// problems returns the reasons why the run failed, or why its result proves nothing.
func (r *result) problems() (list []string) {
	bad := func(wrong bool, format string, arguments ...any) {
		if wrong {
			list = append(list, fmt.Sprintf(format, arguments...))
		}
	}
	list = r.Verdict.Problems()
	bad(r.Log.Ranges > 0, "the log and the table differ in %d ranges of offsets", r.Log.Ranges)
	bad(r.Log.Removed == 0 && r.Sent.Acknowledged > int(r.Log.Events), "%d events were acknowledged but the log has %d", r.Sent.Acknowledged, r.Log.Events)
	bad(r.Stuck != "", "the sinks did not catch up: %s", r.Stuck)
	bad(len(r.Sent.Odd) > 0, "good requests were refused: %s", strings.Join(r.Sent.Odd, ", "))
	bad(r.Sent.Acknowledged == 0, "nothing was acknowledged, so the run proves nothing")
	bad(r.injected() < r.Wanted, "only %d of %d faults were injected in the time", r.injected(), r.Wanted)
	for _, name := range slices.Sorted(maps.Keys(r.Faults)) {
		bad(r.Wanted >= len(r.Faults) && r.Faults[name].Injected == 0, "no fault %q was injected", name)
	}
	return list
}

// text returns the result as Markdown.
func (r *result) text() string {
	var b strings.Builder
	b.WriteString(r.Head("Faults under load"))
	broker := map[string]string{"embedded": "the embedded broker", "apache": "Apache Kafka", "foreign": "a broker that was running and is not killed"}[r.Broker]
	fmt.Fprintf(&b, "\nSeed %d, %d API nodes and %d sinks on %s, "+
		"an open loop of %g events/s in requests of 1 to 20.\n\n", r.Seed, apiNodes, sinkNodes, broker, r.Rate)
	b.WriteString("| fault | injected | longest until it was over |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(r.Faults)) {
		f := r.Faults[name]
		fmt.Fprintf(&b, "| %s | %d | %.1f s |\n", name, f.Injected, f.Longest.Seconds())
	}
	fmt.Fprintf(&b, "| **all** | **%d** | |\n\n", r.injected())
	s, v := r.Sent, r.Verdict
	b.WriteString("| events | |\n|---|---|\n")
	for _, line := range []struct {
		what string
		n    int
	}{
		{"acknowledged (204)", s.Acknowledged},
		{"refused (4xx)", s.Refused},
		{"failed (5xx: stored as a whole or not at all, once)", s.Failed},
		{"without a response (the same)", s.Unknown},
		{"not sent because nothing listened", s.Unsent},
		{"stored", v.Stored},
		{"**lost**", v.Lost},
		{"**doubled**", v.Doubled},
		{"stored although refused", v.Refused},
		{"stored but never sent", v.Foreign},
		{"requests stored partly", v.Torn},
	} {
		fmt.Fprintf(&b, "| %s | %d |\n", line.what, line.n)
	}
	fmt.Fprintf(&b, "\n%d requests, of which %d carried an Idempotency-Key and %d came through the door for browsers. "+
		"These were repeated %d times.\n"+
		"%d were not sent because %d were open. Responses by status: ",
		s.Requests, s.Keyed, s.Door, s.Retries, s.Held, witness.MaxOpen)
	for i, status := range slices.Sorted(maps.Keys(s.Statuses)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s × %d", status, s.Statuses[status])
	}
	fmt.Fprintf(&b, ".\nAfter the faults the sinks caught up within %s.\n", r.Catchup)
	fmt.Fprintf(&b, "The log against the table (`octavo reconcile`): %d messages, after %d that were "+
		"removed to make space,\n"+
		"%d of them repeats; %d events, %d rows, %d ranges of offsets that differ.\n",
		r.Log.Messages, r.Log.Removed, r.Log.Repeats, r.Log.Events, r.Log.Rows, r.Log.Ranges)
	for _, line := range slices.Concat(v.Examples, r.Log.FirstLines) {
		fmt.Fprintf(&b, "\n- %s", line)
	}
	if problems := r.problems(); len(problems) > 0 {
		fmt.Fprintf(&b, "\n\n**Broken**: %s.\n", strings.Join(problems, "; "))
	}
	return b.String()
}

// save writes the result into bench/results.
func (r *result) save() error {
	name := "-chaos"
	if r.Broker != "embedded" {
		name += "-" + r.Broker
	}
	_, err := r.Save("", name, map[string][]byte{".md": []byte(r.text())})
	return err
}
