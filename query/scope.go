package query

import (
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// scope is the part of a plan that all reports share: which events they are
// about, and how these are read. Like a plan it is a value that nobody changes.
type scope struct {
	site     string
	from, to time.Time               // from <= t < to
	where    []condition             // on events, joined by AND
	nonNull  []ref                   // columns in which the events must have a value
	sessions []*insights.SessionPart // what the statement reads of events' sessions
	source   source
	env      insights.Env
	exact    bool   // whether an estimate is no answer
	counted  bool   // whether env.Counting is that of the page before
	key      string // equal for reports that differ in what now is only
}

// source is where rows are read from.
type source struct {
	name   string
	visits *visits // nil: a row for each event
	states *states // instead of visits
}

// rawEvents has a row for each event.
var rawEvents = source{name: "raw"}

// newScope is all events of a site in a range. The range is cut to the years
// that the store can hold: a client that asks for everything since the year 1
// means all there is. Time is cut to intervals in zone; nil is UTC.
func newScope(site string, from, to time.Time, zone *time.Location) scope {
	from, to = storable(from), storable(to)
	return scope{site: site, from: from, to: to, source: rawEvents, env: insights.Env{Zone: insights.NewZone(zone, from, to)}}
}

func storable(t time.Time) time.Time {
	least, most := insights.TimeBounds()
	switch {
	case t.Before(least):
		return least
	case t.After(most):
		return most
	}
	return t
}

// bounded is the scope with different values counted in bounded memory.
func (s scope) bounded() scope {
	s.env.Counting = insights.CountBounded
	return s
}

// read begins a statement over the scope's events.
func (s scope) read(columns []sqltree.Aliased, conditions ...sqltree.Expr) *sqltree.Select {
	if v := s.source.visits; v != nil {
		return v.read(s, columns, conditions)
	}
	tree := &sqltree.Select{Columns: columns, Table: insights.Table, Where: sqltree.AllOf(append(s.conditions(), conditions...)...)}
	if len(s.sessions) > 0 {
		tree.Join, tree.Using = s.sessionRows(), insights.SessionKey()
	}
	return tree
}

// expr reads a column of the scope's events.
func (s scope) expr(r ref) sqltree.Expr { return r.column.Expr(r.args, s.env) }
