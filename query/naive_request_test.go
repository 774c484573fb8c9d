package query

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// These are the requests that the naive evaluator answers, in the form in which they are sent.
type (
	naiveRequest struct {
		Select  []naiveRef    `json:"select,omitempty"`
		Where   []naiveFilter `json:"where,omitempty"`
		GroupBy []naiveRef    `json:"groupBy,omitempty"`
		Order   *naiveOrder   `json:"order,omitempty"`
		Range   naiveRange    `json:"range"`
		Limit   int           `json:"limit,omitempty"`
		Zone    string        `json:"timezone,omitempty"`
		Cursor  *string       `json:"cursor,omitempty"`
		Fill    bool          `json:"fill,omitempty"`
		Compare *naiveRange   `json:"compare,omitempty"`
		Week    string        `json:"weekStart,omitempty"`
		Others  bool          `json:"others,omitempty"`
		Count   bool          `json:"count,omitempty"`
	}
	naiveRef struct {
		Column    string `json:"column"`
		Interval  string `json:"interval,omitempty"`
		Precision *int   `json:"precision,omitempty"`
		Claim     string `json:"claim,omitempty"`
	}
	naiveFilter struct {
		Column   string        `json:"column,omitempty"`
		Operator string        `json:"operator,omitempty"`
		Claim    string        `json:"claim,omitempty"`
		Values   []any         `json:"values,omitzero"`
		Or       []naiveFilter `json:"or,omitzero"`  // instead of column
		And      []naiveFilter `json:"and,omitzero"` // instead of column
	}
	naiveOrder struct {
		By        naiveRef `json:"by"`
		Direction string   `json:"direction"`
	}
	naiveRange struct {
		From, To time.Time
		words    any // the range's form in the request; nil for two times
	}
)

// MarshalJSON writes the range in the form of a request.
func (r naiveRange) MarshalJSON() ([]byte, error) {
	if r.words != nil {
		return json.Marshal(r.words)
	}
	return json.Marshal(map[string]time.Time{"from": r.From, "to": r.To})
}

// naiveKey is the reference as a comparable value: its name and extra.
type naiveKey struct{ column, extra string }

func (r naiveRef) key() naiveKey {
	k := naiveKey{r.Column, r.Interval + r.Claim}
	if r.Precision != nil {
		k.extra = fmt.Sprint(*r.Precision)
	} else if r.Column == "visitorGeoPoint" {
		k.extra = "5"
	}
	return k
}

func (k naiveKey) metric() bool { return naiveMetrics[k.column] != nil }

// inferredKeys returns the keys of a list of references. A reference without an interval or precision takes it from the
// only reference to the same column in `others`.
func inferredKeys(list, others []naiveRef) []naiveKey {
	var keys []naiveKey
	for _, r := range list {
		k := r.key()
		if o := distinctKeys(others, r.Column); r.infers() && len(o) == 1 && len(distinctKeys(list, r.Column)) == 1 {
			k = o[0]
		}
		keys = append(keys, k)
	}
	return keys
}

// outputKeys returns the keys of `select`. If `groupBy` has columns but no time, an exact time is the last time of its
// group.
func outputKeys(r naiveRequest) []naiveKey {
	keys := inferredKeys(r.Select, r.GroupBy)
	if len(r.GroupBy) == 0 || slices.ContainsFunc(r.GroupBy, isTimeRef) {
		return keys
	}
	for i, k := range keys {
		if k == (naiveKey{column: "datetime"}) {
			keys[i] = naiveLast
		}
	}
	return keys
}

// naiveLast is the key of the time of a group's last event.
var naiveLast = naiveKey{column: "last datetime"}

// naiveRefusal returns the beginning of the error message for an unanswerable request, and "" for other requests. An
// unanswerable request names a column without an extra, and also the same column with several extras. Or it has null in
// a filter on a column for which the contract has no word for an absent value.
func naiveRefusal(r naiveRequest) string {
	for _, side := range []struct {
		name         string
		list, others []naiveRef
	}{{"groupBy", r.GroupBy, r.Select}, {"select", r.Select, r.GroupBy}} {
		for i, ref := range side.list {
			keys := distinctKeys(side.others, ref.Column)
			if ref.infers() && len(keys) > 1 && !slices.Contains(keys, ref.key()) {
				return fmt.Sprintf("%s[%d].%s is required", side.name, i, map[string]string{"datetime": "interval", "visitorGeoPoint": "precision"}[ref.Column])
			}
		}
	}
	for _, side := range []struct {
		name string
		list []naiveRef
	}{{"groupBy", r.GroupBy}, {"select", r.Select}} {
		for i, ref := range side.list {
			if ref.Interval == "minute" && !naiveWithinDay(r) {
				return fmt.Sprintf("%s[%d].interval needs a range of at most 24 hours", side.name, i)
			}
		}
	}
	if refusal := naiveFilterRefusal("where", r.Where); refusal != "" {
		return refusal
	}
	if r.Others && (r.Fill || r.Cursor != nil || len(onMetrics(r.Where, true)) > 0) {
		return "others cannot stand with"
	}
	if !r.Fill && r.Compare == nil {
		return ""
	}
	intervals := map[string]bool{} // intervals of the groups of time
	for _, k := range slices.Concat(inferredKeys(r.GroupBy, r.Select), outputKeys(r)) {
		if k.column == "datetime" {
			intervals[k.extra] = true
		}
	}
	years := r.Range.To.Sub(r.Range.From) > 100*365*24*time.Hour
	switch {
	case r.Fill && (len(intervals) != 1 || intervals[""]):
		return "fill needs exactly one"
	case r.Fill && years && (intervals["hour"] || intervals["day"]):
		return "fill needs more than"
	case r.Compare != nil && (len(intervals) > 1 || intervals[""]):
		return "compare takes at most one"
	case r.Compare != nil && years && (intervals["hour"] || intervals["day"]):
		return "compare needs more than"
	case r.Compare != nil && intervals["minute"] && r.Compare.To.Sub(r.Compare.From) > 9_999*time.Minute:
		return "compare needs more than"
	}
	return ""
}

