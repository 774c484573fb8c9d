package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// ref is a column of the table with its extra parameters. Only the resolver
// makes one, so holding a ref means that the names were checked. Refs are
// equal exactly if they read the same thing.
type ref struct {
	column *insights.Column
	args   insights.Arguments
}

func (r ref) isMeasure() bool { return r.column.Has(insights.Measure) }
func (r ref) isTime() bool    { return r.column.Has(insights.Time) }

func (r ref) String() string {
	s, extra := r.column.Name, r.column.Extra
	if extra == nil {
		return s
	}
	text := extra.Text(r.args)
	switch {
	case text == "":
		return s
	case extra.Required:
		text = strconv.Quote(text) // it is free text
	}
	return s + "(" + extra.Name + "=" + text + ")"
}

// term is one element of the order.
type term struct {
	ref
	desc bool
}

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

// description is what a report means, a line for each thing.
type description struct{ strings.Builder }

func (b *description) line(name string, list ...string) {
	if len(list) > 0 {
		b.WriteString(name + ": " + strings.Join(list, ", ") + "\n")
	}
}

// conditions writes conditions, or that there are none if it always has to.
func (b *description) conditions(name string, list []condition, always bool) {
	if always && len(list) == 0 {
		b.line(name, "any event")
	}
	for _, c := range list {
		b.line(name, c.String())
	}
}

// describe begins the description of a report over the scope.
func (s scope) describe() *description {
	b := &description{}
	b.line("site", s.site)
	b.line("range", insights.FormatTime(s.from)+" <= t < "+insights.FormatTime(s.to))
	if zone := s.env.Zone.String(); zone != "UTC" {
		b.line("zone", zone)
	}
	if s.exact {
		b.line("accuracy", "exact")
	}
	b.conditions("filter", s.where, false)
	return b
}

// timeless is the scope without its range, for keys: see keyOf.
func (s scope) timeless() scope {
	s.from, s.to = time.Time{}, time.Time{}
	return s
}

// keyOf is the key of a request's plan: what the plan means, but times as the request
// has them.
func (p plan) keyOf(r request) string {
	p.scope, p.fill, p.compare = p.timeless(), nil, nil
	compared, cursor := "-", "-"
	if r.compare != nil {
		compared = r.compare.String()
	}
	if r.cursor != nil {
		cursor = strconv.Quote(*r.cursor)
	}
	return keyed(p, r.timeRange) + fmt.Sprintf("compare: %s\nfill: %v\ncursor: %s\n", compared, r.fill, cursor)
}

func refTexts(list []ref) []string {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = r.String()
	}
	return texts
}
