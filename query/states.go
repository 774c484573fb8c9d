package query

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

const statesName = "states"

// states is a way to read a scope of a plan: aggregate states that were kept of parts
// that hardly change any more, and the events of what is left.
//
// A part of a MergeTree table never changes: what is inserted, merged or deleted makes
// others. So kept states are right for as long as their parts are the table's, which is
// asked after each statement (statestore.go).
type states struct {
	table string
	spans []keptSpan // in which events of other parts than theirs are read
	rest  []scope    // in which events of all parts are
}

// keptSpan is a time of which a plan's states are kept.
type keptSpan struct {
	scope
	parts  []part // of which the states are
	events scope  // to read it without states
	key    string // of all that the states depend on
	row    string // of their rows in the table
}

const (
	columnKey  = "key"
	columnMade = "made"
)

// hasStates reports whether the plan's measures can be counted from states, if different
// values are counted so. Groups of moments are as many as events.
func (p plan) hasStates(counting insights.Counting) bool {
	switch counting {
	case insights.CountExact, insights.CountBounded:
		if p.counts() {
			return false
		}
	case insights.CountTotals, insights.CountSketched:
	}
	return len(p.sessions) == 0 && !p.perSession() && !slices.ContainsFunc(p.groups, func(g ref) bool { return g.isTime() && g.args.Interval == nil })
}

// ofStates is the plan's scope read from states of settled parts. Spans begin and end with
// whole months, and up to them days, so that the same ones are asked for again: for a day,
// and longer if they end with a month that is over. Of what is left, visits says what is
// read from them, if they have it.
func (p plan) ofStates(settled settledParts, cuts cuts, visits func(scope) bool) (sc scope, ok bool) {
	in := func(from, to time.Time) scope {
		s := p.scope
		s.from, s.to = from, to
		return s
	}
	events := func(sc scope) scope {
		if !visits(sc) {
			return sc
		}
		if of, ok := sc.ofVisits(slices.Concat(p.groups, p.measures())); ok {
			return of
		}
		return sc
	}
	spans := cuts.spans(p.from, p.to, settled)
	if len(spans) == 0 {
		return p.scope, false
	}
	// One table for all spans: what reads time may differ between them.
	st := &states{table: tableOf(p.stateRows(p.scope).Print())}
	for _, span := range spans {
		kept := keptSpan{scope: in(span.from, span.to), parts: settled.of(span)}
		kept.env.Zone = kept.env.Zone.Within(span.from, span.to) // another range's would make another key
		kept.events = events(kept.scope)
		if len(kept.parts) == 0 {
			st.rest = append(st.rest, kept.events)
			continue
		}
		made := p.stateRows(kept.scope, isOf(kept.parts)).Print()
		kept.key = keyOfStates(made, st.table, kept.parts)
		st.spans = append(st.spans, kept)
	}
	if from := spans[0].from; p.from.Before(from) {
		st.rest = append(st.rest, events(in(p.from, from)))
	}
	if to := spans[len(spans)-1].to; to.Before(p.to) {
		st.rest = append(st.rest, events(in(to, p.to)))
	}
	if len(st.spans) == 0 {
		return p.scope, false
	}
	sc = p.scope
	sc.env.States, sc.source = true, source{name: statesName, states: st}
	return sc, true
}

// rows name the spans' states in the table.
func (st *states) rows() []string {
	list := make([]string, len(st.spans))
	for i, span := range st.spans {
		list[i] = span.row
	}
	return list
}

// parts are those of all spans.
func (st *states) parts() (list []part) {
	for _, span := range st.spans {
		list = append(list, span.parts...)
	}
	slices.SortFunc(list, part.compare)
	return slices.Compact(list)
}

// readsVisits reports whether what is left is read from visits.
func (st *states) readsVisits() bool {
	return slices.ContainsFunc(st.rest, func(sc scope) bool { return sc.source.visits != nil })
}