// naiveWithinDay reports whether the range is at most 24 hours long, or ends before a clock in the zone shows its start
// time on the next day.
func naiveWithinDay(r naiveRequest) bool {
	from := r.Range.From.In(naiveZone(r.Zone))
	if r.Range.To.Sub(from) <= 24*time.Hour {
		return true
	}
	return !r.Range.To.After(modelMove(from, civilOf(from).next()))
}

func naiveFilterRefusal(path string, list []naiveFilter) string {
	for i, f := range list {
		for j, v := range f.Values {
			if v == nil && (naiveColumns[f.Column].excluded || naiveTextTests[f.Operator] != nil) {
				return fmt.Sprintf("%s[%d].values[%d] must be", path, i, j)
			}
		}
		for name, below := range map[string][]naiveFilter{"or": f.Or, "and": f.And} {
			if refusal := naiveFilterRefusal(fmt.Sprintf("%s[%d].%s", path, i, name), below); refusal != "" {
				return refusal
			}
		}
	}
	return ""
}

// infers reports whether a reference takes its extra from other references.
func (r naiveRef) infers() bool {
	return r.Interval == "" && r.Precision == nil && (r.Column == "datetime" || r.Column == "visitorGeoPoint")
}

func distinctKeys(refs []naiveRef, column string) (keys []naiveKey) {
	for _, r := range refs {
		if r.Column == column && !slices.Contains(keys, r.key()) {
			keys = append(keys, r.key())
		}
	}
	return keys
}

// answer returns three lists of columns: of the result with all rows, of the compared range, and of the rows beyond the
// limit.
func (n *naive) answer(events []insights.Event, r naiveRequest) (columns, compared, others [][]any) {
	groups, output := inferredKeys(r.GroupBy, r.Select), outputKeys(r)
	if len(output) == 0 {
		output = append(slices.Clone(groups), naiveKey{column: "eventsCount"})
	}
	var dimensions []naiveKey
	for _, k := range slices.Concat(groups, output) {
		if !k.metric() && !slices.Contains(dimensions, k) {
			dimensions = append(dimensions, k)
		}
	}
	n = &naive{cells: n.cells, zone: naiveZone(r.Zone), buckets: n.buckets, week: naiveWeek(r.Week)}
	rows := n.group(events, r, dimensions)
	n.sort(rows, r, dimensions, output)
	columns = naiveColumnsOf(rows, r.Fill, dimensions, output)
	if r.Compare != nil {
		compared = naiveColumnsOf(n.counterparts(events, r, dimensions, rows), true, dimensions, output)
	}
	if limit := cmp.Or(r.Limit, 1000); r.Others && len(rows) > limit {
		others = naiveColumnsOf([]*naiveGroup{n.others(events, r, dimensions, rows[:limit])}, false, dimensions, output)
	}
	return columns, compared, others
}

// others returns a single group with all events that belong to none of the groups in `rows`.
func (n *naive) others(events []insights.Event, r naiveRequest, dimensions []naiveKey, rows []*naiveGroup) *naiveGroup {
	n.sessions = n.sessionsOf(events, r.Range)
	all := newNaiveGroup(make([]naiveValue, len(dimensions)))
	n.combine(events, r, dimensions, func(values []naiveValue, e *insights.Event) {
		if !slices.ContainsFunc(rows, func(g *naiveGroup) bool {
			return slices.EqualFunc(g.values, values, func(a, b naiveValue) bool {
				return compareKeys(a.key, b.key) == 0
			})
		}) {
			all.add(n, e)
		}
	})
	return all
}

