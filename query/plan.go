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

// plan is what an aggregate request means and what was decided about it. It is
// a value: passes return another one. Plans share slices, so nobody writes to
// them.
type plan struct {
	scope
	output  []ref // the result's columns
	groups  []ref
	having  []condition // on groups, joined by AND: their columns are measures
	order   []term
	limit   int
	fill    *filling    // nil: groups without events are no rows
	compare *comparison // nil: with nothing
	among   *groupSet   // the only groups to read; nil for all
	states  *states     // nil: the statement reads the scope's source

	now   time.Time // what presets end at
	paged bool      // whether the answer names the next page
	mark  string    // of the request, in cursors
	after []sortKey // of the last row before the page; nil for the first page
}

// measures are all measures that the statement has to compute, selected or not.
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
		add(ref{column: insights.EventsCount}) // 0 tells filled rows from others
	}
	return list
}

// counts reports whether the plan counts different values.
func (p plan) counts() bool {
	return slices.ContainsFunc(p.measures(), func(r ref) bool { return r.column.Unique })
}

// estimate is how the different values of many rows may be counted, unless they must be
// counted exactly.
func (p plan) estimate() insights.Counting {
	switch {
	case !p.counts():
		return insights.CountExact
	case len(p.groups) == 0:
		return insights.CountTotals
	}
	return insights.CountSketched
}

// String is what the plan means, for explanations, tests and cursors: with other words,
// cursors that clients hold would no longer fit.
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
	line("limit", strconv.Itoa(p.limit))
	return b.String()
}

// filling adds the buckets of a time group in which nothing happened, for each
// combination of the other groups that occurs in the range. It acts before
// conditions on groups, order and limit.
type filling struct {
	group   ref
	buckets []time.Time // as the group reads them
}

// comparison is the other range of a request. Its answer has a row for each row of
// the first: the same groups, and of time the bucket with the same number.
type comparison struct {
	from, to time.Time
	zone     insights.Zone
	// The buckets of the group of time, as it reads them, in the first range and in
	// this one; none without such a group. Several groups of time could not each
	// follow the numbers of their own buckets: a week does not begin with a month.
	first, other []time.Time
}

// groupSet are combinations of groups' values, one at least.
type groupSet struct {
	rows [][]any
}

// sortKey is a key as a parameter.
type sortKey struct {
	typ   sqltree.Type
	value any
}

// perSession reports whether a measure counts sessions by what they are. Its rows are
// pairs of a group and a session, so that each session of a group counts once.
func (p plan) perSession() bool {
	return slices.ContainsFunc(p.measures(), func(r ref) bool { return len(r.column.Session) > 0 })
}

// groupColumns read the plan's groups. The keys tell groups apart.
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

// states is a way to read a plan: cached aggregate states of settled parts, and the events of what is left.
type states struct {
	table string
	spans []stateSpan // whose other parts are read as events
	rest  []scope     // whose events of all parts are read
}

// stateSpan is a span of the plan's range, and its entry in the cache.
type stateSpan struct {
	scope
	events scope // to read the span without states
	entry  *statecache.Entry
}
