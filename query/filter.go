package query

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// filter is a condition on a column.
type filter struct {
	ref
	operator *insights.Operator
	values   []any // values as parsed by the column's Value
}

// expr returns the filter's condition on `value`, which is the expression that reads the column.
func (f filter) expr(value sqltree.Expr) sqltree.Expr {
	return f.column.Condition(f.operator, f.args, value, f.values)
}

// condition is a node of a tree: a filter, or a group of joined conditions.
type condition struct {
	filter        // filter is set in a leaf
	joined *joint // joined is set in a group; it is nil in a leaf
	list   []condition
}

// joint is an operator that joins conditions: and, or. `word` is its name in requests.
type joint struct {
	word string
	of   func(...sqltree.Expr) sqltree.Expr
}

var (
	joints = []*joint{{"or", sqltree.AnyOf}, allOf}
	allOf  = &joint{"and", sqltree.AllOf}
)

// Joints returns the words that join conditions.
func Joints() []string {
	words := make([]string, len(joints))
	for i, j := range joints {
		words[i] = j.word
	}
	return words
}

// expr returns the condition as an expression. `read` returns the expression that reads a column.
func (c condition) expr(read func(ref) sqltree.Expr) sqltree.Expr {
	if c.joined == nil {
		return c.filter.expr(read(c.ref))
	}
	return c.joined.of(exprs(c.list, read)...)
}

func exprs(list []condition, read func(ref) sqltree.Expr) []sqltree.Expr {
	all := make([]sqltree.Expr, len(list))
	for i, c := range list {
		all[i] = c.expr(read)
	}
	return all
}

// filters yields the leaves of conditions, in the request's order.
func filters(list []condition) iter.Seq[filter] {
	return func(yield func(filter) bool) {
		walk(list, yield)
	}
}

func walk(list []condition, yield func(filter) bool) bool {
	for _, c := range list {
		if c.joined == nil && !yield(c.filter) || !walk(c.list, yield) {
			return false
		}
	}
	return true
}

// String describes the condition for tests, logs, keys and cursors. Different conditions have different texts.
func (c condition) String() string {
	texts := make([]string, 0, max(len(c.list), len(c.values)))
	if c.joined == nil {
		for _, v := range c.values {
			text := fmt.Sprint(v)
			if tuple, ok := v.(sqltree.Tuple); ok { // the tuple's texts may have spaces
				text = fmt.Sprintf("%q", tuple)
			}
			texts = append(texts, strconv.Quote(text))
		}
		return fmt.Sprintf("%v %s [%s]", c.ref, c.operator.Word, strings.Join(texts, " "))
	}
	for _, below := range c.list {
		texts = append(texts, below.String())
	}
	return c.joined.word + "(" + strings.Join(texts, ", ") + ")"
}

func siteIs(site string) sqltree.Expr {
	return sqltree.Bin(sqltree.Eq, sqltree.Col(insights.ColumnSite), sqltree.Param(sqltree.T("String"), site))
}

func timeIs(op sqltree.Op, t time.Time) sqltree.Expr {
	return sqltree.Bin(op, insights.TimeExpr(), sqltree.Param(insights.TimeType(), insights.FormatTime(t)))
}

// timesParam returns a parameter with a list of times.
func timesParam(times []time.Time) sqltree.Expr {
	texts := make([]any, len(times))
	for i, t := range times {
		texts[i] = insights.FormatTime(t)
	}
	return sqltree.Param(sqltree.ArrayOf(insights.TimeType()), texts)
}

// reads returns the columns that conditions read.
func reads(lists ...[]condition) (refs []ref) {
	for _, list := range lists {
		for f := range filters(list) {
			refs = append(refs, f.ref)
		}
	}
	return refs
}
