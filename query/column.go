package query

import (
	"strconv"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// ref is a column of the table with its extra parameters. Only the resolver
// makes one, so holding a ref means that the names were checked. Refs are
// equal exactly if they read the same thing.
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
		text = strconv.Quote(text) // it is free text
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

// term is one element of the order.
type term struct {
	ref
	desc bool
}

// key is a pointer to scan what the term sorts by into.
func (t term) key() any {
	if t.column.Rank != nil {
		return t.column.Rank.New()
	}
	return t.column.Value.New()
}

// rank reads what the term sorts by, given its column's alias.
func (t term) rank(value sqltree.Expr) sqltree.Expr {
	if t.column.Rank != nil {
		return t.column.Rank.Of(value)
	}
	return value
}
