package query

import (
	"context"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// cost is how many rows a query reads, as far as can be known before it has its
// turn: nothing is read to find out. The queries of a site with unknown rows count
// the rows when they run (sources.go), within their own turn and time.
type cost int64

const (
	// unknownRows is the cost of a long range of a site whose rows are not known.
	unknownRows cost = 2_000_000
	// lightRows are read in a few hundredths of a second on two cores. A query of
	// no more takes a slot only, and passes those that wait for others' rows.
	lightRows cost = 400_000
)

// weight is what a query takes of the rows that may be read at once.
func (c cost) weight() int64 {
	if c <= lightRows {
		return 0
	}
	return int64(c)
}

// cost of a statement over a scope, which reads the refs: see choose.
func (s *sources) cost(sc scope, refs []ref, estimate insights.Counting) (rows cost, known bool) {
	if _, rows, known := s.expect(sc, refs, estimate); known {
		return cost(rows), true
	}
	if s.limits.isShort(sc) {
		return lightRows, false
	}
	return unknownRows, false
}

// expect is the best way to read a scope, and how many rows that reads, if the rows of its
// site are known.
func (s *sources) expect(sc scope, refs []ref, estimate insights.Counting) (best scope, rows uint64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	site := s.sites[sc.site]
	if site == nil || site.days == nil {
		return sc, 0, false
	}
	sum := sc.rowsOf(site.days)
	best = s.limits.best(sc, sum, refs, estimate)
	if s.visits && best.source != rawEvents {
		return best, sum.visits, true
	}
	best.source = rawEvents
	return best, sum.events, true
}

func (p plan) weigh(q *query) {
	plans, scopes := []plan{p}, []scope{p.scope}
	if p.compare != nil {
		other := p.compare.of(p)
		plans, scopes = append(plans, other), append(scopes, other.scope)
	}
	refs, estimate := slices.Concat(p.groups, p.measures()), p.estimate()
	q.weigh(refs, estimate, scopes...)
	for _, p := range plans {
		if best, rows, known := q.service.sources.expect(p.scope, refs, estimate); known {
			q.cost = max(0, q.cost+q.service.states.cost(p, best, rows, q.service.sources)-cost(rows))
		}
	}
	q.size.groups, q.size.exact = len(p.groups), p.exact && p.counts()
}

func (f funnel) weigh(q *query) {
	q.weigh(append(reads(f.steps...), ref{column: insights.Datetime}), insights.CountExact, f.scope)
}

func (p retention) weigh(q *query) { q.weigh(p.refs(), insights.CountExact, p.scope) }

// weigh gives the query the cost of reading the scopes, of which the first is the
// request's. Events that are joined with their sessions are read twice, and events around
// the range once.
func (q *query) weigh(refs []ref, estimate insights.Counting, scopes ...scope) {
	q.cost, q.known = 0, true
	for _, sc := range scopes {
		rows, known := q.service.sources.cost(sc, refs, estimate)
		if len(sc.sessions) > 0 {
			around := rows // of unknown rows, twice as many are as good a guess
			if known {
				around, _ = q.service.sources.cost(sc.around(), refs, estimate)
			}
			rows += around
		}
		q.cost, q.known = q.cost+rows, q.known && known
	}
	q.size = size{length: scopes[0].to.Sub(scopes[0].from)}
}

// cost is what a plan costs, of which the best other way reads some rows: as much as is
// left to read if its states are kept, and all events of what is made.
func (s *stateStore) cost(p plan, best scope, rows uint64, of *sources) cost {
	p.env.Counting = best.env.Counting
	if s.bytes == 0 || rows <= of.limits.keep || !p.hasStates(p.env.Counting) {
		return cost(rows)
	}
	s.mu.Lock()
	parts, known := s.parts, time.Since(s.listed) < trustParts && !s.parts.none()
	s.mu.Unlock()
	if !known {
		return cost(rows)
	}
	sc, ok := p.ofStates(parts, s.cuts, of.inVisits(best))
	if !ok {
		return cost(rows)
	}
	st := sc.source.states
	made, beside := s.expect(st)
	if left := of.left(st.rest); pay(rows, left, beside) {
		return cost(min(rows, left+beside) + of.left(made))
	}
	return cost(rows)
}

// expect returns the spans whose states a query would make, and the number of rows that it would read in addition to
// cached states. It adds the spans that the query reads as events to the rest.
func (s *stateStore) expect(st *states) (made []scope, beside uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, span := range st.spans {
		have, known := s.spans.Peek(span.key)
		switch {
		case known && time.Now().Before(have.until):
			beside += have.beside
		case known && s.due(have):
			made = append(made, span.scope)
		default:
			st.rest = append(st.rest, span.events)
		}
	}
	return made, beside
}

// rowsOf are the rows of a scope's range, about: of a day that is not wholly in it, as
// many as its hours have of those with events. Today has only some as yet.
func (s scope) rowsOf(days []dayRows) (sum dayRows) {
	from, to := s.from.Truncate(time.Hour), s.to.Add(time.Hour-1).Truncate(time.Hour) // the table's key has hours
	for _, d := range days {
		begin, end := d.day, d.day.Add(24*time.Hour)
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		if !begin.Before(end) {
			continue
		}
		hours := min(uint64(end.Sub(begin)/time.Hour), d.hours)
		sum.events, sum.visits = sum.events+d.events*hours/d.hours, sum.visits+d.visits*hours/d.hours
	}
	return sum
}

// firstCount waits until another query has counted a site's rows for the first time:
// without them all queries of a dashboard would read each event.
func (s *sources) firstCount(ctx context.Context, site *siteRows) []dayRows {
	select {
	case <-site.first:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return site.days
}

// ended lets those go on that wait for the first count. The caller holds sources.mu.
func (r *siteRows) ended() {
	select {
	case <-r.first:
	default:
		close(r.first)
	}
}
