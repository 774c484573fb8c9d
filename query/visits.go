package query

import (
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

const visitsName = "visits"

// chosenName is the name of a column of the rows that sessionRows reads. The column is true if the row has events in
// the range that the conditions on types select.
const chosenName = "is_chosen"

// ofVisits returns the scope read from visits. `ok` is false if visits lack a column that `refs` or the scope's
// conditions read.
func (s scope) ofVisits(refs []ref) (in scope, ok bool) {
	if !s.env.Zone.Quarters() {
		return s, false
	}
	v := &visits{from: s.from.Add(insights.VisitQuarter - 1).Truncate(insights.VisitQuarter), to: s.to.Truncate(insights.VisitQuarter), counters: []*insights.Counter{insights.Events}}
	if !v.from.Before(v.to) {
		return s, false
	}
	s.where = slices.DeleteFunc(slices.Clone(s.where), func(c condition) bool {
		if c.joined != nil || c.column != insights.EventType {
			return false
		}
		v.typed = append(v.typed, c)
		types := insights.TypesOf(c.operator, c.values)
		if v.types != nil {
			types = slices.DeleteFunc(types, func(t insights.Code) bool { return !slices.Contains(v.types, t) })
		}
		v.types = types
		return true
	})
	for f := range filters(s.where) {
		if f.isTime() { // a condition on the exact time
			return s, false
		}
		refs = append(slices.Clip(refs), f.ref)
	}
	for _, r := range slices.Concat(refs, s.nonNull) {
		if !v.add(r) {
			return s, false
		}
	}
	for _, c := range v.counters {
		if _, known := c.OfVisit(v.types); !known {
			return s, false
		}
	}
	s.env.Visits, s.source = true, source{name: visitsName, visits: v}
	return s, true
}

// add adds the columns that `r` reads to the columns that are read from visits. `ok` is false if visits do not have
// these columns.
func (v *visits) add(r ref) (ok bool) {
	if r.isTime() && !r.args.Interval.Quarters() || len(r.column.Session) > 0 {
		return false
	}
	for _, c := range r.column.Counters {
		if !slices.Contains(v.counters, c) {
			v.counters = append(v.counters, c)
		}
	}
	for _, name := range r.column.Visit {
		if !slices.Contains(v.columns, name) {
			v.columns = append(v.columns, name)
		}
	}
	return len(r.column.Counters)+len(r.column.Visit) > 0
}

// onlyOfEvents reports whether a measure has a counter that cannot be computed from visits for any selection of types.
func (r ref) onlyOfEvents() bool {
	return slices.ContainsFunc(r.column.Counters, func(c *insights.Counter) bool {
		_, known := c.OfVisit(nil)
		return !known
	})
}

// maxPushed is the largest number of parameters with which a statement contains its conditions twice.
const maxPushed = 500

// read builds the first part of the SELECT that reads the rows of visits, and the events at both ends of the range. The
// states of visits take most of the time. So the engine reads them only for rows that meet the scope's conditions. If
// the conditions have very many parameters, they are outside of the union of visits and events, because a statement has
// at most maxParams.
func (v *visits) read(s scope, columns []sqltree.Aliased, conditions []sqltree.Expr) *sqltree.Select {
	whole := &sqltree.Select{Rows: insights.VisitRows(), Columns: v.row(insights.VisitTime(), insights.VisitColumn, func(c *insights.Counter) sqltree.Expr {
		number, _ := c.OfVisit(v.types)
		return number
	})}
	meets := s.meets()
	if sqltree.ParamsOf(meets) > maxPushed {
		conditions, meets = append(meets, conditions...), nil
	}
	whole.Prewhere = sqltree.AllOf(append([]sqltree.Expr{
		siteOfVisit(s.site), slotIs(sqltree.Ge, v.from), slotIs(sqltree.Lt, v.to),
	}, meets...)...)
	if v.types != nil {
		number, _ := insights.Events.OfVisit(v.types)
		whole.Where = sqltree.Bin(sqltree.Gt, number, sqltree.Int(0))
	}
	rows := whole
	if s.from.Before(v.from) || v.to.Before(s.to) {
		// The events must come first: see the setting about snapshots in run.go.
		rows = &sqltree.Select{Table: insights.Table, Columns: v.row(insights.TimeExpr(), sqltree.Col, (*insights.Counter).OfEvent), Union: whole}
		rows.Where = sqltree.AllOf(slices.Concat([]sqltree.Expr{siteIs(s.site), sqltree.AnyOf(
			sqltree.AllOf(timeIs(sqltree.Ge, s.from), timeIs(sqltree.Lt, v.from)),
			sqltree.AllOf(timeIs(sqltree.Ge, v.to), timeIs(sqltree.Lt, s.to)))}, exprs(v.typed, s.expr), meets)...)
	}
	of := &sqltree.Select{Columns: columns, Sub: rows}
	if len(conditions) > 0 {
		of.Where = sqltree.AllOf(conditions...)
	}
	return of
}

// slotIs returns the condition that compares the quarter of an hour of a row of visits with the time t.
func slotIs(op sqltree.Op, t time.Time) sqltree.Expr {
	text := t.UTC().Format(time.DateTime)
	return sqltree.Bin(op, insights.VisitSlot(), sqltree.Param(sqltree.T("DateTime('UTC')"), text))
}

// sessionRows builds the first part of the SELECT that reads the rows of all sessions that may have an event in the
// scope's range. These rows may be before and after the range. The quarters of an hour in which the range or its
// surroundings begin and end come from events. All other quarters come from visits. The column chosenName is true if a
// row is in the range and has an event of the selected types.
func (v *visits) sessionRows(s scope) *sqltree.Select {
	around := s.around()
	ceil := func(t time.Time) time.Time {
		return storable(t.Add(insights.VisitQuarter - 1).Truncate(insights.VisitQuarter))
	}
	floor := func(t time.Time) time.Time { return t.Truncate(insights.VisitQuarter) }
	cut := [][2]time.Time{ // periods at the ends, which are read from events
		{around.from, ceil(around.from)}, {floor(s.from), v.from}, {v.to, ceil(s.to)}, {floor(around.to), around.to},
	}
	inside := []sqltree.Expr{
		siteOfVisit(s.site), slotIs(sqltree.Ge, ceil(around.from)), slotIs(sqltree.Lt, floor(around.to)),
	}
	var outside []sqltree.Expr
	for _, c := range cut {
		if !c[0].Before(c[1]) {
			continue
		}
		outside = append(outside, sqltree.AllOf(timeIs(sqltree.Ge, c[0]), timeIs(sqltree.Lt, c[1])))
		if slot := floor(c[0]); !slot.Before(floor(s.from)) && !slot.After(v.to) {
			inside = append(inside, slotIs(sqltree.Ne, slot))
		}
	}
	chosen := []sqltree.Expr{slotIs(sqltree.Ge, v.from), slotIs(sqltree.Lt, v.to)}
	if v.types != nil {
		number, _ := insights.Events.OfVisit(v.types)
		chosen = append(chosen, sqltree.Bin(sqltree.Gt, number, sqltree.Int(0)))
	}
	rows := &sqltree.Select{
		Rows: insights.VisitRows(), Where: sqltree.AllOf(inside...),
		Columns: v.sessionRow(s, insights.VisitTime(), insights.VisitColumn, true, chosen),
	}
	if len(outside) == 0 {
		return rows
	}
	chosen = append([]sqltree.Expr{timeIs(sqltree.Ge, s.from), timeIs(sqltree.Lt, s.to)}, exprs(v.typed, s.expr)...)
	return &sqltree.Select{ // the events come first, as in function read
		Table: insights.Table, Where: sqltree.AllOf(siteIs(s.site), sqltree.AnyOf(outside...)),
		Columns: v.sessionRow(s, insights.TimeExpr(), sqltree.Col, false, chosen), Union: rows,
	}
}

// sessionRow returns the columns of a row of sessionRows.
func (v *visits) sessionRow(
	s scope, at sqltree.Expr, read func(name string) sqltree.Expr, visits bool, chosen []sqltree.Expr,
) []sqltree.Aliased {
	row := insights.SessionRow(s.sessions, visits, v.types)
	row = append(row,
		sqltree.Aliased{Expr: at, As: insights.ColumnTime},
		sqltree.Aliased{Expr: sqltree.AllOf(chosen...), As: chosenName})
	for _, name := range v.columns {
		if !slices.ContainsFunc(row, func(c sqltree.Aliased) bool { return c.As == name }) {
			row = append(row, sqltree.Aliased{Expr: read(name), As: name})
		}
	}
	return row
}

// siteOfVisit selects a site's rows of visits.
func siteOfVisit(site string) sqltree.Expr {
	return sqltree.Bin(sqltree.Eq, insights.VisitColumn(insights.ColumnSite), sqltree.Param(sqltree.T("String"), site))
}

// row returns the columns of the rows that the method `read` reads, from events or from visits.
func (v *visits) row(at sqltree.Expr, read func(name string) sqltree.Expr, number func(*insights.Counter) sqltree.Expr) []sqltree.Aliased {
	row := []sqltree.Aliased{{Expr: at, As: insights.ColumnTime}}
	for _, name := range v.columns {
		if name != insights.ColumnTime {
			row = append(row, sqltree.Aliased{Expr: read(name), As: name})
		}
	}
	for _, c := range v.counters {
		row = append(row, sqltree.Aliased{Expr: number(c), As: c.Name})
	}
	return row
}

// read builds the first part of the SELECT that reads the scope's events.
func (s scope) read(columns []sqltree.Aliased, conditions ...sqltree.Expr) *sqltree.Select {
	if v := s.source.visits; v != nil {
		return v.read(s, columns, conditions)
	}
	all := append(s.conditions(), conditions...)
	tree := &sqltree.Select{Columns: columns, Table: insights.Table, Where: sqltree.AllOf(all...)}
	if len(s.sessions) > 0 {
		tree.Join, tree.Using = s.sessionRows()
	}
	return tree
}
