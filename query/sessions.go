package query

import (
	"errors"
	"slices"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// errSessions ends a query about sessions that takes too much memory. Filters would
// not help: a session is all of its events.
var errSessions = errors.New("joining sessions takes too much memory")

// joining is the scope with what refs and its conditions read of sessions.
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

// around is the scope with the events of its range's sessions before and after the range.
func (s scope) around() scope {
	s.from, s.to = storable(s.from.Add(-insights.SessionReach)), storable(s.to.Add(insights.SessionReach))
	return s
}

// sessionRows reads the sessions of the scope's range: each whole, whatever the scope's
// conditions are. Sessions without an event in the range are joined with none.
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

// perSession reports whether a measure counts sessions by what they are. Its rows are
// those of groups and sessions, so that each session of a group counts once.
func (p plan) perSession() bool {
	return slices.ContainsFunc(p.measures(), func(r ref) bool { return len(r.column.Session) > 0 })
}

// grouped begins the statement of the plan's groups, given its groups and then its
// measures as columns. keys tell the groups apart.
func (p plan) grouped(columns []sqltree.Aliased, groups, keys []sqltree.Expr) *sqltree.Select {
	if st := p.source.states; st != nil {
		return st.read(p, columns, groups)
	}
	if !p.perSession() {
		tree := p.read(columns)
		tree.GroupBy = keys
		return tree
	}
	row, outer := slices.Clone(columns[:len(groups)]), &sqltree.Select{GroupBy: groups}
	for _, group := range groups {
		outer.Columns = append(outer.Columns, sqltree.Aliased{Expr: group})
	}
	outer.Columns = append(outer.Columns, columns[len(groups):]...)
	for _, key := range insights.SessionKey() {
		row = append(row, sqltree.Aliased{Expr: key})
	}
	add := func(name string, e sqltree.Expr) {
		if !slices.ContainsFunc(row, func(c sqltree.Aliased) bool { return c.As == name }) {
			row = append(row, sqltree.Aliased{Expr: e, As: name})
		}
	}
	for _, m := range p.measures() {
		for _, c := range m.column.Counters {
			add(c.Name, c.CountOf())
		}
		for _, part := range m.column.Session {
			add(part.Name, part.RowOf())
		}
	}
	outer.Sub = p.read(row)
	outer.Sub.GroupBy = slices.Concat(keys, insights.SessionKey())
	return outer
}
