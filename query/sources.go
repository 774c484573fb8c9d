package query

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// sources chooses what a statement reads, by how many rows it would read. What it
// knows is a few minutes old: a wrong number makes an answer slower, never wrong.
type sources struct {
	config Config
	conn   driver.Conn
	log    *slog.Logger
	limits sourceLimits

	mu      sync.Mutex
	visits  bool // whether each part of the table has the projection of visits
	checked time.Time
	sites   map[string]*siteRows
}

// siteRows are the rows of a site by day.
type siteRows struct {
	counted time.Time
	visits  bool          // whether those of visits were counted, not of events alone
	days    []dayRows     // nil: not known
	first   chan struct{} // closed when the first count has ended
}

type dayRows struct {
	day            time.Time
	events, visits uint64
	hours          uint64 // of the day, with events
}

const (
	checkVisits = 30 * time.Second
	countDays   = 10 * time.Minute
	maxSites    = 10_000 // whose rows are known
	// maxChoice ends a statement of the choice: a query must not wait for it longer.
	maxChoice = 2 * time.Second
)

type sourceLimits struct {
	// short is the range of which nobody asks how many rows it has: a day of the
	// largest sites has a few hundred thousand events.
	short time.Duration
	// few events are read as fast as the fewer rows of visits, whose statement is longer.
	few uint64
	// fewer is how many times fewer rows visits must have: theirs have more to read.
	fewer uint64
	// many is the number of rows whose visitors take a tenth of a second to count exactly,
	// on two cores. A sketch of fewer rows is no faster.
	many uint64
	// keep rows take so long to read that states of them are kept.
	keep uint64
}

var usualLimits = sourceLimits{short: 36 * time.Hour, few: 400_000, fewer: 2, many: 3_000_000, keep: uint64(lightRows)}

func newSources(c Config, conn driver.Conn, log *slog.Logger) *sources {
	return &sources{config: c, conn: conn, log: log, limits: usualLimits, sites: map[string]*siteRows{}}
}

// choose says how a statement reads its scope, of which it reads the refs: as events,
// if nothing else is known. estimate is how the different values of many rows may be
// counted; CountExact if there are none. Who reads visits asks first whether they are whole.
func (s *sources) choose(ctx context.Context, sc scope, refs []ref, estimate insights.Counting) scope {
	if s.limits.isShort(sc) {
		return sc // best would say so too, but its rows had to be counted
	}
	best, err := s.best(s.config.choosing(ctx), sc, refs, estimate)
	if err != nil {
		s.unknown(ctx, sc.site, err)
		return sc
	}
	return best
}

// choosing gives the statements of a choice their limits.
func (c Config) choosing(ctx context.Context) context.Context {
	settings := c.settings(maxChoice)
	delete(settings, "max_result_rows") // a site may have events on the days of decades
	return clickhouse.Context(ctx, clickhouse.WithSettings(settings))
}

func (s *sources) best(ctx context.Context, sc scope, refs []ref, estimate insights.Counting) (scope, error) {
	ready, err := s.ready(ctx)
	if err != nil {
		return sc, err
	}
	// Without visits there is nothing to choose, but admission asks what a query costs.
	rows, err := s.rows(ctx, sc, ready)
	if err != nil || !ready {
		return sc, err
	}
	return s.limits.best(sc, rows, refs, estimate), nil
}

// whole reports whether each part has visits. One without them would be left out of the
// answer.
func (s *sources) whole(ctx context.Context, site string) bool {
	whole, err := s.ask(s.config.choosing(ctx), visitsWhole)
	if err != nil {
		s.unknown(ctx, site, err)
	}
	if !whole {
		s.remember(false)
	}
	return whole
}

func (s *sources) unknown(ctx context.Context, site string, err error) {
	s.log.WarnContext(ctx, "A query reads events: what else there is to read is not known.", "site", site, "error", err)
}

func (l sourceLimits) isShort(sc scope) bool { return sc.to.Sub(sc.from) <= l.short }

// best is the best way to read a scope whose range has so many rows.
func (l sourceLimits) best(sc scope, rows dayRows, refs []ref, estimate insights.Counting) scope {
	if l.isShort(sc) {
		return sc
	}
	read := rows.events
	if read > l.few && rows.visits*l.fewer <= read {
		if in, ok := sc.ofVisits(refs); ok {
			sc, read = in, rows.visits
		}
	}
	if read > l.many && !sc.exact && !sc.counted {
		sc.env.Counting = estimate
	}
	return sc
}

