package query

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/singleflight"

	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// sources chooses the source of a statement by the number of rows to read. The numbers may be a few minutes old. A
// wrong number makes an answer slower, but never wrong.
type sources struct {
	config Config
	conn   driver.Conn
	log    *slog.Logger
	limits sourceLimits
	checks singleflight.Group // the check of visits
	// background has a place for the count that runs in the background.
	background chan struct{}

	mu      sync.Mutex
	visits  bool // whether each part of the events table has the projection of visits
	asked   bool // whether the engine has answered this once
	checked time.Time
	sites   map[string]*siteRows
	died    map[string]death
}

// death is a join of a site's events and sessions that exceeded its memory.
type death struct {
	length time.Duration // the shortest range whose join exceeded its memory
	at     time.Time
}

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

const (
	checkVisits = 30 * time.Second
	countDays   = 10 * time.Minute
	// countRest is the pause after a count that failed, as a multiple of the count's time limit.
	countRest = 10
	maxSites  = 10_000 // the largest number of sites whose rows are stored
	// joinedBytes is the memory for a row of events that is joined with its session.
	joinedBytes = 160
	// maxChoice bounds a statement that chooses a source, because a query waits for it.
	maxChoice = 2 * time.Second
)

type sourceLimits struct {
	// `short` is the greatest length of a range that a query reads without first counting its rows. A day of most sites
	// has at most a few hundred thousand events.
	short time.Duration
	// few is the largest number of events that are read as quickly as visits, because the statement over visits is
	// longer.
	few uint64
	// Visits are read only if there are at least `fewer` times as many events as rows of visits, because a row of
	// visits is larger than an event.
	fewer uint64
	// A query that reads at most `many` rows always counts visitors exactly. A query that reads more rows may use
	// sketches. Counting the visitors of `many` rows exactly takes a tenth of a second on two cores. For fewer rows a
	// sketch is no faster.
	many uint64
	// A range with at most `keep` rows is read quickly enough without cached states.
	keep uint64
}

var usualLimits = sourceLimits{short: 36 * time.Hour, few: 400_000, fewer: 2, many: 3_000_000, keep: uint64(lightRows)}

func newSources(c Config, conn driver.Conn, log *slog.Logger) *sources {
	return &sources{
		config: c, conn: conn, log: log, limits: usualLimits,
		sites: map[string]*siteRows{}, died: map[string]death{}, background: make(chan struct{}, 1),
	}
}

// whole reports whether each part has visits. The answer would lack the events of a part without visits.
func (s *sources) whole(ctx context.Context, site string) bool {
	whole, err := s.ask(ctx, visitsWhole)
	switch {
	case err != nil:
		s.unknown(ctx, site, err)
	case !whole:
		s.remember(false)
	}
	return whole
}

func (s *sources) unknown(ctx context.Context, site string, err error) {
	const reads = "A query reads events, because it is not known whether visits can be read."
	s.log.WarnContext(ctx, reads, "site", site, "error", err)
}

func (s *sources) uncounted(ctx context.Context, site string, err error) {
	if !errors.Is(err, errUncounted) { // the query that counted has logged its error
		const uses = "A site's rows could not be counted, so queries use the index of its events."
		s.log.WarnContext(ctx, uses, "site", site, "error", err)
	}
}

func (l sourceLimits) isShort(sc scope) bool { return sc.to.Sub(sc.from) <= l.short }

// best returns the scope with the best source for the given rows of its range. The choice of the counting method
// ignores measures that only events have. So adding such a measure to a query does not make its counts approximate.
func (l sourceLimits) best(sc scope, rows dayRows, refs []ref, estimate insights.Counting) scope {
	read := rows.events
	if read > l.few && rows.visits*l.fewer <= read {
		if in, ok := sc.ofVisits(refs); ok {
			sc, read = in, rows.visits
		} else if _, ok := sc.ofVisits(slices.DeleteFunc(slices.Clone(refs), ref.onlyOfEvents)); ok {
			read = rows.visits
		}
	}
	if read > l.many && !sc.exact && !sc.counted {
		sc.env.Counting = estimate
	}
	return sc
}

