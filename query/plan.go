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
	s := r.column.Name
	extra := r.column.Extra
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

// filter is one condition: on events, or on groups if its column is a measure.
type filter struct {
	ref
	operator *insights.Operator
	values   []any // as the column's Value parsed them
}

// term is one element of the order.
type term struct {
	ref
	desc bool
}

// plan is what a request means and what was decided about it. It is a value:
// nobody changes one, passes return another. Slices are shared between plans
// and never written to.
type plan struct {
	site     string
	from, to time.Time
	output   []ref // the result's columns
	groups   []ref
	filters  []filter
	present  []ref // groups whose events without a value are left out
	order    []term
	limit    int
	table    string
	estimate bool // count different values in bounded memory
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
	for _, f := range p.filters {
		add(f.ref)
	}
	for _, t := range p.order {
		add(t.ref)
	}
	return list
}

// counts reports whether the plan counts different values.
func (p plan) counts() bool {
	return slices.ContainsFunc(p.measures(), func(r ref) bool { return r.column.Unique })
}

// bounded is the plan with its different values counted in bounded memory.
func (p plan) bounded() plan {
	p.estimate = true
	return p
}

// String is the plan for tests and logs.
func (p plan) String() string {
	var b strings.Builder
	line := func(name string, list ...string) {
		if len(list) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(list, ", "))
		}
	}
	line("site", p.site)
	line("range", insights.FormatTime(p.from)+" <= t < "+insights.FormatTime(p.to))
	line("output", texts(p.output)...)
	line("groups", texts(p.groups)...)
	line("present", texts(p.present)...)
	for _, f := range p.filters {
		values := make([]string, len(f.values))
		for i, v := range f.values {
			values[i] = strconv.Quote(fmt.Sprint(v))
		}
		line("filter", fmt.Sprintf("%v %s [%s]", f.ref, f.operator.Word, strings.Join(values, " ")))
	}
	for _, t := range p.order {
		if t.desc {
			line("order", t.ref.String()+" desc")
		} else {
			line("order", t.ref.String())
		}
	}
	fmt.Fprintf(&b, "limit: %d\n", p.limit)
	line("table", p.table)
	return b.String()
}

func texts(list []ref) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.String()
	}
	return out
}
