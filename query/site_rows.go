package query

import (
	"context"
	"errors"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// siteRows has the numbers of a site's rows by day.
type siteRows struct {
	counted time.Time
	visits  bool          // whether rows of visits were counted, not only events
	days    []dayRows     // nil means that the days are unknown
	first   chan struct{} // first is closed when the first count has ended
}

type dayRows struct {
	day            time.Time
	events, visits uint64
	hours          uint64 // hours of the day that have events
}

// rows returns the approximate numbers of rows that a scope's site has in the scope's range. While one query counts
// them, other queries use the previous count. If there is no previous count, queries that may read visits wait for the
// first count. A count and the wait for it take at most `limit`.
func (s *sources) rows(
	ctx context.Context, sc scope, visits bool, limit time.Duration,
) (sum dayRows, err error) {
	s.mu.Lock()
	site := s.sites[sc.site]
	if site == nil {
		if len(s.sites) >= maxSites {
			clear(s.sites)
		}
		site = &siteRows{first: make(chan struct{})}
		s.sites[sc.site] = site
	}
	days, stale := site.days, time.Since(site.counted) >= countDays || visits && !site.visits
	if stale {
		site.counted, site.visits = time.Now(), visits
	}
	s.mu.Unlock()
	if !stale && days == nil && visits {
		days = s.firstCount(ctx, site, limit)
	}
	if stale {
		days, err = s.count(ctx, sc.site, visits, limit)
		s.mu.Lock()
		site.ended()
		if err == nil {
			site.days = days
		} else if visits { // events take long to count, so only a count of visits is repeated soon
			site.counted = time.Now().Add(min(max(checkVisits, countRest*limit), countDays) - countDays)
		}
		s.mu.Unlock()
		if err != nil {
			return sum, err
		}
	}
	if days == nil && visits {
		return sum, errUncounted
	}
	return sc.rowsOf(days), nil
}

// errUncounted means that a count of a site's rows has just failed, or takes long.
var errUncounted = errors.New("the site's rows are not counted")

// count counts a site's rows by day. It counts rows of visits, or only events if `visits` is false. The count takes at
// most `limit`.
func (s *sources) count(
	ctx context.Context, site string, visits bool, limit time.Duration,
) (days []dayRows, err error) {
	time, events := insights.TimeExpr(), sqltree.Call("count")
	tree := &sqltree.Select{Table: insights.Table, Where: siteIs(site), GroupBy: []sqltree.Expr{sqltree.Col("day")}}
	if visits {
		number, _ := insights.Events.OfVisit(nil)
		time, events = insights.VisitSlot(), sqltree.Call("sum", number)
		tree.Table, tree.Rows, tree.Where = "", insights.VisitRows(), siteOfVisit(site)
	}
	tree.Columns = []sqltree.Aliased{
		{Expr: sqltree.Call("toStartOfDay", time), As: "day"}, {Expr: events}, {Expr: sqltree.Call("count")},
		{Expr: sqltree.Call("uniqExact", sqltree.Call("toStartOfHour", time))},
	}
	st := tree.Print()
	var d dayRows
	days = []dayRows{}
	err = s.within(ctx, limit, st.SQL, arguments(st.Params), []any{&d.day, &d.events, &d.visits, &d.hours},
		func() { days = append(days, d) })
	if err != nil {
		return nil, err // use no count rather than an incomplete count
	}
	return days, nil
}

// known returns the approximate numbers of rows of events and visits in a scope. The numbers are 0 if they are unknown.
func (s *sources) known(sc scope) dayRows {
	s.mu.Lock()
	defer s.mu.Unlock()
	if site := s.sites[sc.site]; site != nil {
		return sc.rowsOf(site.days)
	}
	return dayRows{}
}

// rowsOf returns the approximate numbers of rows of events and visits in a scope's range. Of a day that is only partly
// inside the range, a share of the rows is counted: the day's hours inside the range, divided by the day's hours with
// events. Only hours with events are counted, because the rest of today has no events yet.
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

// firstCount waits for the query that first counts a site's rows, at most for `limit`. Without the counts, every query
// of a dashboard would read all events.
func (s *sources) firstCount(ctx context.Context, site *siteRows, limit time.Duration) []dayRows {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-site.first:
	case <-late.C:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return site.days
}

// ended releases the queries that wait for the first count. The caller holds sources.mu.
func (r *siteRows) ended() {
	select {
	case <-r.first:
	default:
		close(r.first)
	}
}
