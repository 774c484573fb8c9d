package query

import (
	"fmt"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// maxBuckets limits the buckets that a filled or compared answer has. It is more than a year of hours.
const maxBuckets = 10_000

func resolveFill(p plan) (*filling, error) {
	times, ok := timeGroups(p.groups)
	if !ok || len(times) == 0 {
		return nil, schema.Invalid("fill", "needs exactly one group of time, with an interval")
	}
	buckets, err := bucketsOf("fill", p.scope, times[0])
	return &filling{group: times[0], buckets: buckets}, err
}

// timeGroups returns the groups of time. `ok` is false if there are several groups of time, or if the only group of
// time has no interval.
func timeGroups(groups []ref) (times []ref, ok bool) {
	times = slices.DeleteFunc(slices.Clone(groups), func(r ref) bool { return !r.isTime() })
	return times, len(times) == 0 || len(times) == 1 && times[0].args.Interval != nil
}

// bucketsOf returns the buckets of a group of time in a scope's range. Its error names the request's member `member`.
func bucketsOf(member string, sc scope, g ref) ([]time.Time, error) {
	buckets, ok := sc.env.Zone.Buckets(g.args.Interval, sc.from, sc.to, maxBuckets)
	if !ok {
		return nil, schema.Invalid(member, fmt.Sprintf("needs more than %d buckets: choose a longer interval or a shorter range", maxBuckets))
	}
	return buckets, nil
}

// read builds the first part of the SELECT that returns the given rows and a row for each missing bucket. `columns` has
// the aliases of the groups, then the aliases of the measures.
//
// The statement gathers the rows of each combination of the other groups, and appends the missing buckets. In these
// buckets, a measure is zero, or has the value that it has without events.
func (f *filling) read(rows *sqltree.Select, columns []sqltree.Aliased, reads []ref) *sqltree.Select {
	var others []sqltree.Aliased
	var otherGroups []sqltree.Expr
	cells := []sqltree.Expr{nil} // the time, then the measures
	var measures []ref
	places := map[string]int{}
	for i, c := range columns {
		alias := sqltree.Col(c.As)
		switch {
		case reads[i] == f.group:
			cells[0], places[c.As] = alias, 1
		case !reads[i].isMeasure():
			others, otherGroups = append(others, sqltree.Aliased{Expr: alias}), append(otherGroups, alias)
		default:
			cells, measures = append(cells, alias), append(measures, reads[i])
			places[c.As] = len(cells)
		}
	}
	gathered := &sqltree.Select{
		Columns: append(slices.Clone(others), sqltree.Aliased{Expr: sqltree.Call("groupArray", sqltree.Call("tuple", cells...)), As: "cells"}),
		Sub:     rows, GroupBy: otherGroups,
	}
	list := func(i int64) sqltree.Expr { return sqltree.Call("tupleElement", sqltree.Col("cells"), sqltree.Int(i)) }
	starts := func() sqltree.Expr {
		return sqltree.Call("arrayDistinct", sqltree.Call("arrayConcat", list(1), timesParam(f.buckets)))
	}
	lists := []sqltree.Expr{sqltree.Col("starts")}
	for i, m := range measures {
		size := []sqltree.Expr{list(int64(i) + 2), sqltree.Call("length", sqltree.Col("starts"))}
		if nothing := m.column.Nothing; nothing != nil {
			size = append(size, nothing())
		}
		lists = append(lists, sqltree.Call("arrayResize", size...))
	}
	spread := &sqltree.Select{
		Columns: append(slices.Clone(others),
			sqltree.Aliased{Expr: starts(), As: "starts"},
			sqltree.Aliased{Expr: sqltree.Call("arrayJoin", sqltree.Call("arrayZip", lists...)), As: "cell"}),
		Sub: gathered,
	}
	tree := &sqltree.Select{Sub: spread}
	for _, c := range columns {
		e := sqltree.Col(c.As)
		if place, ok := places[c.As]; ok {
			tree.Columns = append(tree.Columns, sqltree.Aliased{Expr: sqltree.Call("tupleElement", sqltree.Col("cell"), sqltree.Int(int64(place))), As: c.As})
			continue
		}
		tree.Columns = append(tree.Columns, sqltree.Aliased{Expr: e})
	}
	return tree
}
