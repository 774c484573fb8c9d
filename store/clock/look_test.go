package clock

import (
	"testing"
	"time"
)

const day = 24 * time.Hour

// TestLooks checks the state after each look of several series.
func TestLooks(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	// step is one look. Usually all clocks show the time `at`. If `others` is set, all clocks except Postgres's clock
	// show the time `others`.
	type step struct {
		at     time.Duration // time of Postgres's clock, relative to start
		others *time.Duration
		newest time.Duration // age of the newest event at the start; 0 means that there is no event
		node   string        // name of the node that looks; "" means node a
		ran    time.Duration
		doubt  Doubt
		seen   time.Duration
		left   time.Duration
	}
	zero := new(time.Duration)
	for name, steps := range map[string][]step{
		"a new installation":                 {{at: 0, seen: 0}, {at: time.Minute, seen: time.Minute}},
		"a new installation in a wrong year": {{at: 400 * day, seen: 400 * day}},
		"an upgrade":                         {{at: 0, newest: -day, seen: 0}},
		"an upgrade in a wrong year": {
			{at: 400 * day, newest: -time.Hour, doubt: Ahead, seen: -time.Hour, left: day},
			{at: 400*day + time.Minute, ran: time.Minute, doubt: Ahead, seen: -time.Hour, left: day - time.Minute},
		},
		"only Postgres is ahead": {{at: 400 * day, others: zero, doubt: Ahead, seen: 0, left: day}},
		"a pause of two days":    {{at: 0, seen: 0}, {at: 2 * day, seen: 2 * day}},
		"a step, set right": {
			{at: 0, seen: 0},
			{at: 400 * day, ran: time.Minute, doubt: Ahead, seen: 0, left: day},
			{at: 400*day + time.Minute, ran: time.Minute, doubt: Ahead, seen: 0, left: day - time.Minute},
			{at: 3 * time.Minute, ran: time.Minute, seen: 3 * time.Minute},
			{at: 400 * day, ran: time.Minute, doubt: Ahead, seen: 3 * time.Minute, left: day},
		},
		"a day of running": {
			{at: 0, seen: 0},
			{at: 3 * day, doubt: Ahead, seen: 0, left: day},
			{at: 3*day + 12*time.Hour, ran: 12 * time.Hour, doubt: Ahead, seen: 0, left: day / 2},
			// the restarted node counts the remaining half day
			{at: 3*day + 12*time.Hour, node: "restarted", doubt: Ahead, seen: 0, left: day / 2},
			{at: 4 * day, node: "restarted", ran: 12 * time.Hour, seen: 4 * day},
		},
		"two nodes run at once": {
			{at: 0, seen: 0},
			{at: 3 * day, doubt: Ahead, seen: 0, left: day},
			{at: 3 * day, node: "b", doubt: Ahead, seen: 0, left: day},
			{at: 3*day + time.Minute, ran: time.Minute, doubt: Ahead, seen: 0, left: day - time.Minute},
			{at: 3*day + time.Minute, node: "b", ran: time.Minute, doubt: Ahead, seen: 0, left: day - time.Minute},
			{at: 3*day + 2*time.Minute, ran: time.Minute, doubt: Ahead, seen: 0, left: day - 2*time.Minute},
		},
		"back": {
			{at: 0, seen: 0},
			{at: -time.Hour, seen: 0},
			{at: -400 * day, doubt: Behind, seen: 0, left: day},
			{at: -399 * day, ran: day, seen: -399 * day},
		},
		"ahead, then behind": {
			{at: 0, seen: 0},
			{at: 400 * day, doubt: Ahead, seen: 0, left: day},
			{at: 400 * day, ran: 23 * time.Hour, doubt: Ahead, seen: 0, left: time.Hour},
			{at: -400 * day, ran: 23 * time.Hour, doubt: Behind, seen: 0, left: day},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s State
			lastRan := map[string]time.Duration{}
			for i, step := range steps {
				if step.node == "" {
					step.node = "a"
				}
				others := step.at
				if step.others != nil {
					others = *step.others
				}
				l := Look{
					Node: step.node, Clocks: []time.Time{start.Add(others)}, Ran: step.ran, LastRan: lastRan[step.node],
				}
				if step.newest != 0 {
					l.Newest = start.Add(step.newest)
				}
				s.Now = start.Add(step.at)
				s = s.after(l)
				lastRan[step.node] = s.Ran
				if s.Doubt != step.doubt || !s.Seen.Equal(start.Add(step.seen)) || s.Left() != step.left ||
					s.Held() != (step.doubt == Ahead) {
					t.Fatalf("look %d: %+v, left %s, want %+v", i+1, s, s.Left(), step)
				}
			}
		})
	}
}
