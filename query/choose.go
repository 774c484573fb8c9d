package query

import (
	"context"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// choose returns a scope with the best source for a statement that reads the columns `refs`. `estimate` is the counting
// method for distinct values of many rows. It is CountExact if the statement counts no distinct values. Code that reads
// visits must first check that visits are complete.
func (s *sources) choose(ctx context.Context, sc scope, refs []ref, estimate insights.Counting) scope {
	if s.limits.isShort(sc) {
		return s.bestKnown(ctx, sc, refs, estimate)
	}
	best, err := s.best(ctx, sc, refs, estimate, maxChoice)
	if err != nil {
		s.uncounted(ctx, sc.site, err)
		return s.bestOfIndex(ctx, sc, refs)
	}
	return best
}

// bestKnown returns a scope with the best source, using only counts that are already known. Counting the rows would
// take longer than most queries of short ranges. So the rows are counted in the background, for later queries. No query
// waits for this count, so it may take as long as a query on a busy engine. A range of at most an hour starts no count.
func (s *sources) bestKnown(ctx context.Context, sc scope, refs []ref, estimate insights.Counting) scope {
	s.mu.Lock()
	site := s.sites[sc.site]
	stale := site == nil || time.Since(site.counted) >= countDays
	s.mu.Unlock()
	best, _, known := s.expect(sc, refs, estimate)
	if sc.to.Sub(sc.from) <= time.Hour {
		return best
	}
	if stale {
		s.countLater(context.WithoutCancel(ctx), sc, refs, estimate)
	}
	if !known {
		return s.bestOfIndex(ctx, sc, refs)
	}
	return best
}

// countLater counts the rows of a scope's site in the background. Only one such count runs, because it has no turn.
func (s *sources) countLater(ctx context.Context, sc scope, refs []ref, estimate insights.Counting) {
	select {
	case s.background <- struct{}{}:
	default:
		return // the next query of the site starts a count
	}
	count := func() (err error) {
		defer schema.CatchPanic(&err)
		_, err = s.best(ctx, sc, refs, estimate, s.config.MaxTime)
		return err
	}
	go func() {
		defer func() { <-s.background }()
		if err := count(); err != nil {
			s.uncounted(ctx, sc.site, err)
		}
	}()
}

// bestOfIndex returns a scope with the best source by the numbers of rows that the engine expects to read. The engine
// takes them from the table's index and reads no rows, so a busy engine has them soon, too. For each part of the table,
// a number may include up to 8,192 rows of other scopes. The returned scope counts distinct values exactly.
func (s *sources) bestOfIndex(ctx context.Context, sc scope, refs []ref) scope {
	in, ok := sc.ofVisits(refs)
	if !ok {
		return sc
	}
	var rows dayRows
	var ready bool
	read := func(of sqltree.Select, where ...sqltree.Expr) (expected uint64, err error) {
		of.Columns, of.Where = []sqltree.Aliased{{Expr: sqltree.Call("count")}}, sqltree.AllOf(where...)
		st := of.Print()
		var parts, marks, number uint64
		var database, table string
		err = s.query(ctx, "EXPLAIN ESTIMATE "+st.SQL, arguments(st.Params),
			[]any{&database, &table, &parts, &number, &marks}, func() { expected += number })
		return expected, err
	}
	var err error
	rows.events, err = read(sqltree.Select{Table: insights.Table}, sc.bounds()...)
	if err == nil && rows.events > s.limits.few {
		ready, err = s.ready(ctx)
	}
	if err == nil && ready {
		v := in.source.visits
		rows.visits, err = read(sqltree.Select{Rows: insights.VisitRows()},
			siteOfVisit(sc.site), slotIs(sqltree.Ge, v.from), slotIs(sqltree.Lt, v.to))
	}
	if err != nil {
		s.unknown(ctx, sc.site, err)
	}
	if err != nil || !ready {
		return sc
	}
	return s.limits.best(sc, rows, refs, insights.CountExact)
}

// best returns a scope with the best source. A count of the site's rows takes at most `limit`.
func (s *sources) best(
	ctx context.Context, sc scope, refs []ref, estimate insights.Counting, limit time.Duration,
) (scope, error) {
	ready, err := s.ready(ctx)
	if err != nil {
		return sc, err
	}
	// Without visits there is no choice, but admission needs the query's cost.
	rows, err := s.rows(ctx, sc, ready, limit)
	if err != nil || !ready {
		return sc, err
	}
	return s.limits.best(sc, rows, refs, estimate), nil
}
