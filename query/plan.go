package query

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/query/statecache"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// plan is a compiled aggregate request with the decisions of the passes. It is an immutable value: a pass returns a new
// plan. Plans share slices, so no code writes to them.
type plan struct {
	scope
	output  []ref // the result's columns
	groups  []ref
	having  []condition // conditions on groups, joined by AND: their columns are measures
	order   []term
	limit   int
	fill    *filling    // nil means that groups without events are not in the answer
	compare *comparison // nil means no comparison
	among   *groupSet   // the only groups that are read; nil means all groups
	states  *states     // nil means that the statement reads the scope's source
	rest    *rest       // nil means all events; otherwise rest excludes the events of some groups
	others  bool        // whether the answer has a row for all groups beyond the limit
	total   bool        // whether the answer has the number of rows without the limit
	keeps   bool        // whether the encoder stores the answer's rows with their sort keys

	now   time.Time // the end of presets
	paged bool      // whether the answer names the next page
	mark  string    // hash of the request's plan, for cursors
	after []sortKey // the sort keys of the last row before the page; nil for the first page
}

// measures returns all measures that the statement computes, selected or not.
func (p plan) measures() []ref {
	var list []ref
	add := func(r ref) {
		if r.isMeasure() && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	for _, r := range p.output {
		add(r)
	}
	for f := range filters(p.having) {
		add(f.ref)
	}
	for _, t := range p.order {
		add(t.ref)
	}
	if p.fill != nil {
		add(ref{column: insights.EventsCount}) // 0 marks filled rows
	}
	return list
}

// refs returns the columns that the statement reads, without the columns of conditions.
func (p plan) refs() []ref {
	refs := slices.Concat(p.groups, p.measures())
	if p.rest != nil {
		refs = append(refs, p.rest.groups...)
	}
	return refs
}

// counts reports whether the plan counts distinct values.
func (p plan) counts() bool {
	return slices.ContainsFunc(p.measures(), func(r ref) bool { return r.column.Unique && !p.inSessions(r) })
}

// estimate returns the counting method for the distinct values of many rows. A query whose answer must be exact does
// not use this method.
func (p plan) estimate() insights.Counting {
	switch {
	case !p.counts():
		return insights.CountExact
	case len(p.groups) == 0:
		return insights.CountTotals
	}
	return insights.CountSketched
}

// String describes the plan for explanations, tests and cursors. If the words of this description change, the cursors
// that clients have become invalid.
func (p plan) String() string {
	b := p.describe()
	line := b.line
	line("non-null", refTexts(p.nonNull)...)
	line("output", refTexts(p.output)...)
	line("groups", refTexts(p.groups)...)
	b.conditions("having", p.having, false)
	for _, t := range p.order {
		if t.desc {
			line("order", t.ref.String()+" desc")
		} else {
			line("order", t.ref.String())
		}
	}
	if p.fill != nil {
		line("fill", fmt.Sprintf("%v, %d buckets", p.fill.group, len(p.fill.buckets)))
	}
	if p.compare != nil {
		line("compare", insights.FormatTime(p.compare.from)+" <= t < "+insights.FormatTime(p.compare.to))
	}
	if p.others {
		line("others", "a row of all groups beyond the limit")
	}
	if p.total {
		line("count", "rows without the limit")
	}
	line("limit", strconv.Itoa(p.limit))
	return b.String()
}

// filling adds the empty buckets of a group of time. It adds them for each combination of the other groups that occurs
// in the range. It adds them before the conditions on groups, the order and the limit apply.
type filling struct {
	group   ref
	buckets []time.Time // start times of the buckets, in the form of the group's column
}

// comparison is the other range of a request. The answer has a row for each row of the first range, with the same
// groups. A row's group of time is the other range's bucket with the same index.
type comparison struct {
	from, to time.Time
	zone     insights.Zone
	// `first` has the start times of the buckets in the first range, and `other` has them in the other range. Both have
	// the form of the time column by which the plan groups. They are empty without a group of time. Several groups of
	// time are refused: weeks and months begin on different days, so their bucket numbers do not match.
	first, other []time.Time
}

// groupSet has combinations of group values, at least one.
type groupSet struct {
	rows [][]any
}

// rest selects the events of all groups except the groups in `except`.
type rest struct {
	groups []ref
	except *groupSet
}

// sortKey is a sort key as a typed parameter.
type sortKey struct {
	typ   sqltree.Type
	value any
}

// perSession reports whether a measure counts sessions by their properties. If so, the statement first reads a row for
// each pair of a group and a session, so that each session of a group is counted once.
func (p plan) perSession() bool {
	return slices.ContainsFunc(p.measures(), func(r ref) bool { return len(r.column.Session) > 0 })
}

// groupColumns returns the columns that read the plan's groups, and the keys to group by.
func (p plan) groupColumns() (columns []sqltree.Aliased, keys []sqltree.Expr) {
	for i, g := range p.groups {
		c := sqltree.Aliased{As: "d" + strconv.Itoa(i)}
		if by := g.column.Grouped; by != nil {
			c.Expr = by.Value()
			keys = append(keys, by.Keys()...)
		} else {
			c.Expr = p.expr(g)
			keys = append(keys, sqltree.Col(c.As))
		}
		columns = append(columns, c)
	}
	return columns, keys
}

// states says how a plan is read with states: from cached aggregate states of the table's settled parts, and from the
// events of the other parts.
type states struct {
	table string
	spans []stateSpan // spans with states; their events in other parts are read as events
	rest  []scope     // scopes that are read without states, in all parts
}

// stateSpan is a span of the plan's range, and its entry in the cache.
type stateSpan struct {
	scope
	events scope // the scope that reads the events of the span if the span has no states
	entry  *statecache.Entry
}
