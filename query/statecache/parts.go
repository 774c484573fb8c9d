package statecache

import (
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Span is a range of time: From <= t < To.
type Span struct{ From, To time.Time }

// Parts has the settled parts of the events table: the parts of past months, and the large parts of the newest month. A
// month's parts have the events that arrived in that month.
type Parts struct {
	Closed []Part    // parts of past months
	Newest []Part    // parts of the newest month
	Month  time.Time // the beginning of the newest month
}

// Part is a part of the events table.
type Part struct {
	Name    string
	Version string // path and time, because an emptied table or a new table uses the same names again
}

func (p Part) compare(other Part) int { return strings.Compare(p.Name, other.Name) }

// Empty reports whether there are no settled parts.
func (p Parts) Empty() bool { return len(p.Closed)+len(p.Newest) == 0 }

// end is the time up to which most events are in settled parts.
func (p Parts) end() time.Time {
	if len(p.Newest) > 0 {
		return insights.DayOf(p.Month).AddMonths(1).UTC()
	}
	return p.Month
}

// Of returns the parts from which a span's states are built. A span that ends before the newest month needs no parts of
// this month, because they have almost no events of the span.
func (p Parts) Of(s Span) []Part {
	if s.To.After(p.Month) {
		return slices.Concat(p.Closed, p.Newest)
	}
	return p.Closed
}

// InParts returns the condition that an event is in one of the parts.
func InParts(parts []Part) sqltree.Expr {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.Name
	}
	return isOneOf("_part", names)
}

func isOneOf(column string, texts []string) sqltree.Expr {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return sqltree.Bin(sqltree.In, sqltree.Col(column), sqltree.Param(sqltree.ArrayOf(sqltree.T("String")), list))
}
