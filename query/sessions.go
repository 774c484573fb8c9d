package query

import (
	"slices"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// joining returns the scope with the parts of sessions that refs and its conditions read.
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

// around returns the scope with its range extended on both sides, by the reach of a session.
func (s scope) around() scope {
	s.from, s.to = storable(s.from.Add(-insights.SessionReach)), storable(s.to.Add(insights.SessionReach))
	return s
}

// sessionRows reads the sessions of the scope's range. Each is whole, whatever the scope's conditions are. Sessions
// without an event in the range match no row of the join.
func (s scope) sessionRows() *sqltree.Select {
	rows := &sqltree.Select{
		Table: insights.Table, Where: sqltree.AllOf(s.around().bounds()...), GroupBy: insights.SessionKey(),
	}
	for _, key := range rows.GroupBy {
		rows.Columns = append(rows.Columns, sqltree.Aliased{Expr: key})
	}
	for _, part := range s.sessions {
		rows.Columns = append(rows.Columns, sqltree.Aliased{Expr: part.Of(), As: part.Name})
	}
	return rows
}
