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
	now    func() time.Time
	limits sourceLimits

	mu      sync.Mutex
	visits  bool // whether each part of the table has the projection of visits
	checked time.Time
	sites   map[string]*siteRows
}

// siteRows are the rows of a site by day.
type siteRows struct {
	counted time.Time
	days    []dayRows
}

type dayRows struct {
	day            time.Time
	events, visits uint64
}

const (
	checkVisits = 30 * time.Second
	countDays   = 10 * time.Minute
	maxSites    = 10_000 // whose rows are known
	// maxChoice ends a statement of the choice: a question must not wait for it longer.
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
	// many rows take longer than a tenth of a second to count their visitors exactly, on
	// two cores. Of fewer, a sketch is no faster (bench/results, "sources").
	many uint64
}

var usualLimits = sourceLimits{short: 36 * time.Hour, few: 400_000, fewer: 2, many: 3_000_000}

func newSources(c Config, conn driver.Conn, log *slog.Logger) *sources {
	return &sources{config: c, conn: conn, log: log, now: time.Now, limits: usualLimits, sites: map[string]*siteRows{}}
}

// choose says how a statement reads its scope, of which it reads the refs: as events,
// if nothing else is known. counts says that it counts different values, which many
// rows may only estimate.
func (s *sources) choose(ctx context.Context, sc scope, refs []ref, counts bool) scope {
	if sc.to.Sub(sc.from) <= s.limits.short {
		return sc
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(s.config.settings(maxChoice)))
	best, err := s.best(ctx, sc, refs, counts)
	if err != nil {
		s.log.WarnContext(ctx, "A query reads events: what else there is to read is not known.", "site", sc.site, "error", err)
		return sc
	}
	return best
}

func (s *sources) best(ctx context.Context, sc scope, refs []ref, counts bool) (scope, error) {
	if ready, err := s.ready(ctx, checkVisits); err != nil || !ready {
		return sc, err
	}
	rows, err := s.rows(ctx, sc)
	if err != nil {
		return sc, err
	}
	best := s.limits.best(sc, rows, refs, counts)
	if best.source == rawEvents {
		return best, nil
	}
	// A part without the projection would be left out of the answer.
	if ready, err := s.ready(ctx, 0); err != nil || !ready {
		return sc, err
	}
	return best, nil
}

// best is the best way to read a scope whose range has so many rows.
func (l sourceLimits) best(sc scope, rows dayRows, refs []ref, counts bool) scope {
	read := rows.events
	if read > l.few && rows.visits*l.fewer <= read {
		if in, ok := sc.ofVisits(refs); ok {
			sc, read = in, rows.visits
		}
	}
	if read > l.many && !sc.exact && counts {
		sc.env.Counting = insights.CountSketched
	}
	return sc
}

// ready reports whether visits can be read, as was known no longer than age ago. While
// one question asks the engine, others for which older knowledge will do go on with it.
func (s *sources) ready(ctx context.Context, age time.Duration) (bool, error) {
	s.mu.Lock()
	known, stale := s.visits, s.now().Sub(s.checked) >= age
	if stale {
		s.checked = s.now()
	}
	s.mu.Unlock()
	if !stale {
		return known, nil
	}
	var visits uint8
	err := s.query(ctx, `SELECT count() = 0
		AND (SELECT count() FROM system.table_functions WHERE name = 'mergeTreeProjection') > 0
		AND (SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = {table:String} AND position(create_table_query, {projection:String}) > 0) > 0
		AND (SELECT count() FROM system.projection_parts WHERE database = currentDatabase() AND table = {table:String} AND name = {projection:String} AND active AND is_broken) = 0
		FROM system.parts WHERE database = currentDatabase() AND table = {table:String} AND active AND NOT has(projections, {projection:String})`,
		[]any{clickhouse.Named("projection", insights.VisitsProjection()), clickhouse.Named("table", insights.Table)}, []any{&visits}, func() {})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits = visits == 1 && err == nil
	return s.visits, err
}

// rows are the rows of a scope's site in its range, by whole days: none if they are
// being counted for the first time.
func (s *sources) rows(ctx context.Context, sc scope) (sum dayRows, err error) {
	s.mu.Lock()
	site := s.sites[sc.site]
	if site == nil {
		if len(s.sites) >= maxSites {
			clear(s.sites)
		}
		site = &siteRows{}
		s.sites[sc.site] = site
	}
	days, stale := site.days, s.now().Sub(site.counted) >= countDays
	if stale {
		site.counted = s.now()
	}
	s.mu.Unlock()
	if stale {
		days, err = s.count(ctx, sc.site)
		s.mu.Lock()
		if site.days = days; err != nil {
			site.counted = time.Time{}
		}
		s.mu.Unlock()
		if err != nil {
			return sum, err
		}
	}
	for _, d := range days {
		if d.day.Add(24*time.Hour).After(sc.from) && d.day.Before(sc.to) {
			sum.events, sum.visits = sum.events+d.events, sum.visits+d.visits
		}
	}
	return sum, nil
}

func (s *sources) count(ctx context.Context, site string) (days []dayRows, err error) {
	day := sqltree.Call("toStartOfDay", insights.VisitSlot())
	events, _ := insights.Events.OfVisit(nil)
	st := (&sqltree.Select{
		Columns: []sqltree.Aliased{{Expr: day, As: "day"}, {Expr: sqltree.Call("sum", events)}, {Expr: sqltree.Call("count")}},
		Rows:    insights.VisitRows(), Where: siteOfVisit(site), GroupBy: []sqltree.Expr{sqltree.Col("day")},
	}).Print()
	var d dayRows
	err = s.query(ctx, st.SQL, arguments(st.Params), []any{&d.day, &d.events, &d.visits}, func() { days = append(days, d) })
	return days, err
}

func (s *sources) query(ctx context.Context, sql string, args, targets []any, each func()) error {
	rows, err := s.conn.Query(ctx, sql, args...)
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
