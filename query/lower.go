package query

import (
	"slices"
	"strconv"

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
	var s statement
	var columns []sqltree.Aliased
	var groups []sqltree.Expr
	read := func(prefix string, r ref) {
		columns = append(columns, sqltree.Aliased{Expr: p.expr(r), As: prefix + strconv.Itoa(len(columns))})
		s.reads = append(s.reads, r)
	}
	alias := func(r ref) sqltree.Expr { return sqltree.Col(columns[slices.Index(s.reads, r)].As) }
	for _, g := range p.groups {
		read("d", g)
		groups = append(groups, alias(g))
	}
	for _, m := range p.measures() {
		read("m", m)
	}
	for _, r := range p.output {
		s.output = append(s.output, slices.Index(s.reads, r))
	}
	tree := p.read(columns)
	tree.GroupBy, tree.Limit = groups, p.limit
	if len(p.having) > 0 {
		tree.Having = sqltree.AllOf(exprs(p.having, alias)...)
	}
	for _, t := range p.order {
		by := alias(t.ref)
		if t.column.Rank != nil {
			by = t.column.Rank()
		}
		tree.OrderBy = append(tree.OrderBy, sqltree.Order{Expr: by, Desc: t.desc})
	}
	s.Statement = tree.Print()
	return s
}
