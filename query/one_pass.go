package query

import (
	"slices"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// onePass is a method of reading a plan about sessions. All methods except `joined` read it without joining events with
// their sessions. Events or visits of the range and around it are grouped by session once. The same pass collects, for
// each session, the values of the events that the conditions select.
type onePass string

const (
	// joined joins events with their sessions, because the groups or conditions need both together.
	joined onePass = ""
	// bySession: all groups describe whole sessions. The row of a session also has the counts of its selected events.
	bySession onePass = "by session"
	// byCell: all groups describe events. The row of a session lists the groups in which the session has selected
	// events. Other measures are read as in a plan without sessions. Sessions and other measures are read from the same
	// source if this source has all parts of sessions.
	byCell onePass = "by cell"
)

// onePass returns the method of reading the plan's sessions.
func (p plan) onePass() onePass {
	if len(p.sessions) == 0 {
		return joined
	}
	groups := slices.Clone(p.groups)
	if p.rest != nil {
		groups = append(groups, p.rest.groups...)
	}
	of, several := kindOf(groups), func(r ref) bool { return r.column.Several }
	for _, c := range p.where {
		if kindOf(reads([]condition{c})) == mixed {
			return joined
		}
	}
	about := kindOf(slices.Concat(groups, reads(p.where)))
	switch {
	case of == ofSessions, len(groups) == 0 && (about == ofSessions || about == mixed):
		return bySession
	case (about == ofEvents || about == ofNothing) && !slices.ContainsFunc(groups, several):
		return byCell
	}
	return joined
}

// columnsKind says what columns describe: nothing, events, sessions, or a mix.
type columnsKind int

const (
	ofNothing columnsKind = iota
	ofEvents
	ofSessions
	mixed
)

// kindOf returns what the columns describe. A column about a visitor is mixed, because a single session is not enough
// to compute it.
func kindOf(refs []ref) (kind columnsKind) {
	for _, r := range refs {
		k := ofEvents
		switch {
		case r.column.OfVisitor():
			return mixed
		case len(r.column.Session) > 0:
			k = ofSessions
		}
		if kind != ofNothing && kind != k {
			return mixed
		}
		kind = k
	}
	return kind
}

// sourceRefs returns the columns that determine the source of a plan. If its method is byCell, it leaves out the
// columns of sessions, because every source with the other columns also has sessions. Parts of sessions that visits
// lack are read from events.
func (p plan) sourceRefs() []ref {
	if p.onePass() != byCell || !p.numbered() && !p.readsOthers() {
		return p.refs()
	}
	return slices.DeleteFunc(p.refs(), p.inSessions)
}

// numbered reports whether visits contain the numbers of all parts of sessions that the plan reads.
func (p plan) numbered() bool {
	return !slices.ContainsFunc(p.sessions, func(part *insights.SessionPart) bool { return part.OfNumbers == nil })
}

// readsOthers reports whether a plan with the method byCell reads columns in addition to sessions: the names of groups,
// or other measures.
func (p plan) readsOthers() bool {
	return len(p.groups) > 0 || slices.ContainsFunc(p.measures(), func(m ref) bool { return !p.inSessions(m) })
}

// inSessions reports whether a column is read from rows of sessions. Each session of a group is then counted once. So
// counting sessions next to another metric of sessions adds no work, and the count is exact.
func (p plan) inSessions(r ref) bool {
	return len(r.column.Session) > 0 || r.column.InSessions != nil && p.onePass() != joined
}

// measure returns the expression that reads a measure.
func (p plan) measure(m ref) sqltree.Expr {
	if m.column.InSessions != nil && p.inSessions(m) {
		return m.column.InSessions()
	}
	return p.expr(m)
}

// scans returns the scopes that the plan's statement reads, with their columns.
func (p plan) scans() []scan {
	refs := p.sourceRefs()
	switch p.onePass() {
	case bySession:
		return []scan{{p.around(), refs}}
	case byCell:
		all := []scan{{p.around(), refs}}
		if !p.numbered() {
			all[0].refs = p.refs()
		}
		if p.readsOthers() {
			all = append(all, scan{p.scope, refs})
		}
		return all
	case joined:
	}
	return p.scope.scans(refs)
}

// chosen returns the condition that an event is in the range and meets the conditions on events.
func (p plan) chosen() sqltree.Expr {
	all := []sqltree.Expr{timeIs(sqltree.Ge, p.from), timeIs(sqltree.Lt, p.to)}
	p.where = slices.DeleteFunc(slices.Clone(p.where), func(c condition) bool {
		return kindOf(reads([]condition{c})) == ofSessions
	})
	return sqltree.AllOf(append(all, p.meets()...)...)
}

// ofEvents returns the plan with a statement that reads the scope from events.
func (p plan) ofEvents() plan {
	if v := p.source.visits; v != nil {
		p.where = slices.Concat(p.where, v.typed)
	}
	p.source, p.env.Visits = rawEvents, false
	return p
}

// aroundEvents builds the first part of the SELECT that reads the events of all sessions that may have an event in the
// range.
func (p plan) aroundEvents() *sqltree.Select {
	return &sqltree.Select{Table: insights.Table, Where: sqltree.AllOf(p.around().bounds()...)}
}

// chosenEvents is the name of a column in statements by session: the number of the session's chosen events.
const chosenEvents = "chosen_events"

// sessionsOnly builds the first part of the SELECT for a plan with the method bySession. `columns` has the groups, then
// the measures.
func (p plan) sessionsOnly(columns []sqltree.Aliased, groups []sqltree.Expr) *sqltree.Select {
	events := p.ofEvents()
	rows := events.aroundEvents()
	rows.GroupBy = insights.SessionKey()
	for _, key := range insights.SessionKey() {
		rows.Columns = append(rows.Columns, sqltree.Aliased{Expr: key})
	}
	add := func(name string, e sqltree.Expr) {
		if !slices.ContainsFunc(rows.Columns, func(c sqltree.Aliased) bool { return c.As == name }) {
			rows.Columns = append(rows.Columns, sqltree.Aliased{Expr: e, As: name})
		}
	}
	add(chosenEvents, sqltree.Call("countIf", sqltree.As(events.chosen(), chosenName)))
	for _, part := range p.sessions {
		add(part.Name, part.Of())
	}
	for _, m := range p.measures() {
		for _, c := range m.column.Counters {
			add(c.Name, c.CountIn(sqltree.Col(chosenName)))
		}
	}
	conditions := []sqltree.Expr{sqltree.Bin(sqltree.Gt, sqltree.Col(chosenEvents), sqltree.Int(0))}
	for _, c := range events.where {
		if kindOf(reads([]condition{c})) == ofSessions {
			conditions = append(conditions, c.expr(p.expr))
		}
	}
	return &sqltree.Select{
		Columns: columns, Sub: rows, GroupBy: groups,
		Where: sqltree.AllOf(append(conditions, p.outside()...)...),
	}
}

// cells builds the first part of the SELECT for a plan whose measures of sessions are computed per group. It joins
// these measures with the groups' other measures. `columns` has the groups, then the measures. `keys` has the
// expressions that distinguish the groups.
func (p plan) cells(columns []sqltree.Aliased, keys []sqltree.Expr) *sqltree.Select {
	key := sqltree.Col(insights.GroupKey)
	groups, measures := columns[:len(p.groups)], p.measures()
	plain := slices.Clone(groups)
	ofSessions := []sqltree.Aliased{{Expr: key}}
	tree := &sqltree.Select{}
	for i, c := range columns {
		tree.Columns = append(tree.Columns, sqltree.Aliased{Expr: sqltree.Col(c.As)})
		if i < len(groups) {
			continue
		}
		if p.inSessions(measures[i-len(groups)]) {
			ofSessions = append(ofSessions, c)
		} else {
			plain = append(plain, c)
		}
	}
	rows := p.sessionsInGroups()
	sessions := &sqltree.Select{Columns: ofSessions, Sub: rows, GroupBy: []sqltree.Expr{key}}
	if len(plain) == 0 {
		sessions.Columns, sessions.GroupBy = ofSessions[1:], nil
		return &sqltree.Select{Columns: tree.Columns, Sub: sessions}
	}
	p.sessions = nil
	numbers := p.groupNumbers(func(i int) sqltree.Expr { return sqltree.Col(groups[i].As) })
	plain = append(plain, sqltree.Aliased{Expr: insights.KeyOfGroup(numbers), As: insights.GroupKey})
	others := p.read(plain, p.outside()...)
	others.GroupBy = keys
	if len(groups) == 0 {
		sessions.Columns[0] = sqltree.Aliased{Expr: insights.KeyOfGroup(nil), As: insights.GroupKey}
		sessions.GroupBy = nil
	}
	tree.Sub, tree.Join, tree.Using = others, sessions, []sqltree.Expr{key}
	return tree
}

// sessionsInGroups builds the first part of the SELECT that reads the rows of sessions, for a plan with the method
// byCell. It reads the source `visits` under two conditions: the plan's other measures come from this source, and the
// source has the numbers of sessions.
func (p plan) sessionsInGroups() *sqltree.Select {
	if v := p.source.visits; v != nil && p.numbered() {
		rows := &sqltree.Select{Sub: v.sessionRows(p.scope)}
		condition := append(append([]sqltree.Expr{sqltree.Col(chosenName)}, p.meets()...), p.outside()...)
		insights.SessionsInGroups(rows, p.env, p.sessions, p.eventNumbers(), sqltree.AllOf(condition...))
		return rows
	}
	p = p.ofEvents()
	rows := p.aroundEvents()
	condition := append([]sqltree.Expr{p.chosen()}, p.outside()...)
	insights.SessionsInGroups(rows, p.env, p.sessions, p.eventNumbers(), sqltree.AllOf(condition...))
	return rows
}

// groupNumbers returns the expressions for the numbers that identify the groups of an event. `of` returns the
// expression for the value of the i-th group.
func (p plan) groupNumbers(of func(i int) sqltree.Expr) (numbers []sqltree.Expr) {
	for i, g := range p.groups {
		numbers = append(numbers, g.column.GroupNumbers(of(i))...)
	}
	return numbers
}

// eventNumbers returns groupNumbers for rows of events or visits.
func (p plan) eventNumbers() []sqltree.Expr {
	return p.groupNumbers(func(i int) sqltree.Expr { return p.expr(p.groups[i]) })
}