// naiveColumnsOf returns the values of rows. If `absent` is set, rows without events have null for measures other than
// counts.
func naiveColumnsOf(rows []*naiveGroup, absent bool, dimensions, output []naiveKey) [][]any {
	result := make([][]any, len(output))
	for i, k := range output {
		result[i] = []any{}
		for _, g := range rows {
			if !k.metric() {
				result[i] = append(result[i], g.values[slices.Index(dimensions, k)].json)
				continue
			}
			v, _ := naiveMetrics[k.column](g)
			if _, counts := v.(json.Number); g.events == 0 && absent && !counts && len(dimensions) > 0 {
				v = nil
			}
			result[i] = append(result[i], v)
		}
	}
	return result
}

// naiveWeek returns the number of a weekday: 0 is Monday.
func naiveWeek(name string) int {
	days := []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
	return max(0, slices.Index(days, name))
}

func naiveZone(name string) *time.Location {
	zone, err := time.LoadLocation(name) // "" is UTC
	if err != nil {
		panic(err)
	}
	return zone
}

func (n *naive) group(events []insights.Event, r naiveRequest, dimensions []naiveKey) []*naiveGroup {
	n.sessions = n.sessionsOf(events, r.Range)
	groups := map[string]*naiveGroup{}
	var rows []*naiveGroup
	group := func(values []naiveValue) *naiveGroup {
		id := ""
		for _, v := range values {
			id += fmt.Sprintf("%#v", v.key)
		}
		g := groups[id]
		if g == nil {
			g = newNaiveGroup(slices.Clone(values))
			groups[id] = g
			rows = append(rows, g)
		}
		return g
	}
	if len(dimensions) == 0 {
		group(nil)
	}
	n.combine(events, r, dimensions, func(values []naiveValue, e *insights.Event) { group(values).add(n, e) })
	if r.Fill {
		n.fill(r, dimensions, group, slices.Clone(rows))
	}
	return slices.DeleteFunc(rows, func(g *naiveGroup) bool {
		return !naiveAll(onMetrics(r.Where, true), func(f naiveFilter) bool {
			_, n := naiveMetrics[f.Column](g)
			if math.IsNaN(n) {
				return f.Operator == "notIn"
			}
			return naiveHolds(f, func(v any) int { return compareFloat(n, v.(float64)) })
		})
	})
}

func newNaiveGroup(values []naiveValue) *naiveGroup {
	return &naiveGroup{
		values: values, visitors: map[uint64]bool{}, people: map[uint64]bool{}, whole: map[naiveVisit]*naiveSession{},
	}
}

// combine calls `add` for each selected event and each combination of its values.
func (n *naive) combine(
	events []insights.Event, r naiveRequest, dimensions []naiveKey, add func(values []naiveValue, e *insights.Event),
) {
	for i := range events {
		e := &events[i]
		t := n.time(e)
		if t.Before(r.Range.From) || !t.Before(r.Range.To) || !naiveAll(onMetrics(r.Where, false), func(f naiveFilter) bool { return n.matches(e, f) }) {
			continue
		}
		var each func(values []naiveValue)
		each = func(values []naiveValue) {
			if len(values) == len(dimensions) {
				add(values, e)
				return
			}
			k := dimensions[len(values)]
			c := naiveColumns[k.column]
			for _, v := range c.read(n, e, k.extra) {
				if !v.absent || !c.excluded {
					each(append(values, v))
				}
			}
		}
		each(nil)
	}
}

func (n *naive) sort(rows []*naiveGroup, r naiveRequest, dimensions, output []naiveKey) {
	type term struct {
		key  naiveKey
		desc bool
	}
	var terms []term
	if r.Order != nil {
		key := r.Order.By.key()
		var refs []naiveRef
		for _, d := range dimensions {
			refs = append(refs, naiveRef{Column: d.column, Interval: d.extra})
		}
		if r.Order.By.Column == "datetime" {
			key = inferredKeys([]naiveRef{r.Order.By}, refs)[0]
			if !slices.Contains(dimensions, key) {
				key = naiveLast
			}
		}
		terms = append(terms, term{key, r.Order.Direction == "desc"})
	} else {
		for _, interval := range []string{"month", "week", "day", "hour", "minute", ""} {
			if k := (naiveKey{"datetime", interval}); slices.Contains(dimensions, k) {
				terms = append(terms, term{key: k})
			}
		}
		if first := slices.IndexFunc(output, naiveKey.metric); len(terms) == 0 && first >= 0 {
			terms = append(terms, term{output[first], true})
		}
	}
	for _, d := range dimensions {
		terms = append(terms, term{key: d})
	}
	slices.SortFunc(rows, func(a, b *naiveGroup) int {
		for _, t := range terms {
			var c int
			if t.key.metric() {
				_, x := naiveMetrics[t.key.column](a)
				_, y := naiveMetrics[t.key.column](b)
				c = cmp.Compare(x, y) // NaN comes first
			} else {
				i := slices.Index(dimensions, t.key)
				c = compareKeys(a.values[i].key, b.values[i].key)
			}
			if t.desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
}
