package query

import (
	"slices"
	"strconv"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// statement is a plan's SQL, with the places of the result's columns in its rows.
type statement struct {
	sqltree.Statement
	targets []any // the variables into which a row of the result is scanned
	reads   []ref // the column of each value in a row of the result, except of sort keys, which have no column
	output  []int // the result's columns as indexes of reads
	keys    []int // the order's terms as indexes of targets; only for paged answers
	total   *uint64
}

// lower turns a plan into SQL. Every group and measure has one alias, even if only a filter or the order uses it. So
// conditions and the order use the same expressions as the rows. The statement reads one row more than the limit to
// find out whether more rows follow.
func lower(p plan) statement {
	var s statement
	pass := p.onePass()
	if pass != byCell && (p.perSession() || pass == bySession) {
		p.env.Visits = true // rows of sessions also contain counts of events
	}
	columns, keys := p.groupColumns()
	var groups []sqltree.Expr
	read := func(r ref) {
		s.reads, s.targets = append(s.reads, r), append(s.targets, r.column.Value.New())
	}
	alias := func(r ref) sqltree.Expr { return sqltree.Col(columns[slices.Index(s.reads, r)].As) }
	for _, g := range p.groups {
		read(g)
		groups = append(groups, alias(g))
	}
	for _, m := range p.measures() {
		columns = append(columns, sqltree.Aliased{Expr: p.measure(m), As: "m" + strconv.Itoa(len(columns))})
		read(m)
	}
	for _, r := range p.output {
		s.output = append(s.output, slices.Index(s.reads, r))
	}
	tree := p.grouped(columns, groups, keys)
	if p.fill != nil {
		tree = p.fill.read(tree, columns, s.reads)
	}
	having := exprs(p.having, alias)
	var order []sqltree.Order
	var ranks []sqltree.Expr
	for _, t := range p.order {
		rank, key := t.rank(alias(t.ref)), slices.Index(s.reads, t.ref)
		if p.paged && t.column.Rank != nil {
			key = len(s.targets)
			tree.Columns = append(tree.Columns, sqltree.Aliased{Expr: rank, As: "k" + strconv.Itoa(key)})
			s.targets = append(s.targets, t.key())
		}
		s.keys, ranks = append(s.keys, key), append(ranks, rank)
		order = append(order, sqltree.Order{Expr: rank, Desc: t.desc})
	}
	if p.among != nil {
		having = append(having, p.among.condition(p.groups, alias))
	}
	if p.after != nil {
		having = append(having, following(p.order, p.after, ranks))
	}
	tree.OrderBy, tree.Limit = order, p.limit+1
	if p.total && p.after == nil && len(p.groups) > 0 {
		s.total = new(uint64)
		tree.Columns = append(tree.Columns, sqltree.Aliased{Expr: sqltree.OverAll(sqltree.Call("count")), As: "total"})
		s.targets = append(s.targets, s.total)
	}
	switch {
	case len(having) == 0:
	case p.fill != nil, pass == byCell:
		tree.Where = sqltree.AllOf(having...)
	default:
		tree.Having = sqltree.AllOf(having...)
	}
	s.Statement = tree.Print()
	return s
}

// grouped builds the first part of the SELECT that computes the measures of each group. `columns` has the groups, then
// the measures. `keys` has the expressions to group by.
func (p plan) grouped(columns []sqltree.Aliased, groups, keys []sqltree.Expr) *sqltree.Select {
	if p.states != nil {
		return p.readStates(columns, groups)
	}
	switch p.onePass() {
	case bySession:
		return p.sessionsOnly(columns, groups)
	case byCell:
		return p.cells(columns, keys)
	case joined:
	}
	if !p.perSession() {
		tree := p.read(columns, p.outside()...)
		tree.GroupBy = keys
		return tree
	}
	row, outer := slices.Clone(columns[:len(groups)]), &sqltree.Select{GroupBy: groups}
	for _, group := range groups {
		outer.Columns = append(outer.Columns, sqltree.Aliased{Expr: group})
	}
	outer.Columns = append(outer.Columns, columns[len(groups):]...)
	for _, key := range insights.SessionKey() {
		row = append(row, sqltree.Aliased{Expr: key})
	}
	add := func(name string, e sqltree.Expr) {
		if !slices.ContainsFunc(row, func(c sqltree.Aliased) bool { return c.As == name }) {
			row = append(row, sqltree.Aliased{Expr: e, As: name})
		}
	}
	for _, m := range p.measures() {
		for _, c := range m.column.Counters {
			add(c.Name, c.CountOf())
		}
		for _, part := range m.column.Session {
			add(part.Name, part.RowOf())
		}
	}
	outer.Sub = p.read(row, p.outside()...)
	outer.Sub.GroupBy = slices.Concat(keys, insights.SessionKey())
	return outer
}
