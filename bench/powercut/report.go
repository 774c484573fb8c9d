package main

import (
	"fmt"
	"strings"

	"github.com/octavo-docs/octavo/bench/machine"
)

// result is the result of a run.
type result struct {
	machine.Run
	Seed         uint64
	Rate         float64
	Wanted       int
	Lives        int
	Acknowledged int // number of acknowledged events of all installations
	Odd          []string
	Cuts         []cut
}

// last adds the counts of an installation that has ended to the result.
func (r *result) last(l *life) {
	sent := l.load.Count()
	r.Acknowledged += sent.Acknowledged
	r.Odd = append(r.Odd, sent.Odd...)
}

// problems returns the reasons why the run failed, or why its result proves nothing.
func (r *result) problems() (list []string) {
	for i, c := range r.Cuts {
		for _, p := range c.Problems {
			list = append(list, fmt.Sprintf("cut %d (%s): %s", i+1, c.Moment, p))
		}
		if c.Acknowledged == 0 || c.Spaces == 0 || c.DeadLetters == 0 {
			list = append(list, fmt.Sprintf("cut %d (%s): %d events, %d spaces and %d dead letters were acknowledged, so the cut proves nothing about those that are 0", i+1, c.Moment, c.Acknowledged, c.Spaces, c.DeadLetters))
		}
	}
	if len(r.Odd) > 0 {
		list = append(list, "good requests were refused: "+strings.Join(r.Odd, ", "))
	}
	if len(r.Cuts) < r.Wanted {
		list = append(list, fmt.Sprintf("%d of %d cuts were made", len(r.Cuts), r.Wanted))
	}
	return list
}

// text returns the result as Markdown.
func (r *result) text() string {
	var b strings.Builder
	b.WriteString(r.Head("Power cuts under load"))
	fmt.Fprintf(&b, "\nSeed %d. One `octavo serve` with embedded engines on ext4, an open loop of %g events/s\n"+
		"in requests of 1 to 20. A cut loses all data that had not reached the disk.\n"+
		"%d installations, %d cuts, %d events acknowledged.\n\n",
		r.Seed, r.Rate, r.Lives, len(r.Cuts), r.Acknowledged)
	b.WriteString("| cut | moment | acknowledged | rows right after it | stored in the end | spaces | dead letters | " +
		"ready after | wrong |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	for i, c := range r.Cuts {
		wrong := "nothing"
		if len(c.Problems) > 0 {
			wrong = fmt.Sprintf("**%d problems**", len(c.Problems))
		}
		fmt.Fprintf(&b, "| %d | %s | %d | %d | %d | %d | %d | %s | %s |\n", i+1, c.Moment, c.Acknowledged, c.Kept, c.Stored, c.Spaces, c.DeadLetters, c.ReadyAfter, wrong)
	}
	b.WriteString("\nAfter each cut every acknowledged event must be stored once, every request whole or not " +
		"at all,\nevery acknowledged space readable, every acknowledged event that the table refuses a dead letter. " +
		"Acknowledged\n" +
		"requests sent again under their key must store nothing. `octavo reconcile` must find log and table equal.\n")
	if problems := r.problems(); len(problems) > 0 {
		fmt.Fprintf(&b, "\n**Broken**:\n\n- %s\n", strings.Join(problems, "\n- "))
	} else {
		b.WriteString("\n0 lost, 0 doubled.\n")
	}
	return b.String()
}
