package query

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// naiveSession has all events of a session within a range and the 12 hours before and after it.
type naiveSession struct {
	views       []*insights.Event // sorted by time, then in the order of sending
	first, last int64             // times of the first and the last event, in milliseconds
	came        *insights.Event   // the first event of the session's visitor
}

type naiveVisit struct{ visitor, session uint64 }

// sessionsOf returns the sessions of the events, which must be in the order of sending.
func (n *naive) sessionsOf(events []insights.Event, r naiveRange) map[naiveVisit]*naiveSession {
	sessions, came := map[naiveVisit]*naiveSession{}, map[uint64]*insights.Event{}
	for i := range events {
		e := &events[i]
		if t := n.time(e); t.Before(r.From.Add(-12*time.Hour)) || !t.Before(r.To.Add(12*time.Hour)) {
			continue
		}
		if first := came[e.Visitor]; first == nil || e.TimeMillis < first.TimeMillis {
			came[e.Visitor] = e
		}
		v := naiveVisit{e.Visitor, e.Session}
		s := sessions[v]
		if s == nil {
			s = &naiveSession{first: e.TimeMillis, last: e.TimeMillis}
			sessions[v] = s
		}
		s.first, s.last = min(s.first, e.TimeMillis), max(s.last, e.TimeMillis)
		if insights.EventTypes.Word(e.Type) == "page_view" {
			s.views = append(s.views, e)
		}
	}
	for v, s := range sessions {
		s.came = came[v.visitor]
		slices.SortStableFunc(
			s.views,
			func(a, b *insights.Event) int { return cmp.Compare(a.TimeMillis, b.TimeMillis) },
		)
	}
	return sessions
}

// sessionPageColumn returns a column with a page of an event's session. If sessions are unknown, it uses the event's
// own page, from which filters are drawn.
func sessionPageColumn(of func(views []*insights.Event) *insights.Event) naiveColumn {
	return naiveColumn{
		match: naivePageKey,
		read: func(n *naive, e *insights.Event, _ string) []naiveValue {
			if n.sessions == nil {
				return naivePage(e)
			}
			views := n.sessions[naiveVisit{e.Visitor, e.Session}].views
			if len(views) == 0 {
				return naivePage(&insights.Event{})
			}
			return naivePage(of(views))
		},
	}
}

// came returns the first event of an event's visitor. If sessions are unknown, it returns the event itself, from which
// filters are drawn.
func (n *naive) came(e *insights.Event) *insights.Event {
	if n.sessions == nil {
		return e
	}
	return n.sessions[naiveVisit{e.Visitor, e.Session}].came
}

// mean returns a sum divided by a number, and null if the number is 0.
func mean(sum, count int) (any, float64) {
	if count == 0 {
		return nil, math.NaN()
	}
	m := float64(sum) / float64(count)
	return m, m
}

// viewing returns the number of sessions with a page view, the number of sessions with exactly one page view, and the
// number of all these sessions' page views.
func (g *naiveGroup) viewing() (sessions, bounces, views int) {
	for _, s := range g.whole {
		if len(s.views) > 0 {
			sessions++
		}
		if len(s.views) == 1 {
			bounces++
		}
		views += len(s.views)
	}
	return sessions, bounces, views
}

func (g *naiveGroup) duration() (any, float64) {
	var millis int
	for _, s := range g.whole {
		millis += int(s.last - s.first)
	}
	return mean(millis, 1000*len(g.whole))
}
