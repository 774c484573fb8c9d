package query

import (
	"slices"
	"time"

	"github.com/octavo-docs/octavo/query/statecache"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// hasStates reports whether states can have the plan's measures with this counting method. Grouping by exact time gives
// about as many groups as events, so such a plan has no states.
func (p plan) hasStates(counting insights.Counting) bool {
	switch counting {
	case insights.CountExact, insights.CountBounded:
		if p.counts() {
			return false
		}
	case insights.CountTotals, insights.CountSketched:
	}
	exactTime := func(g ref) bool { return g.isTime() && g.args.Interval == nil }
	return p.rest == nil && len(p.sessions) == 0 && !p.perSession() && !slices.ContainsFunc(p.groups, exactTime)
}

// fromStates returns the plan for reading from states of settled parts. `visits` reports whether a remaining scope is
// read from visits, if they have its columns. `ok` is false if no span has states.
func (p plan) fromStates(parts statecache.Parts, cuts statecache.Cuts, visits func(scope) bool) (_ plan, ok bool) {
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
	spans := cuts.Spans(p.from, p.to, parts)
	if len(spans) == 0 {
		return p, false
	}
	// The states of all spans go into one table, which is named after the columns for the whole range. The columns of a
	// span may have other SQL, because the span's zone is limited to the span.
	st := &states{table: statecache.TableOf(p.stateRows(p.scope).Print())}
	for _, span := range spans {
		s := stateSpan{scope: in(span.From, span.To), entry: &statecache.Entry{Span: span, Parts: parts.Of(span)}}
		s.env.Zone = s.env.Zone.Within(span.From, span.To) // the zone of a longer range would change the key
		s.events = events(s.scope)
		if len(s.entry.Parts) == 0 {
			st.rest = append(st.rest, s.events)
			continue
		}
		s.entry.Key = statecache.KeyOf(st.table, p.entryRows(s).Print(), s.entry.Parts)
		st.spans = append(st.spans, s)
	}
	if from := spans[0].From; p.from.Before(from) {
		st.rest = append(st.rest, events(in(p.from, from)))
	}
	if to := spans[len(spans)-1].To; to.Before(p.to) {
		st.rest = append(st.rest, events(in(to, p.to)))
	}
	if len(st.spans) == 0 {
		return p, false
	}
	p.env.States, p.states = true, st
	return p, true
}

// entriesOf returns the spans' entries in the cache.
func entriesOf(spans []stateSpan) []*statecache.Entry {
	list := make([]*statecache.Entry, len(spans))
	for i, span := range spans {
		list[i] = span.entry
	}
	return list
}

// split moves the spans whose states are absent to `rest`, and returns their keys.
func (st *states) split() (absent []string) {
	var spans []stateSpan
	for _, span := range st.spans {
		if span.entry.Status == statecache.Absent {
			st.rest, absent = append(st.rest, span.events), append(absent, span.entry.Key)
			continue
		}
		spans = append(spans, span)
	}
	st.spans = spans
	return absent
}

// toBuild returns the spans whose states have to be built.
func (st *states) toBuild() (list []stateSpan) {
	for _, span := range st.spans {
		if span.entry.Status == statecache.Build {
			list = append(list, span)
		}
	}
	return list
}

// readsVisits reports whether the scopes in `rest` are read from visits.
func (st *states) readsVisits() bool {
	return slices.ContainsFunc(st.rest, func(sc scope) bool { return sc.source.visits != nil })
}

// stateRows returns the statement that computes the plan's states from a scope's events.
func (p plan) stateRows(sc scope, conditions ...sqltree.Expr) *sqltree.Select {
	p.scope = sc
	columns, keys := p.groupColumns()
	tree := p.read(append(columns, p.stateColumns()...), conditions...)
	tree.GroupBy = keys
	return tree
}

// entryRows returns the statement that computes a span's states from the span's parts.
func (p plan) entryRows(s stateSpan) *sqltree.Select {
	return p.stateRows(s.scope, statecache.InParts(s.entry.Parts))
}

// stateColumns returns the columns with the states of the plan's measures.
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

// readStates builds the first part of the SELECT that computes the plan's measures from cached states. `columns` has
// the groups, then the measures.
func (p plan) readStates(columns []sqltree.Aliased, groups []sqltree.Expr) *sqltree.Select {
	outer := &sqltree.Select{GroupBy: groups}
	cached := &sqltree.Select{Table: p.states.table, Where: statecache.Rows(entriesOf(p.states.spans))}
	for _, group := range groups {
		outer.Columns = append(outer.Columns, sqltree.Aliased{Expr: group})
		cached.Columns = append(cached.Columns, sqltree.Aliased{Expr: group})
	}
	outer.Columns = append(outer.Columns, columns[len(groups):]...)
	for _, c := range p.stateColumns() {
		cached.Columns = append(cached.Columns, sqltree.Aliased{Expr: sqltree.Col(c.As)})
	}
	rows := cached
	add := func(sc scope, conditions ...sqltree.Expr) {
		events := p.stateRows(sc, conditions...)
		events.Union, rows = rows, events
	}
	for _, span := range p.states.joined() {
		add(span.scope, sqltree.Not(statecache.InParts(span.entry.Parts)))
	}
	for _, sc := range p.states.rest {
		add(sc)
	}
	outer.Sub = rows
	return outer
}

// joined returns the spans, with adjacent spans of the same parts joined.
func (st *states) joined() (list []stateSpan) {
	for _, span := range st.spans {
		if last := len(list) - 1; last >= 0 && list[last].adjoins(span) {
			list[last].to = span.to
			list[last].env.Zone = span.env.Zone.Within(list[last].from, span.to)
			continue
		}
		list = append(list, span)
	}
	return list
}

// adjoins reports whether a later span begins at this span's end and has the same parts.
func (s stateSpan) adjoins(later stateSpan) bool {
	return s.to.Equal(later.from) && slices.Equal(s.entry.Parts, later.entry.Parts)
}
