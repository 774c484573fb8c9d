package query

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema/insights"
)

var naiveTextTests = map[string]func(text, value string) bool{
	"contains":   strings.Contains,
	"startsWith": strings.HasPrefix,
	"matches":    func(text, pattern string) bool { return regexp.MustCompile("(?s)" + pattern).MatchString(text) },
}

// onMetrics returns the conditions on metrics, or all other conditions. The lists below an `or` or `and` have
// conditions of one kind.
func onMetrics(list []naiveFilter, metrics bool) (some []naiveFilter) {
	for _, f := range list {
		below := slices.Concat(f.Or, f.And)
		if (naiveMetrics[f.Column] != nil || len(onMetrics(below, true)) > 0) == metrics {
			some = append(some, f)
		}
	}
	return some
}

// naiveAll reports whether all conditions are true. `holds` reports whether a filter is true.
func naiveAll(list []naiveFilter, holds func(naiveFilter) bool) bool {
	for _, f := range list {
		var ok bool
		switch {
		case f.Or != nil:
			ok = slices.ContainsFunc(f.Or, func(f naiveFilter) bool { return naiveAll([]naiveFilter{f}, holds) })
		case f.And != nil:
			ok = naiveAll(f.And, holds)
		default:
			ok = holds(f)
		}
		if !ok {
			return false
		}
	}
	return true
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// naiveHolds reports whether a filter matches a value. `compare` compares the value with the filter's values.
func naiveHolds(f naiveFilter, compare func(v any) int) bool {
	switch f.Operator {
	case "greaterThan":
		return compare(f.Values[0]) > 0
	case "greaterThanOrEqual":
		return compare(f.Values[0]) >= 0
	case "lessThan":
		return compare(f.Values[0]) < 0
	case "lessThanOrEqual":
		return compare(f.Values[0]) <= 0
	}
	in := slices.ContainsFunc(f.Values, func(v any) bool { return compare(v) == 0 })
	return in != (f.Operator == "notIn")
}

func (n *naive) matches(e *insights.Event, f naiveFilter) bool {
	c := naiveColumns[f.Column]
	positive := f
	if f.Operator == "notIn" {
		positive.Operator = "in"
	}
	holds := false
	for _, v := range n.filterValues(e, f) {
		if v.absent && (c.excluded || c.uncompared && positive.Operator != "in" && positive.Operator != "") {
			continue
		}
		if test := naiveTextTests[f.Operator]; test != nil {
			holds = holds || slices.ContainsFunc(f.Values, func(value any) bool { return test(v.key[0].(string), value.(string)) })
			continue
		}
		holds = holds || naiveHolds(positive, func(value any) int {
			if naiveNoPage(value) {
				return strings.Compare(v.key[1].(string), "")
			}
			return compareKeys(v.key, naiveFilterKey(c, value))
		})
	}
	if f.Column == "visitorGeoPoint" {
		holds = n.matchesPoint(e, f)
	}
	return holds != (f.Operator == "notIn")
}

// naiveNoPage reports whether a filter's value means events without a page, in any space.
func naiveNoPage(value any) bool {
	page, ok := value.(map[string]any)
	if !ok {
		return false
	}
	id, named := page["page"]
	return named && id == nil && len(page) == 1
}

// filterValues returns the values that a filter may match. A claim that is an array matches by its text and by its
// members.
func (n *naive) filterValues(e *insights.Event, f naiveFilter) []naiveValue {
	values := naiveColumns[f.Column].read(n, e, f.Claim)
	if f.Column != "visitorClaim" || strings.Contains(naiveClaim(e, `\types`), strconv.Quote(f.Claim)+`:"s`) {
		return values
	}
	var members []any
	if json.Unmarshal([]byte(naiveClaim(e, f.Claim)), &members) == nil {
		for _, m := range members {
			values = append(values, text(fmt.Sprint(m))...)
		}
	}
	return values
}

func naiveClaim(e *insights.Event, name string) string {
	for _, c := range e.Claims {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (n *naive) matchesPoint(e *insights.Event, f naiveFilter) bool {
	return slices.ContainsFunc(f.Values, func(v any) bool {
		cell, ok := v.(map[string]any)
		if !ok {
			return !e.HasPoint
		}
		index := cell["h3"].(string)
		var resolution int
		_, _ = fmt.Sscanf(index[1:2], "%x", &resolution)
		return e.HasPoint && n.cells[[2]float32{e.Latitude, e.Longitude}][resolution].Index == index
	})
}

// naiveFilterKey returns the key of a filter value. `null` has the same key as an absent value.
func naiveFilterKey(c naiveColumn, v any) []any {
	if c.match != nil {
		return c.match(v)
	}
	switch v := v.(type) {
	case nil:
		return []any{""}
	case bool:
		if v {
			return []any{int64(1)}
		}
		return []any{int64(0)}
	case float64:
		return []any{int64(v)}
	case json.Number:
		i, _ := v.Int64()
		return []any{i}
	case string:
		return []any{v}
	}
	return []any{""}
}
