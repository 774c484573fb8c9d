package query

import (
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// scope is the part of a plan that all reports share: which events are selected, and how they are read. It is
// immutable, like a plan.
type scope struct {
	site     string
	from, to time.Time               // from <= t < to
	where    []condition             // conditions on events, joined by AND
	nonNull  []ref                   // columns for which the events must have a value
	sessions []*insights.SessionPart // parts of events' sessions that the statement reads
	source   source
	env      insights.Env
	exact    bool      // whether estimates are refused
	counted  bool      // whether env.Counting comes from the previous page
	first    time.Time // the start of a preset that begins with a day; otherwise zero
	days     string    // see reach.days
	view     string    // the ranges of the caller's view; "" without ranges
	cut      bool      // whether the ranges of the view cut the scope's range
	moves    bool      // whether the range depends on the present time
	key      string    // key is equal for reports that differ only in the current time
}

// source identifies the rows that a scope reads: events or visits.
type source struct {
	name   string
	visits *visits // nil means that the source has a row for each event
}

// rawEvents has a row for each event.
var rawEvents = source{name: "raw"}

// newScope selects all events of a site in a range. It cuts the range to the years that the store can hold. So a
// request for everything since the year 1 gets all events. Time is cut to intervals in `zone`; nil is UTC.
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

// bounded returns the scope with distinct values counted in bounded memory.
func (s scope) bounded() scope {
	s.env.Counting = insights.CountBounded
	return s
}

// expr returns the expression that reads a column of the scope's events.
func (s scope) expr(r ref) sqltree.Expr { return r.column.Expr(r.args, s.env) }

// conditions returns the conditions that select the scope's events. Every statement has the conditions of one site
// and one range.
func (s scope) conditions() []sqltree.Expr {
	return append(s.bounds(), s.meets()...)
}

// bounds returns the conditions that select the scope's site and range.
func (s scope) bounds() []sqltree.Expr {
	return []sqltree.Expr{siteIs(s.site), timeIs(sqltree.Ge, s.from), timeIs(sqltree.Lt, s.to)}
}

// meets returns the conditions on columns.
func (s scope) meets() (all []sqltree.Expr) {
	for _, r := range s.nonNull {
		all = append(all, r.column.HasValue())
	}
	return append(all, exprs(s.where, s.expr)...)
}

// describe begins the description of a report over the scope.
func (s scope) describe() *description {
	b := &description{}
	b.line("site", s.site)
	b.line("range", insights.FormatTime(s.from)+" <= t < "+insights.FormatTime(s.to))
	if zone := s.env.Zone.String(); zone != "UTC" {
		b.line("zone", zone)
	}
	if week := s.env.Zone.Week(); week != 0 {
		b.line("weeks", "from "+week.String())
	}
	if s.exact {
		b.line("accuracy", "exact")
	}
	if s.view != "" {
		b.line("view", s.view)
	}
	b.conditions("filter", s.where, false)
	return b
}

// description is the readable form of a report, one fact a line.
type description struct{ strings.Builder }

func (b *description) line(name string, list ...string) {
	if len(list) > 0 {
		b.WriteString(name + ": " + strings.Join(list, ", ") + "\n")
	}
}

// conditions writes conditions. It writes an empty list only if `always` is set.
func (b *description) conditions(name string, list []condition, always bool) {
	if always && len(list) == 0 {
		b.line(name, "any event")
	}
	for _, c := range list {
		b.line(name, c.String())
	}
}

// timeless returns the scope without its range, for keys: see keyOf.
func (s scope) timeless() scope {
	s.from, s.to = time.Time{}, time.Time{}
	return s
}

func (s scope) identity() string { return s.key }

// span returns the scope if a view has cut its range. Otherwise it returns an empty scope, because the request itself
// names the range.
func (s scope) span() scope {
	if s.cut {
		return s
	}
	return scope{}
}

// fixedAge is the longest time for which an answer about a fixed range is reused while its site's events do not change.
const fixedAge = 24 * time.Hour

// lasts returns the time for which an answer is reused while the site's events do not change. For a range that ends
// now, it returns the time `moving`, because events leave such a range even if no new events arrive.
func (s scope) lasts(moving time.Duration) time.Duration {
	if s.moves {
		return moving
	}
	return fixedAge
}

// visits says how a scope is read with visits. Whole quarters of an hour come from the projection of visits. The
// remaining parts at both ends of the range come from events. The engine builds the projection with each part of the
// events table, so visits and events are equally fresh.
type visits struct {
	from, to time.Time
	types    []insights.Code // types of the counted events; nil means all types
	typed    []condition     // the conditions that select types
	columns  []string        // the rows' columns, in addition to the counters
	counters []*insights.Counter
}
