package query

import (
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// filter is a condition on a column.
type filter struct {
	ref
	operator *insights.Operator
	values   []any // as the column's Value parsed them
}

// condition is the filter on an expression that reads the column.
func (f filter) condition(value sqltree.Expr) sqltree.Expr {
	return f.column.Condition(f.operator, f.args, value, f.values)
}

// conditions select the scope's events. Every statement has those of one site
// and one range.
func (s scope) conditions() []sqltree.Expr {
	at := func(op sqltree.Op, t time.Time) sqltree.Expr {
		return sqltree.Bin(op, insights.TimeExpr(), sqltree.Param(insights.TimeType(), insights.FormatTime(t)))
	}
	all := []sqltree.Expr{
		sqltree.Bin(sqltree.Eq, sqltree.Col(insights.ColumnSite), sqltree.Param(sqltree.T("String"), s.site)),
		at(sqltree.Ge, s.from),
		at(sqltree.Lt, s.to),
	}
	for _, r := range s.nonNull {
		all = append(all, r.column.HasValue())
	}
	for _, f := range s.filters {
		all = append(all, f.condition(s.expr(f.ref)))
	}
	return all
}
