package query

import (
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// pass makes one decision about a plan and returns another plan.
type pass struct {
	name string
	run  func(plan) plan
}

// passes are run in this order by decide.
var passes = []pass{
	{"bounds", bounds},
	{"present", present},
	{"table", table},
	{"order", defaultOrder},
	{"ties", breakTies},
	{"limit", limitRows},
}

func decide(p plan) plan {
	for _, step := range passes {
		p = step.run(p)
	}
	return p
}

// bounds cuts the range to the years that the store can hold: a client that
// asks for everything since the year 1 means all there is.
func bounds(p plan) plan {
	least, most := insights.TimeBounds()
	clamp := func(t time.Time) time.Time {
		switch {
		case t.Before(least):
			return least
		case t.After(most):
			return most
		}
		return t
	}
	p.from, p.to = clamp(p.from), clamp(p.to)
	return p
}

// present leaves out events without a value in a grouped column for which the
// contract has no word for "none".
func present(p plan) plan {
	for _, g := range p.groups {
		if g.column.Null == insights.Excluded {
			p.present = append(slices.Clip(p.present), g)
		}
	}
	return p
}

// table chooses where the rows are read from.
func table(p plan) plan {
	p.table = insights.Table
	return p
}

// defaultOrder orders a request that names no order: by time from the first,
// coarse buckets before fine ones; else by the first metric from the largest;
// else by the groups, which breakTies adds.
func defaultOrder(p plan) plan {
	if len(p.order) > 0 {
		return p
	}
	var times []term
	for _, g := range p.groups {
		if g.isTime() {
			times = append(times, term{ref: g})
		}
	}
	if len(times) > 0 {
		slices.SortStableFunc(times, func(a, b term) int {
			return b.args.Interval.Rank() - a.args.Interval.Rank()
		})
		p.order = times
		return p
	}
	for _, r := range p.output {
		if r.isMeasure() {
			p.order = []term{{ref: r, desc: true}}
			break
		}
	}
	return p
}

// breakTies ends the order with all groups, which no two rows agree on: without
// it the limit would cut at random among equals.
func breakTies(p plan) plan {
	order := slices.Clone(p.order)
	for _, g := range p.groups {
		if !slices.ContainsFunc(order, func(t term) bool { return t.ref == g }) {
			order = append(order, term{ref: g})
		}
	}
	p.order = order
	if len(p.groups) == 0 {
		p.order = nil // a single row
	}
	return p
}

// limitRows makes sure that every statement has a limit of rows.
func limitRows(p plan) plan {
	if p.limit <= 0 || p.limit > maxLimit {
		p.limit = maxLimit
	}
	return p
}
