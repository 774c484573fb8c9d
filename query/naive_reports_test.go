package query

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	naiveTransitions struct {
		Range naiveRange        `json:"range"`
		Zone  string            `json:"timezone,omitempty"`
		Where []naiveFilter     `json:"where,omitempty"`
		Page  map[string]string `json:"page"`
		Limit int               `json:"limit,omitempty"`
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

// selected returns the events of a range that meet the conditions, grouped by the result of `who`. They are ordered by
// time, and by the order of sending within the same time.
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

// funnel answers a request for a funnel. It tries each event as the first step. Then it takes the earliest event that
// matches each next step.
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

// transitions answers a request for transitions. It looks at each pair of consecutive views in each session.
func (n *naive) transitions(events []insights.Event, r naiveTransitions) map[string]any {
	n = n.in(events, r.Zone, r.Range)
	bySession := func(e *insights.Event) naiveVisit { return naiveVisit{e.Visitor, e.Session} }
	is := func(e *insights.Event) bool {
		if path, ok := r.Page["path"]; ok {
			return n.pathOf(e) == strings.TrimSuffix(path, "/") || path == "/" && n.pathOf(e) == path
		}
		return e.Space == r.Page["space"] && e.Page == r.Page["page"]
	}
	numbers, rows := map[string]int64{}, map[string]map[[3]string][]*insights.Event{"from": {}, "to": {}}
	step := func(member string, e *insights.Event) {
		id, _ := n.pageOf(e)
		rows[member][id] = append(rows[member][id], e)
	}
	place := map[*insights.Event]int{}
	for i := range events {
		place[&events[i]] = i
	}
	viewed := map[*insights.Event]int{}
	for _, list := range n.selected(events, r.Range, r.Where, bySession) {
		list = slices.DeleteFunc(list, func(e *insights.Event) bool {
			_, ok := n.pageOf(e)
			return !ok || insights.EventTypes.Word(e.Type) != "page_view"
		})
		for i, e := range list {
			viewed[e] = place[e]
			if !is(e) {
				continue
			}
			numbers["views"]++
			switch {
			case i == 0:
				numbers["entries"]++
			case is(list[i-1]):
				numbers["reloads"]++
			default:
				step("from", list[i-1])
			}
			switch {
			case i == len(list)-1:
				numbers["exits"]++
			case !is(list[i+1]):
				step("to", list[i+1])
			}
		}
	}
	answer, shown := map[string]any{}, map[string][][3]string{}
	for _, member := range []string{"views", "entries", "exits", "reloads"} {
		answer[member] = count(numbers[member])
	}
	sent := func(a, b *insights.Event) int {
		return cmp.Or(cmp.Compare(a.TimeMillis, b.TimeMillis), cmp.Compare(viewed[a], viewed[b]))
	}
	moments := map[int64]bool{}
	for member, pages := range rows {
		ids := slices.SortedFunc(maps.Keys(pages), func(a, b [3]string) int {
			return cmp.Or(cmp.Compare(len(pages[b]), len(pages[a])),
				-sent(slices.MaxFunc(pages[a], sent), slices.MaxFunc(pages[b], sent)))
		})
		shown[member] = ids[:min(len(ids), cmp.Or(r.Limit, 10))]
		for _, id := range shown[member] {
			moments[slices.MinFunc(pages[id], sent).TimeMillis] = true
			moments[slices.MaxFunc(pages[id], sent).TimeMillis] = true
		}
	}
	named := map[[3]string]*insights.Event{} // the last view of each page at one of the moments
	for e := range viewed {
		id, _ := n.pageOf(e)
		if moments[e.TimeMillis] && (named[id] == nil || sent(e, named[id]) > 0) {
			named[id] = e
		}
	}
	for member, ids := range shown {
		list := []any{}
		for _, id := range ids {
			list = append(list, map[string]any{
				"space": textOrNull(id[0]), "page": textOrNull(id[1]), "path": n.pathOf(named[id]),
				"title": textOrNull(named[id].Title), "views": count(int64(len(rows[member][id]))),
			})
		}
		answer[member] = list
	}
	return answer
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// retention returns the cohorts. `ok` is false if there are too many buckets.
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