const (
	// visitsWhole asks whether each part has visits that are not broken. One of which all rows
	// were deleted has none, until the engine drops it.
	visitsWhole = `SELECT count() = 0
		AND (SELECT count() FROM system.projection_parts WHERE database = currentDatabase() AND table = {table:String} AND name = {projection:String} AND active AND is_broken) = 0
		FROM system.parts WHERE database = currentDatabase() AND table = {table:String} AND active AND rows > 0 AND NOT has(projections, {projection:String})`
	// visitsReadable asks also whether there are visits and a way to read them, which
	// takes twice as long.
	visitsReadable = `SELECT (` + visitsWhole + `)
		AND (SELECT count() FROM system.table_functions WHERE name = 'mergeTreeProjection') > 0
		AND (SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = {table:String} AND position(create_table_query, {projection:String}) > 0) > 0`
)

// ready reports whether visits can be read, as was known no longer than checkVisits ago.
// While one query asks the engine, others go on with what was known.
func (s *sources) ready(ctx context.Context) (bool, error) {
	s.mu.Lock()
	known, stale := s.visits, time.Since(s.checked) >= checkVisits
	if stale {
		s.checked = time.Now()
	}
	s.mu.Unlock()
	if !stale {
		return known, nil
	}
	readable, err := s.ask(ctx, visitsReadable)
	s.remember(readable)
	return readable, err
}

// remember keeps whether visits can be read. Only visitsReadable can tell that they can.
func (s *sources) remember(visits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits = visits
}

// ask asks visitsReadable or visitsWhole.
func (s *sources) ask(ctx context.Context, statement string) (bool, error) {
	var yes uint8
	err := s.query(ctx, statement, []any{clickhouse.Named("projection", insights.VisitsProjection()), clickhouse.Named("table", insights.Table)}, []any{&yes}, func() {})
	return yes == 1 && err == nil, err
}

// rows are the rows of a scope's site in its range, about. While one query
// counts them, others go on with what was known, or wait for the first count if they may
// read visits.
func (s *sources) rows(ctx context.Context, sc scope, visits bool) (sum dayRows, err error) {
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
		days = s.firstCount(ctx, site)
	}
	if stale {
		days, err = s.count(ctx, sc.site, visits)
		s.mu.Lock()
		site.ended()
		if err == nil {
			site.days = days
		} else if visits { // the events of so large a site are not counted again soon
			site.counted = time.Now().Add(checkVisits - countDays) // the next try
		}
		s.mu.Unlock()
		if err != nil {
			return sum, err
		}
	}
	return sc.rowsOf(days), nil
}

// count counts a site's rows, of visits or else of events, by day.
func (s *sources) count(ctx context.Context, site string, visits bool) (days []dayRows, err error) {
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
	err = s.query(ctx, st.SQL, arguments(st.Params), []any{&d.day, &d.events, &d.visits, &d.hours}, func() { days = append(days, d) })
	if err != nil {
		return nil, err // some are worse than none
	}
	return days, nil
}

// known are the rows of a scope, about; none if they are not known.
func (s *sources) known(sc scope) dayRows {
	s.mu.Lock()
	defer s.mu.Unlock()
	if site := s.sites[sc.site]; site != nil {
		return sc.rowsOf(site.days)
	}
	return dayRows{}
}

// inVisits tells what is read from visits of what states leave to be read, if visits are
// the best other way: what has few events is not.
func (s *sources) inVisits(best scope) func(scope) bool {
	return func(sc scope) bool {
		return best.source.visits != nil && (!s.limits.isShort(sc) || s.known(sc).events > s.limits.few)
	}
}

// left are the rows of scopes, about, as each is read.
func (s *sources) left(list []scope) (rows uint64) {
	for _, sc := range list {
		if known := s.known(sc); sc.source.visits != nil {
			rows += known.visits
		} else {
			rows += known.events
		}
	}
	return rows
}

// query reads for all queries, so it goes on when the query that started it ends.
func (s *sources) query(ctx context.Context, sql string, args, targets []any, each func()) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxChoice+time.Second)
	defer cancel()
	rows, err := s.conn.Query(noDeadline{ctx}, sql, args...)
	if err != nil {
		return fmt.Errorf("cannot ask what there is to read: %w", err)
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return errors.Join(fmt.Errorf("cannot read what there is to read: %w", err), rows.Close())
		}
		each()
	}
	return errors.Join(rows.Err(), rows.Close())
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