// isOf is "the event is in one of the parts".
func isOf(parts []part) sqltree.Expr {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
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

// stateRows reads the plan's states of a scope's events.
func (p plan) stateRows(sc scope, conditions ...sqltree.Expr) *sqltree.Select {
	p.scope = sc
	columns, keys := p.groupColumns()
	tree := p.read(append(columns, p.stateColumns()...), conditions...)
	tree.GroupBy = keys
	return tree
}

// stateColumns are the states of the plan's measures.
func (p plan) stateColumns() (columns []sqltree.Aliased) {
	for _, m := range p.measures() {
		for _, c := range m.column.States(p.env) {
			if !slices.ContainsFunc(columns, func(have sqltree.Aliased) bool { return have.As == c.As }) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

// read begins a statement over states: groups come first in columns.
func (st *states) read(p plan, columns []sqltree.Aliased, groups []sqltree.Expr) *sqltree.Select {
	outer := &sqltree.Select{GroupBy: groups}
	kept := &sqltree.Select{Table: st.table}
	for _, group := range groups {
		outer.Columns = append(outer.Columns, sqltree.Aliased{Expr: group})
		kept.Columns = append(kept.Columns, sqltree.Aliased{Expr: group})
	}
	outer.Columns = append(outer.Columns, columns[len(groups):]...)
	for _, c := range p.stateColumns() {
		kept.Columns = append(kept.Columns, sqltree.Aliased{Expr: sqltree.Col(c.As)})
	}
	kept.Where = isOneOf(columnKey, st.rows())
	rows := kept
	add := func(sc scope, conditions ...sqltree.Expr) {
		events := p.stateRows(sc, conditions...)
		events.Union, rows = rows, events
	}
	for _, span := range st.joined() {
		add(span.scope, sqltree.Not(isOf(span.parts)))
	}
	for _, sc := range st.rest {
		add(sc)
	}
	outer.Sub = rows
	return outer
}

// joined are the spans, of which those side by side are one, if they have the same parts.
func (st *states) joined() (list []keptSpan) {
	for _, span := range st.spans {
		if last := len(list) - 1; last >= 0 && list[last].to.Equal(span.from) && slices.Equal(list[last].parts, span.parts) {
			list[last].to = span.to
			list[last].env.Zone = span.env.Zone.Within(list[last].from, span.to)
			continue
		}
		list = append(list, span)
	}
	return list
}

// making is the statement that keeps a span's states.
func (st *states) making(p plan, span keptSpan) sqltree.Statement {
	tree := p.stateRows(span.scope, isOf(span.parts))
	tree.Columns = append([]sqltree.Aliased{
		{Expr: sqltree.Param(sqltree.T("String"), span.row), As: columnKey},
		{Expr: sqltree.Call("now"), As: columnMade},
	}, tree.Columns...)
	return tree.Print()
}

// creating is the statement that makes the table of such states. Each row of the span is
// in the same part, which is never merged and goes as a whole.
func (st *states) creating(made sqltree.Statement) sqltree.Statement {
	made.SQL = "CREATE TABLE IF NOT EXISTS " + sqltree.Ident(st.table) + `
ENGINE = MergeTree
PARTITION BY ` + columnKey + `
ORDER BY tuple()
TTL ` + columnMade + ` + INTERVAL ` + strconv.Itoa(int(keepStates/time.Hour)+1) + ` HOUR
SETTINGS ttl_only_drop_parts = 1, old_parts_lifetime = 1
EMPTY AS
` + made.SQL
	return made
}

// inserting is the statement that fills it.
func (st *states) inserting(made sqltree.Statement) sqltree.Statement {
	made.SQL = "INSERT INTO " + sqltree.Ident(st.table) + "\n" + made.SQL
	return made
}

// tableOf is the name of the table for states that a statement makes. What a statement says
// has no values, so nobody's request can ask for a table of its own.
func tableOf(made sqltree.Statement) string {
	columns, _, _ := strings.Cut(made.SQL, "\nWHERE ")
	return insights.StatesTable(columns)
}

// keyOfStates tells states apart by all that they depend on.
func keyOfStates(made sqltree.Statement, table string, parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%q\n", p.version)
	}
	fmt.Fprintf(&b, "%s\n%s\n", table, made.SQL)
	for _, p := range made.Params {
		fmt.Fprintf(&b, "%s %s = %#v\n", p.Name, p.Type, p.Value)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return string(sum[:])
}

// cut divides time.
type cut struct{ floor, next func(time.Time) time.Time }

// ceil is the first cut that is not before t.
func (c cut) ceil(t time.Time) time.Time {
	if at := c.floor(t); at.Before(t) {
		return c.next(at)
	}
	return t
}

// cuts are where spans begin and end.
type cuts struct{ coarse, fine cut }

type span struct{ from, to time.Time }

// usualCuts are months and days.
var usualCuts = cuts{
	coarse: cut{
		floor: func(t time.Time) time.Time { return insights.DayOf(t).Month().UTC() },
		next:  func(t time.Time) time.Time { return insights.DayOf(t).AddMonths(1).UTC() },
	},
	fine: every(24 * time.Hour),
}

// every cuts time into equal lengths.
func every(d time.Duration) cut {
	return cut{
		floor: func(t time.Time) time.Time { return t.Truncate(d) },
		next:  func(t time.Time) time.Time { return t.Add(d) },
	}
}

// spans are the spans of a range, side by side. Those of the newest month are apart, as its
// parts are replaced more often.
func (c cuts) spans(from, to time.Time, settled settledParts) (list []span) {
	from, to = from.UTC(), earliest(to.UTC(), settled.end())
	first, last := c.coarse.ceil(from), earliest(c.coarse.floor(to), settled.month)
	if first.After(last) { // both are in one
		first, last = c.fine.floor(to), c.fine.floor(to)
	}
	for _, s := range []span{{c.fine.ceil(from), first}, {first, last}, {last, c.fine.floor(to)}} {
		if s.from.Before(s.to) {
			list = append(list, s)
		}
	}
	return list
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
