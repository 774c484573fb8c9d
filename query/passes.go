package query

import (
	"slices"

	"github.com/octavo-docs/octavo/schema/insights"
)

// passes has the functions that make the decisions about a plan, in this order.
var passes = []func(plan) plan{requireGroups, defaultOrder, breakTies, joinSessions}

func decide(p plan) plan {
	for _, pass := range passes {
		p = pass(p)
	}
	return p
}

// requireGroups excludes events without a value in a grouped column, if the contract has no word for a missing value.
func requireGroups(p plan) plan {
	for _, g := range p.groups {
		if g.column.Null == insights.Excluded {
			p.nonNull = append(slices.Clip(p.nonNull), g)
		}
	}
	return p
}

// defaultOrder orders a request without an order. If there are groups of time, it orders by time ascending, coarse
// buckets before fine buckets. Otherwise it orders by the first metric, descending. Without metrics it orders by the
// groups, which breakTies adds.
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

// breakTies appends all groups to the order. No two rows have equal groups, so no two rows are equal in this order.
// Otherwise it would be random which of several equal rows the limit cuts off.
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

// joinSessions adds the parts of sessions that the plan reads.
func joinSessions(p plan) plan {
	p.scope = p.joining(p.refs())
	return p
}
