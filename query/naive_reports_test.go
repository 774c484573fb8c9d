package query

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// These are the requests for funnels and retentions that the naive evaluator answers.
type (
	naiveFunnel struct {
		Range  naiveRange    `json:"range"`
		Zone   string        `json:"timezone,omitempty"`
		Where  []naiveFilter `json:"where,omitempty"`
		Steps  []naiveStep   `json:"steps"`
		Window int           `json:"window,omitempty"`
		By     string        `json:"by,omitempty"`
		Strict *bool         `json:"strictIncrease,omitempty"`
	}
	naiveRetention struct {
		Range    naiveRange    `json:"range"`
		Zone     string        `json:"timezone,omitempty"`
		Where    []naiveFilter `json:"where,omitempty"`
		Interval string        `json:"interval,omitempty"`
		First    *naiveStep    `json:"first,omitempty"`
		Return   *naiveStep    `json:"return,omitempty"`
		Periods  *int          `json:"periods,omitempty"`
		Week     string        `json:"weekStart,omitempty"`
	}
	naiveStep struct {
		Where []naiveFilter `json:"where,omitempty"`
	}
)

// in returns the evaluator for a range and a zone.
func (n *naive) in(events []insights.Event, zone string, r naiveRange) *naive {
	n = &naive{cells: n.cells, zone: naiveZone(zone), buckets: n.buckets}
	n.sessions = n.sessionsOf(events, r)
	return n
}

// selected returns the events of a range that meet the conditions, grouped by who. They are ordered by time, and by the
// order of sending within the same time.
func (n *naive) selected(events []insights.Event, r naiveRange, where []naiveFilter, who func(*insights.Event) naiveVisit) map[naiveVisit][]*insights.Event {
	by := map[naiveVisit][]*insights.Event{}
	for i := range events {
		e := &events[i]
		if t := n.time(e); !t.Before(r.From) && t.Before(r.To) && n.meets(e, where) {
			by[who(e)] = append(by[who(e)], e)
		}
	}
	for _, list := range by {
		slices.SortStableFunc(list, func(a, b *insights.Event) int { return cmp.Compare(a.TimeMillis, b.TimeMillis) })
	}
	return by
}

func (n *naive) meets(e *insights.Event, where []naiveFilter) bool {
	return naiveAll(where, func(f naiveFilter) bool { return n.matches(e, f) })
}

// funnel tries each event as the first step. Then it takes the earliest event that matches each next step.
func (n *naive) funnel(events []insights.Event, f naiveFunnel) []any {
	n = n.in(events, f.Zone, f.Range)
	window := cmp.Or(int64(f.Window), 14*86400) * 1000
	counts := make([]int64, len(f.Steps))
	for _, list := range n.selected(events, f.Range, f.Where, func(e *insights.Event) naiveVisit {
		if f.By == "session" {
			return naiveVisit{e.Visitor, e.Session}
		}
		return naiveVisit{visitor: e.Visitor}
	}) {
		furthest := 0
		for i, first := range list {
			at, reached := int64(-1), 0
			for _, e := range list[i:] {
				if e.TimeMillis <= first.TimeMillis+window && (e.TimeMillis > at || f.Strict != nil && !*f.Strict) &&
					reached < len(f.Steps) && n.meets(e, f.Steps[reached].Where) {
					at, reached = e.TimeMillis, reached+1
				}
				if reached == 0 {
					break // the event does not match the first step
				}
			}
			furthest = max(furthest, reached)
		}
		for i := range furthest {
			counts[i]++
		}
	}
	share := func(part, whole int64) any {
		if whole == 0 {
			return nil
		}
		return float64(part) / float64(whole)
	}
	steps := []any{}
	for i, c := range counts {
		steps = append(steps, map[string]any{"count": count(c), "conversion": share(c, counts[0]), "conversionFromPrevious": share(c, counts[max(i-1, 0)])})
	}
	return steps
}

// retention returns the cohorts. ok is false if there are too many buckets.
func (n *naive) retention(events []insights.Event, r naiveRetention) (cohorts []any, ok bool) {
	length := r.Range.To.Sub(r.Range.From)
	if length > 100*365*24*time.Hour || r.Interval == "minute" && length > 401*time.Minute {
		return nil, false
	}
	n = n.in(events, r.Zone, r.Range)
	n.week = naiveWeek(r.Week)
	interval := cmp.Or(r.Interval, "day")
	starts := n.bucketsOf(naiveRequest{Range: r.Range}, interval)
	if len(starts) > 400 {
		return nil, false
	}
	number := func(e *insights.Event) int {
		key := n.bucket(e.TimeMillis, interval).key
		return slices.IndexFunc(starts, func(v naiveValue) bool { return compareKeys(v.key, key) == 0 })
	}
	periods := 12
	if r.Periods != nil {
		periods = *r.Periods
	}
	var first, again naiveStep
	if r.First != nil {
		first = *r.First
	}
	if r.Return != nil {
		again = *r.Return
	}
	visitors := make([]int64, len(starts))
	returned := make([][]int64, len(starts))
	for i := range starts {
		returned[i] = make([]int64, min(periods+1, len(starts)-i))
	}
	for _, list := range n.selected(events, r.Range, r.Where, func(e *insights.Event) naiveVisit { return naiveVisit{visitor: e.Visitor} }) {
		at := slices.IndexFunc(list, func(e *insights.Event) bool { return n.meets(e, first.Where) })
		if at < 0 {
			continue
		}
		cohort := number(list[at])
		visitors[cohort]++
		seen := map[int]bool{}
		for _, e := range list {
			k := number(e) - cohort
			if n.meets(e, again.Where) && !seen[k] && k >= 0 && k < len(returned[cohort]) {
				seen[k] = true
				returned[cohort][k]++
			}
		}
	}
	cohorts = []any{}
	for i, start := range starts {
		numbers := []any{}
		for _, c := range returned[i] {
			numbers = append(numbers, json.Number(fmt.Sprint(c)))
		}
		cohorts = append(cohorts, map[string]any{"start": start.json, "visitors": count(visitors[i]), "returned": numbers})
	}
	return cohorts, true
}
