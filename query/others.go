package query

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// checkOthers refuses a request that has `others` together with conditions on metrics, `fill` or `cursor`. With them,
// it is unclear which events belong to the row of `others`.
func checkOthers(r request, p plan) error {
	const alone = "cannot stand with "
	switch {
	case !r.others:
	case len(p.having) > 0:
		return schema.Invalid("others", alone+"conditions on metrics")
	case r.fill:
		return schema.Invalid("others", alone+"fill")
	case r.cursor != nil:
		return schema.Invalid("others", alone+"cursor")
	}
	return nil
}

// outside returns the condition that an event belongs to no group of the first rows. It returns nil unless the plan is
// about the remaining events.
func (p plan) outside() []sqltree.Expr {
	if p.rest == nil {
		return nil
	}
	return []sqltree.Expr{sqltree.Not(p.rest.except.condition(p.rest.groups, p.expr))}
}

// restOf returns the plan for the single row of all groups after the first rows.
func (p plan) restOf(first *encoder) plan {
	set := &groupSet{}
	for _, row := range first.kept {
		set.rows = append(set.rows, row.groups)
	}
	p.rest = &rest{p.groups, set}
	p.output = p.output[:0:0]
	for _, r := range first.plan.output {
		if r.isMeasure() {
			p.output = append(p.output, r)
		}
	}
	p.groups, p.order, p.limit, p.compare, p.others, p.total = nil, nil, 1, nil, false, false
	return joinSessions(p) // the new order may read fewer parts of sessions
}

// readOthers reads the row of all groups after the first rows, and writes it as columns. The row's groups are null.
func (q *query) readOthers(ctx context.Context, p plan, first *encoder) ([]byte, error) {
	values, rest := make([][]byte, len(p.output)), p.restOf(first)
	e := &encoder{}
	if len(rest.output) > 0 {
		var err error
		if e, err = q.collect(ctx, rest); err != nil {
			return nil, err
		}
	}
	measure := 0
	for i, r := range p.output {
		values[i] = []byte("null")
		if r.isMeasure() {
			values[i] = e.values[measure]
			measure++
		}
	}
	return columnsJSON(nil, p.output, values), nil
}
