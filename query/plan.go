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

// String is what the plan means, for explanations, tests and cursors: with other words,
// cursors that clients hold would no longer fit.
func (p plan) String() string {
	var b strings.Builder
	line := func(name string, list ...string) {
		if len(list) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(list, ", "))
		}
	}
	conditions := func(name string, list []condition) {
		for _, c := range list {
			line(name, c.String())
		}
	}
	line("site", p.site)
	line("range", insights.FormatTime(p.from)+" <= t < "+insights.FormatTime(p.to))
	if zone := p.env.Zone.String(); zone != "UTC" {
		line("zone", zone)
	}
	if p.exact {
		line("accuracy", "exact")
	}
	conditions("filter", p.where)
	line("non-null", refTexts(p.nonNull)...)
	line("output", refTexts(p.output)...)
	line("groups", refTexts(p.groups)...)
	conditions("having", p.having)
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
	fmt.Fprintf(&b, "limit: %d\n", p.limit)
	return b.String()
}

func refTexts(list []ref) []string {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = r.String()
	}
	return texts
}
