package query

import (
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// stepKind is a kind of step to or from a view of the page.
type stepKind uint8

// These are the kinds of steps. Each view of the page has one step before it: an entry, a reload, or a step from
// another page. Each view also has one step after it: an exit, or a step to another page. A reload is counted only as
// the step before the later view.
const (
	stepEntry stepKind = iota
	stepReload
	stepFrom
	stepAfter // the first kind of step after a view of the page
	stepExit  = stepAfter + stepEntry
	stepTo    = stepAfter + stepFrom
)

// neighbour is a page that visitors viewed before or after the page of the request.
type neighbour struct {
	hash        uint64
	views       uint64
	first, last time.Time // times of the first and the last view of this page in the transitions
}

// lower turns the transitions into SQL. The statement has a row for each kind of step and each page. Entries, reloads
// and exits have one row each. Of each kind, the most frequent pages come first. Of equally frequent pages, the page
// with the latest view comes first. Each row also has the number of all steps of its kind.
//
// First the statement finds the sessions that viewed the page, by their keys of 128 bits. Then it lists the views of
// these sessions. For a page that few sessions viewed, this is twice as fast as listing the views of all sessions. For
// a page that half of the sessions viewed, both take the same time. If too many sessions viewed the page, the keys do
// not fit into the query's memory. Then the caller sets everySession, and the statement lists the views of all sessions
// in one pass. The engine may write these lists to disk.
func (t transitions) lower() sqltree.Statement {
	is := t.page.is()
	list := []sqltree.Aliased{{
		Expr: sqltree.Call("arraySort", sqltree.Call("groupArray", viewNumber(is))), As: "list",
	}}
	var sessions *sqltree.Select
	if t.everySession {
		sessions = t.read(list, insights.PageViewed())
		sessions.Having = sqltree.Bin(sqltree.Gt, sqltree.Call("countIf", is), sqltree.Int(0))
	} else {
		sessions = t.read(list, insights.PageViewed(), t.inSessions(is))
	}
	sessions.GroupBy = insights.SessionKey()

	step := sqltree.Col("step")
	side, page, number := sqltree.Col("side"), sqltree.Col("page_bits"), sqltree.Col("steps")
	counted := &sqltree.Select{
		Columns: []sqltree.Aliased{
			{Expr: sqltree.Call("toUInt8", sqltree.Call("bitShiftRight", step, sqltree.Int(sideShift))), As: "side"},
			{Expr: sqltree.Call("if", isPage(step), sqltree.Int(1), pageOf(step)), As: "page_bits"},
			{Expr: sqltree.Call("count"), As: "steps"},
			{Expr: sqltree.Call("min", step), As: "earliest"},
			{Expr: sqltree.Call("max", step), As: "latest"},
		},
		Sub:     &sqltree.Select{Columns: []sqltree.Aliased{{Expr: stepsOf("list"), As: "step"}}, Sub: sessions},
		GroupBy: []sqltree.Expr{side, page},
	}
	kind, hash, latest := sqltree.Col("kind"), sqltree.Col("hash"), sqltree.Col("latest")
	return (&sqltree.Select{
		Columns: []sqltree.Aliased{
			{Expr: kindOfStep(side, page), As: "kind"},
			{Expr: sqltree.Call("bitShiftRight", page, sqltree.Int(1)), As: "hash"}, {Expr: number},
			{Expr: insights.SentMillis(sentOf(sqltree.Col("earliest")))}, {Expr: insights.SentMillis(sentOf(latest))},
			{Expr: sqltree.OverEach(sqltree.Call("sum", number), kind)},
		},
		Sub:     counted,
		OrderBy: []sqltree.Order{{Expr: kind}, {Expr: number, Desc: true}, {Expr: latest, Desc: true}, {Expr: hash}},
		Limit:   t.limit + 1, LimitBy: []sqltree.Expr{kind},
	}).Print()
}

// inSessions returns the condition that an event is in a session with a view of the page.
func (t transitions) inSessions(is sqltree.Expr) sqltree.Expr {
	key := make([]sqltree.Aliased, len(insights.SessionKey()))
	for i, column := range insights.SessionKey() {
		key[i].Expr = column
	}
	return sqltree.InRows(insights.SessionKey(), t.read(key, insights.PageViewed(), is))
}

// A view is one number of 256 bits, so that the engine sorts a session's list without texts. The last bit is 1 if the
// view is a view of the request's page. The next 63 bits are the hash of the view's page, and the next 128 bits are the
// view's SentNumber. A step is the number of the view before or after a view of the page; 0 means no view. Above these
// bits, a step has a bit that is 1 if the step is after a view of the page.
const (
	sentShift = 64
	sideShift = sentShift + 128
)

func viewNumber(is sqltree.Expr) sqltree.Expr {
	page := sqltree.Call("bitOr", sqltree.Call("bitShiftLeft", insights.PageHash(), sqltree.Int(1)), is)
	return sqltree.Call("bitOr",
		sqltree.Call("bitShiftLeft", wide(insights.SentNumber()), sqltree.Int(sentShift)), wide(page))
}

func wide(number sqltree.Expr) sqltree.Expr { return sqltree.Call("toUInt256", number) }

// pageOf returns the bits that describe the page of a view or step.
func pageOf(view sqltree.Expr) sqltree.Expr { return sqltree.Call("toUInt64", view) }

// isPage returns a bit: 1 if the view, or the view of the step, is a view of the request's page.
func isPage(view sqltree.Expr) sqltree.Expr {
	return sqltree.Call("bitAnd", sqltree.Call("toUInt8", view), sqltree.Int(1))
}

func sentOf(view sqltree.Expr) sqltree.Expr {
	return sqltree.Call("toUInt128", sqltree.Call("bitShiftRight", view, sqltree.Int(sentShift)))
}

// stepsOf returns the expression that makes a row for each step of a session's list. If two consecutive views are views
// of the page, they are one step: the step before the later view.
func stepsOf(name string) sqltree.Expr {
	list, one := sqltree.Col(name), sqltree.Int(1)
	view, other := sqltree.Col("view"), sqltree.Col("other")
	steps := func(condition, others sqltree.Expr) sqltree.Expr {
		return sqltree.Call("arrayFilter", sqltree.Lambda([]string{"other", "view"}, condition), others, list)
	}
	before := steps(isPage(view), sqltree.Call("arrayShiftRight", list, one))
	after := steps(sqltree.Bin(sqltree.Gt, isPage(view), isPage(other)), sqltree.Call("arrayShiftLeft", list, one))
	marked := sqltree.Call("bitOr", other, sqltree.Call("bitShiftLeft", wide(one), sqltree.Int(sideShift)))
	return sqltree.Call("arrayJoin", sqltree.Call("arrayConcat", before,
		sqltree.Call("arrayMap", sqltree.Lambda([]string{"other"}, marked), after)))
}

// kindOfStep returns the kind of a step. `side` is 1 after a view of the page. `page` has the bits of the step's page.
// It is 0 if the step has no view, and 1 if the step's view is a view of the request's page.
func kindOfStep(side, page sqltree.Expr) sqltree.Expr {
	return sqltree.Call("toUInt8", sqltree.Call("plus", sqltree.Bin(sqltree.Mul, side, stepAfter.expr()),
		sqltree.Call("least", page, stepFrom.expr())))
}

func (k stepKind) expr() sqltree.Expr { return sqltree.Int(int64(k)) }

// is returns the condition that an event is about the page.
func (t pageTarget) is() sqltree.Expr {
	if t.space == "" {
		return insights.AtPath(t.path)
	}
	return insights.OfPage(t.space, t.page)
}

// lowerNames returns the statement that reads the names of pages from events. Of each page it reads the events of two
// moments: the times of the page's first and last views in the transitions. So the engine reads a small part of the
// range. If the statement runs on a replica without the newest events, it still finds the first view.
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
