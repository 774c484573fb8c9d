package query

import (
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// counterparts returns the corresponding rows of the range to compare with.
func (n *naive) counterparts(events []insights.Event, r naiveRequest, dimensions []naiveKey, rows []*naiveGroup) []*naiveGroup {
	other := r
	other.Range, other.Where, other.Fill = *r.Compare, onMetrics(r.Where, false), false
	found := n.group(events, other, dimensions)
	all, others := map[naiveKey][]naiveValue{}, map[naiveKey][]naiveValue{}
	for _, k := range dimensions {
		if k.column == "datetime" {
			all[k], others[k] = n.bucketsOf(r, k.extra), n.bucketsOf(other, k.extra)
		}
	}
	var list []*naiveGroup
	for _, row := range rows {
		values := slices.Clone(row.values)
		for i, k := range dimensions {
			if k.column != "datetime" {
				continue
			}
			at := slices.IndexFunc(all[k], func(v naiveValue) bool { return compareKeys(v.key, values[i].key) == 0 })
			values[i] = naiveValue{key: []any{int64(-1)}}
			if at < len(others[k]) {
				values[i] = others[k][at]
			}
		}
		same := func(g *naiveGroup) bool {
			return slices.EqualFunc(g.values, values, func(a, b naiveValue) bool { return compareKeys(a.key, b.key) == 0 })
		}
		if i := slices.IndexFunc(found, same); i >= 0 {
			list = append(list, found[i])
		} else {
			list = append(list, &naiveGroup{values: values})
		}
	}
	return list
}

// fill makes the groups of each bucket in the range, for each combination of the other groups' values in the rows.
func (n *naive) fill(r naiveRequest, dimensions []naiveKey, group func([]naiveValue) *naiveGroup, rows []*naiveGroup) {
	at := slices.IndexFunc(dimensions, func(k naiveKey) bool { return k.column == "datetime" })
	if len(dimensions) == 1 {
		rows = []*naiveGroup{{values: make([]naiveValue, 1)}}
	}
	for _, bucket := range n.bucketsOf(r, dimensions[at].extra) {
		for _, g := range rows {
			values := slices.Clone(g.values)
			values[at] = bucket
			group(values)
		}
	}
}

// bucketsOf returns the buckets of the range. It walks through the range in steps that are shorter than any bucket.
func (n *naive) bucketsOf(r naiveRequest, interval string) (list []naiveValue) {
	step := map[string]time.Duration{
		"minute": 30 * time.Second, "hour": 15 * time.Minute, "day": time.Hour, "week": 24 * time.Hour, "month": 24 * time.Hour,
	}[interval]
	first, last := insights.TimeBounds()
	if r.Range.To.Before(last) {
		last = r.Range.To
	}
	if r.Range.From.After(first) {
		first = r.Range.From
	}
	for t := first; t.Before(last); t = t.Add(step) {
		for _, at := range []time.Time{t, last.Add(-time.Millisecond)} { // the last step may be short
			if at.Sub(t) < step {
				v := n.bucket(at.UnixMilli(), interval)
				if len(list) == 0 || list[len(list)-1].key[0] != v.key[0] {
					list = append(list, v)
				}
			}
		}
	}
	return list
}
