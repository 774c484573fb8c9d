package query

import (
	"encoding/json"
	"strings"

	"github.com/octavo-docs/octavo/schema/insights"
)

// tellsAssigned reports whether an answer must report that nodes assigned some of its sessions, and whether it may
// report this. It must report this if it is about sessions and a browser sent one of the selected events. It may report
// this if it is about sessions and a browser sent any event in a range of the request.
func (n *naive) tellsAssigned(events []insights.Event, r naiveRequest) (must, may bool) {
	groups := inferredKeys(r.GroupBy, r.Select)
	for _, k := range outputKeys(r) {
		if !k.metric() {
			groups = append(groups, k)
		}
	}
	sent := r
	if len(groups) == 0 {
		sent.Order = nil // a single row
	}
	body, _ := json.Marshal(sent)
	tells := false
	for _, name := range []string{
		"sessionsCount", "bounceRate", "sessionDuration", "pagesPerSession", "entryPage", "exitPage",
	} {
		tells = tells || strings.Contains(string(body), `"column":"`+name+`"`)
	}
	if !tells {
		return false, false
	}
	browser := func(e *insights.Event) bool {
		door := insights.EventDoors.Word(e.Door)
		return door == "key" || door == "pixel"
	}
	ranges := []naiveRange{r.Range}
	if r.Compare != nil {
		ranges = append(ranges, *r.Compare)
	}
	for _, in := range ranges {
		n := &naive{cells: n.cells, zone: naiveZone(r.Zone), buckets: n.buckets, week: naiveWeek(r.Week)}
		n.sessions = n.sessionsOf(events, in)
		whole := naiveRequest{Range: in}
		n.combine(events, whole, nil, func(_ []naiveValue, e *insights.Event) { may = may || browser(e) })
		whole.Where = r.Where
		n.combine(events, whole, groups, func(_ []naiveValue, e *insights.Event) { must = must || browser(e) })
	}
	return must, may
}
