package query

import (
	"slices"
	"strconv"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// statement is a plan as SQL, and where in its rows the result's columns are.
type statement struct {
	sqltree.Statement
	reads  []ref // what each column of a row is
	output []int // the result's columns as indexes of reads
}

// lower turns a plan into SQL. Every group and measure is read once under an
// alias, also if it is only filtered or ordered by, so that conditions and
// order refer to the very expression that the rows are made of.
func lower(p plan) statement {
	l := lowering{plan: p, aliases: map[ref]string{}}
	var s statement
	read := func(prefix string, r ref) {
		alias := prefix + strconv.Itoa(len(l.aliases))
		l.aliases[r] = alias
		l.columns = append(l.columns, sqltree.Aliased{Expr: l.expr(r), As: alias})
		s.reads = append(s.reads, r)
	}
	for _, g := range p.groups {
		read("d", g)
		l.groups = append(l.groups, l.alias(g))
	}
	for _, m := range p.measures() {
		read("m", m)
	}
	for _, r := range p.output {
		s.output = append(s.output, slices.Index(s.reads, r))
	}
	tree := &sqltree.Select{
		Columns: l.columns, Table: p.table,
		Where: sqltree.AllOf(l.conditions()...), GroupBy: l.groups, OrderBy: l.order(), Limit: p.limit,
	}
	if having := l.having(); len(having) > 0 {
		tree.Having = sqltree.AllOf(having...)
	}
	s.Statement = tree.Print()
	return s
}

type lowering struct {
	plan
	columns []sqltree.Aliased
	groups  []sqltree.Expr
	aliases map[ref]string
}

func (l *lowering) expr(r ref) sqltree.Expr {
	return r.column.Expr(r.args, insights.Env{Zone: insights.UTC, Estimate: l.estimate})
}

func (l *lowering) alias(r ref) sqltree.Expr { return sqltree.Col(l.aliases[r]) }

// scope is the condition that every statement has: one site, one range.
func (p plan) scope() []sqltree.Expr {
	at := func(op sqltree.Op, bound string) sqltree.Expr {
		return sqltree.Bin(op, insights.TimeExpr(), sqltree.Param(insights.TimeType(), bound))
	}
	return []sqltree.Expr{
		sqltree.Bin(sqltree.Eq, sqltree.Col(insights.ColumnSite), sqltree.Param(sqltree.T("String"), p.site)),
		at(sqltree.Ge, insights.FormatTime(p.from)),
		at(sqltree.Lt, insights.FormatTime(p.to)),
	}
}

func (l *lowering) conditions() []sqltree.Expr {
	list := l.scope()
	for _, r := range l.present {
		list = append(list, r.column.HasValue())
	}
	for _, f := range l.filters {
		if !f.isMeasure() {
			list = append(list, l.condition(f, l.expr(f.ref)))
		}
	}
	return list
}

func (l *lowering) having() []sqltree.Expr {
	var list []sqltree.Expr
	for _, f := range l.filters {
		if f.isMeasure() {
			list = append(list, l.condition(f, l.alias(f.ref)))
		}
	}
	return list
}

// condition is a filter on what value reads.
func (l *lowering) condition(f filter, value sqltree.Expr) sqltree.Expr {
	return f.column.Condition(f.operator, f.args, value, f.values)
}

func (l *lowering) order() []sqltree.Order {
	var list []sqltree.Order
	for _, t := range l.plan.order {
		e := l.alias(t.ref)
		if t.column.Rank != nil {
			e = t.column.Rank()
		}
		list = append(list, sqltree.Order{Expr: e, Desc: t.desc})
	}
	return list
}
