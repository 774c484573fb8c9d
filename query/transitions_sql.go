package query

import (
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// stepKind is a kind of step to or from a view of the page.
type stepKind uint8

// These are the kinds of steps. Each view of the page has one step before it: an entry, a reload, or a step from
// another page. Each view also has one step after it. A reload is counted only before the later view.
const (
	stepNone stepKind = iota
	stepEntry
	stepFrom
	stepReload
	stepExit
	stepTo
)

// neighbour is a page before or after the page.
type neighbour struct {
	hash        uint64
	views       uint64
	first, last time.Time // times of its first and last views in the transitions
}

// lower turns the transitions into SQL. The statement has a row for each kind of step and each page. Kinds without a
// page have one row. The most frequent pages come first, and of equally frequent pages the page with the latest view.
// Each row also has the number of all steps of its kind.
//
// First the statement finds the sessions that viewed the page, by their keys of 128 bits. Then it lists the views of
// these sessions. For a page that few sessions viewed, this is many times as fast as listing the views of all sessions.
// For a page that half of the sessions viewed, it takes as long or longer. A view is one number of 256 bits. The number
// consists of the event's place in the order of sending, the hash of its page, and whether the page is the page of the
// request. So the engine sorts a session's list without comparing texts.
func (t transitions) lower() sqltree.Statement {
	is := t.page.is()
	session := make([]sqltree.Aliased, len(insights.SessionKey()))
	for i, key := range insights.SessionKey() {
		session[i].Expr = key
	}
	that := sqltree.InRows(insights.SessionKey(), t.read(session, insights.PageViewed(), is))
	page := sqltree.Call("bitOr", sqltree.Call("bitShiftLeft", insights.PageHash(), sqltree.Int(1)), is)
	sent := sqltree.Call("bitShiftLeft", wide(insights.SentNumber()), sqltree.Int(pageBits))
	view := sqltree.Call("bitOr", sent, wide(page))
	sessions := t.read([]sqltree.Aliased{{
		Expr: sqltree.Call("arraySort", sqltree.Call("groupArray", view)), As: "list",
	}}, insights.PageViewed(), that)
	sessions.GroupBy = insights.SessionKey()

	list, step, one := sqltree.Col("list"), sqltree.Col("step"), sqltree.Int(1)
	places := sqltree.Call("arrayEnumerate", list)
	before := stepsOf(sqltree.Call("arrayShiftRight", list, one), places, stepEntry, stepReload, stepFrom)
	after := stepsOf(sqltree.Call("arrayShiftLeft", list, one), sqltree.Call("arrayReverse", places),
		stepExit, stepNone, stepTo)
	steps := &sqltree.Select{
		Columns: []sqltree.Aliased{{
			Expr: sqltree.Call("arrayJoin", sqltree.Call("arrayConcat", before, after)), As: "step",
		}},
		Sub: sessions,
	}
	kind, hash, number, last := sqltree.Col("kind"), sqltree.Col("hash"), sqltree.Col("steps"), sqltree.Col("latest")
	counted := &sqltree.Select{
		Columns: []sqltree.Aliased{
			{Expr: part(step, 1), As: "kind"}, {Expr: part(step, 2), As: "hash"},
			{Expr: sqltree.Call("count"), As: "steps"},
			{Expr: sqltree.Call("min", part(step, 3)), As: "earliest"},
			{Expr: sqltree.Call("max", part(step, 3)), As: "latest"},
		},
		Sub: steps, Where: sqltree.Bin(sqltree.Gt, part(step, 1), stepNone.expr()),
		GroupBy: []sqltree.Expr{kind, hash},
	}
	return (&sqltree.Select{
		Columns: []sqltree.Aliased{
			{Expr: kind}, {Expr: hash}, {Expr: number},
			{Expr: insights.SentMillis(sqltree.Col("earliest"))}, {Expr: insights.SentMillis(last)},
			{Expr: sqltree.OverEach(sqltree.Call("sum", number), kind)},
		},
		Sub:     counted,
		OrderBy: []sqltree.Order{{Expr: kind}, {Expr: number, Desc: true}, {Expr: last, Desc: true}, {Expr: hash}},
		Limit:   t.limit + 1, LimitBy: []sqltree.Expr{kind},
	}).Print()
}

// pageBits is how many bits of a view are about its page.
const pageBits = 64

func wide(number sqltree.Expr) sqltree.Expr { return sqltree.Call("toUInt256", number) }

// stepsOf returns the steps between the views of the page in a session's list and the views next to them. Each step is
// a tuple of its kind, the hash of the other page, and the place of the other view in the order of sending. others has
// the views next to the views of the list. A view whose place is 1 has no view next to it.
func stepsOf(others, places sqltree.Expr, end, same, other stepKind) sqltree.Expr {
	list, view, next := sqltree.Col("list"), sqltree.Col("view"), sqltree.Col("next")
	page := func(view sqltree.Expr) sqltree.Expr { return sqltree.Call("toUInt64", view) } // the last 64 bits
	is := func(view sqltree.Expr) sqltree.Expr {
		return sqltree.Bin(sqltree.Eq, sqltree.Call("bitAnd", page(view), sqltree.Int(1)), sqltree.Int(1))
	}
	sent := func(view sqltree.Expr) sqltree.Expr {
		return sqltree.Call("toUInt128", sqltree.Call("bitShiftRight", view, sqltree.Int(pageBits)))
	}
	within := func(k stepKind) sqltree.Expr {
		return sqltree.Call("tuple", k.expr(), sqltree.Call("toUInt64", sqltree.Int(0)), sent(view))
	}
	step := sqltree.Call("multiIf", sqltree.Not(is(view)), within(stepNone),
		sqltree.Bin(sqltree.Eq, sqltree.Col("place"), sqltree.Int(1)), within(end), is(next), within(same),
		sqltree.Call("tuple", other.expr(), sqltree.Call("bitShiftRight", page(next), sqltree.Int(1)), sent(next)))
	return sqltree.Call("arrayMap", sqltree.Lambda([]string{"view", "next", "place"}, step), list, others, places)
}

func (k stepKind) expr() sqltree.Expr { return sqltree.Call("toUInt8", sqltree.Int(int64(k))) }

func part(tuple sqltree.Expr, n int64) sqltree.Expr {
	return sqltree.Call("tupleElement", tuple, sqltree.Int(n))
}

// is returns the condition that an event is about the page.
func (t pageTarget) is() sqltree.Expr {
	if t.space == "" {
		return insights.AtPath(t.path)
	}
	return insights.OfPage(t.space, t.page)
}

// lowerNames reads what events say about pages. Of each page it reads the events of two moments: its first and its last
// view in the transitions. So the engine reads a small part of the range. The first view is also there on a node that
// does not have the newest events yet.
func (t transitions) lowerNames(pages []neighbour) sqltree.Statement {
	var hashes, moments []any
	for _, n := range pages {
		hashes = append(hashes, n.hash)
		moments = append(moments, insights.FormatTime(n.first), insights.FormatTime(n.last))
	}
	hash := insights.PageHash()
	columns := []sqltree.Aliased{{Expr: hash, As: "hash"}}
	for _, e := range insights.LastSeen() {
		columns = append(columns, sqltree.Aliased{Expr: e})
	}
	tree := t.read(columns, insights.PageViewed(),
		sqltree.Bin(sqltree.In, insights.TimeExpr(), sqltree.Param(sqltree.ArrayOf(insights.TimeType()), moments)),
		sqltree.Bin(sqltree.In, hash, sqltree.Param(sqltree.ArrayOf(sqltree.T("UInt64")), hashes)))
	tree.GroupBy = []sqltree.Expr{sqltree.Col("hash")}
	return tree.Print()
}
