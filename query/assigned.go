package query

import (
	"context"
	"slices"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// assigned reports whether a scope may have events with sessions that nodes assigned. Its statement stops at the first
// such event. If the engine does not answer in time, it returns true.
func (s *Service) assigned(ctx context.Context, sc scope) bool {
	st := sc.assignedEvents().Print()
	found, none := false, new(uint8)
	err := s.sources.query(ctx, st.SQL, arguments(st.Params), []any{none}, func() { found = true })
	return found || err != nil
}

// assignedEvents returns a statement that reads at most one event of the scope whose session was assigned by a node.
// The statement ignores conditions on sessions.
func (s scope) assignedEvents() *sqltree.Select {
	s.where = slices.DeleteFunc(slices.Clone(s.where), func(c condition) bool {
		return slices.ContainsFunc(reads([]condition{c}), func(r ref) bool { return len(r.column.Session) > 0 })
	})
	s.source, s.env.Visits, s.sessions = rawEvents, false, nil
	one := sqltree.Aliased{Expr: sqltree.Call("toUInt8", sqltree.Int(1))}
	tree := s.read([]sqltree.Aliased{one}, insights.Assigned())
	tree.Limit = 1
	return tree
}

// tellsSessions reports whether one of the columns is about sessions.
func tellsSessions(refs []ref) bool {
	return slices.ContainsFunc(refs, func(r ref) bool { return r.column.OfSessions() })
}

// sessionScopes returns the scopes of the plan's ranges if the plan reads columns of sessions. Otherwise it returns
// nil.
func (p plan) sessionScopes() []scope {
	if !tellsSessions(slices.Concat(p.groups, p.measures(), reads(p.where))) {
		return nil
	}
	if p.compare == nil {
		return []scope{p.scope}
	}
	return []scope{p.scope, p.compare.of(p).scope}
}

func (f funnel) sessionScopes() []scope {
	if len(f.by.Key) == len(insights.SessionKey()) ||
		tellsSessions(append(reads(f.steps...), reads(f.where)...)) {
		return []scope{f.scope}
	}
	return nil
}

func (p retention) sessionScopes() []scope {
	if tellsSessions(reads(p.where, p.first, p.again)) {
		return []scope{p.scope}
	}
	return nil
}
