package query

import (
	"slices"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// joining returns the scope with the parts of sessions that `refs` and its conditions read.
func (s scope) joining(refs []ref) scope {
	s.sessions = nil
	for _, r := range slices.Concat(refs, reads(s.where)) {
		for _, part := range r.column.Session {
			if !slices.Contains(s.sessions, part) {
				s.sessions = append(s.sessions, part)
			}
		}
	}
	return s
}

// around returns the scope with its range extended by SessionReach on both sides.
func (s scope) around() scope {
	s.from, s.to = storable(s.from.Add(-insights.SessionReach)), storable(s.to.Add(insights.SessionReach))
	return s
}

// sessionRows reads the sessions of the scope's range, with the keys to join them by. Each session is complete,
// whatever the scope's conditions are. Sessions without an event in the range match no row of the join.
func (s scope) sessionRows() (rows *sqltree.Select, keys []sqltree.Expr) {
	events := &sqltree.Select{Table: insights.Table, Where: sqltree.AllOf(s.around().bounds()...)}
	return insights.SessionRows(events, s.sessions)
}
