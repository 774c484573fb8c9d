package query

import (
	"strconv"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// ref is a column with its extra parameters. Only the resolver makes refs from a request's names, so the name of every
// ref has been checked. Two refs are equal if and only if they read the same value.
type ref struct {
	column *insights.Column
	args   insights.Arguments
}

func (r ref) isMeasure() bool { return r.column.Has(insights.Measure) }

func (r ref) isTime() bool { return r.column.Has(insights.Time) }

func (r ref) String() string {
	s, extra := r.column.Name, r.column.Extra
	if extra == nil {
		return s
	}
	text := extra.Text(r.args)
	switch {
	case text == "":
		return s
	case extra.Required:
		text = strconv.Quote(text) // the parameter is free text
	}
	return s + "(" + extra.Name + "=" + text + ")"
}

func refTexts(list []ref) []string {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = r.String()
	}
	return texts
}

// term is one entry of the request's `order`.
type term struct {
	ref
	desc bool
}

// key returns a pointer into which the term's sort value is scanned.
func (t term) key() any {
	if t.column.Rank != nil {
		return t.column.Rank.New()
	}
	return t.column.Value.New()
}

// rank returns the expression that the term sorts by. `value` is the column's alias.
func (t term) rank(value sqltree.Expr) sqltree.Expr {
	if t.column.Rank != nil {
		return t.column.Rank.Of(value)
	}
	return value
}
