package query

import (
	"slices"

	"github.com/octavo-docs/octavo/schema/insights"
)

// passes each make one decision about a plan, in this order.
var passes = []func(plan) plan{requireGroups, joinSessions, defaultOrder, breakTies}

func decide(p plan) plan {
	for _, pass := range passes {
		p = pass(p)
	}
	return p
}

// requireGroups leaves out events without a value in a grouped column for which
// the contract has no word for "none".
func requireGroups(p plan) plan {
	for _, g := range p.groups {
		if g.column.Null == insights.Excluded {
			p.nonNull = append(slices.Clip(p.nonNull), g)
		}
	}
	return p
}

// joinSessions adds what the plan reads of events' sessions.
func joinSessions(p plan) plan {
	p.scope = p.joining(slices.Concat(p.groups, p.measures()))
	return p
}

// defaultOrder orders a request that names no order: by time from the first,
// coarse buckets before fine ones; else by the first metric from the largest;
// else by the groups, which breakTies adds.
func defaultOrder(p plan) plan {
	if len(p.order) > 0 {
		return p
	}
	for _, g := range p.groups {
		if g.isTime() {
			p.order = append(p.order, term{ref: g})
		}
	}
	slices.SortStableFunc(p.order, func(a, b term) int { return b.args.Interval.Rank() - a.args.Interval.Rank() })
	if i := slices.IndexFunc(p.output, ref.isMeasure); len(p.order) == 0 && i >= 0 {
		p.order = []term{{ref: p.output[i], desc: true}}
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