const (
	// visitsWhole checks that each part has visits that are not broken. A part whose rows were all deleted has no
	// visits until the engine drops the part.
	visitsWhole = `SELECT count() = 0
		AND (SELECT count() FROM system.projection_parts WHERE database = currentDatabase() AND table = {table:String} AND name = {projection:String} AND active AND is_broken) = 0
		FROM system.parts WHERE database = currentDatabase() AND table = {table:String} AND active AND rows > 0 AND NOT has(projections, {projection:String})`
	// visitsReadable checks the same as visitsWhole. It also checks that the events table has the projection of visits,
	// and that the engine can read the projection. It takes twice as long as visitsWhole.
	visitsReadable = `SELECT (` + visitsWhole + `)
		AND (SELECT count() FROM system.table_functions WHERE name = 'mergeTreeProjection') > 0
		AND (SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = {table:String} AND position(create_table_query, {projection:String}) > 0) > 0`
)

// ready reports whether visits can be read. The result is at most checkVisits old. While one query asks the engine,
// other queries use the previous result. Before the first result, they wait for it.
func (s *sources) ready(ctx context.Context) (bool, error) {
	s.mu.Lock()
	known, stale := s.visits, time.Since(s.checked) >= checkVisits
	if stale && s.asked {
		s.checked = time.Now()
	}
	s.mu.Unlock()
	if !stale {
		return known, nil
	}
	readable, err, _ := s.checks.Do("", func() (any, error) {
		readable, err := s.ask(ctx, visitsReadable)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil {
			// A busy engine may not answer in time. So the previous result stays, and a later query asks again soon.
			s.checked = time.Now().Add(maxChoice - checkVisits)
			return s.visits, err
		}
		s.visits, s.asked, s.checked = readable, true, time.Now()
		return readable, nil
	})
	return readable.(bool), err
}

// remember stores whether visits can be read. Only the statement visitsReadable can show that visits can be read.
func (s *sources) remember(visits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits = visits
}

// ask runs visitsReadable or visitsWhole.
func (s *sources) ask(ctx context.Context, statement string) (bool, error) {
	var yes uint8
	err := s.query(ctx, statement, []any{clickhouse.Named("projection", insights.VisitsProjection()), clickhouse.Named("table", insights.Table)}, []any{&yes}, func() {})
	return yes == 1 && err == nil, err
}

// joinSpills reports whether joining a scope's events with its sessions is expected to exceed the memory. It is
// expected if the scope has many events, or if a join of an equal or shorter range recently exceeded its memory.
func (s *sources) joinSpills(sc scope) bool {
	if s.known(sc.around()).events > s.config.MaxMemory/joinedBytes {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.died[sc.site]
	return ok && time.Since(d.at) < countDays && sc.to.Sub(sc.from) >= d.length
}

// joinDied remembers that a join of a scope's events and sessions exceeded its memory.
func (s *sources) joinDied(sc scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	length := sc.to.Sub(sc.from)
	if d, ok := s.died[sc.site]; ok && time.Since(d.at) < countDays {
		length = min(length, d.length)
	} else if !ok && len(s.died) >= maxSites {
		clear(s.died)
	}
	s.died[sc.site] = death{length, time.Now()}
}

// inVisits returns a function that reports whether a scope without states is read from visits. It returns true if
// `best` reads visits, and if the scope is long or has many events.
func (s *sources) inVisits(best scope) func(scope) bool {
	return func(sc scope) bool {
		return best.source.visits != nil && (!s.limits.isShort(sc) || s.known(sc).events > s.limits.few)
	}
}

// left returns the approximate number of rows of the given scopes. For each scope, it adds the rows of the scope's own
// source.
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

// query runs a statement that chooses a source, with the limit maxChoice.
func (s *sources) query(ctx context.Context, sql string, args, targets []any, each func()) error {
	return s.within(ctx, maxChoice, sql, args, targets, each)
}

// within runs a statement whose result serves all queries. So the statement continues even if the query that started it
// ends.
func (s *sources) within(
	ctx context.Context, limit time.Duration, sql string, args, targets []any, each func(),
) error {
	settings := s.config.settings(limit)
	// A site may have events on more days than an answer has rows, and a table may have many parts.
	delete(settings, "max_result_rows")
	delete(settings, "max_result_bytes")
	ctx = clickhouse.Context(context.WithoutCancel(ctx), clickhouse.WithSettings(settings))
	ctx, cancel := context.WithTimeout(ctx, limit+time.Second)
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

// cost returns the number of rows that a statement reads. It takes the same arguments as `choose`. `known` is false if
// the number is a guess.
func (s *sources) cost(sc scope, refs []ref, estimate insights.Counting) (rows cost, known bool) {
	if _, rows, known := s.expect(sc, refs, estimate); known {
		return cost(rows), true
	}
	if s.limits.isShort(sc) {
		return lightRows, false
	}
	return unknownRows, false
}

// expect returns the best source of a scope, and the number of rows to read from it. `known` is false if the number of
// the site's rows is unknown.
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
