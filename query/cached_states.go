package query

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/query/statecache"
)

// statesName is the name that an answer gives to its source if the source is cached states.
const statesName = "states"

// offered returns the plan for reading from states. `best` is the scope with the best other source. `ok` is false if no
// span can have states.
func (s *Service) offered(p plan, best scope, rows uint64, parts statecache.Parts) (_ plan, ok bool) {
	p.env.Counting = best.env.Counting
	return p.fromStates(parts, s.states.Cuts, s.sources.inVisits(best))
}

// wantsStates reports whether reading from states can be worthwhile: states have the plan's measures, and the best
// other source reads many rows.
func (s *Service) wantsStates(p plan, best scope, rows uint64) bool {
	return s.states.MaxBytes > 0 && rows > s.sources.limits.keep && p.hasStates(best.env.Counting)
}

// saves reports whether reading states is worthwhile. `left` is the number of rows in scopes without states. `extra` is
// the number of rows that must be read as events in scopes with states. A scope with states may have data parts without
// states, for example after an import of old events. The rows of these parts count as `extra`. `left` must be at most
// half of the rows that the best other source reads. If `extra` is more than lightRows, the sum of both must be at most
// this half.
func saves(rows, left, extra uint64) bool {
	return left <= rows/2 && (extra <= uint64(lightRows) || left+extra <= rows/2)
}

// costOfStates returns a plan's cost. `rows` is the number of rows that the best other source reads. Without usable
// states, the cost is `rows`. Otherwise the cost is the number of rows that states do not replace, plus all events from
// which missing states are built.
func (s *Service) costOfStates(p plan, best scope, rows uint64) cost {
	parts, known := s.states.KnownParts()
	if !known || !s.wantsStates(p, best, rows) {
		return cost(rows)
	}
	p, ok := s.offered(p, best, rows, parts)
	if !ok {
		return cost(rows)
	}
	extra := s.states.Expect(entriesOf(p.states.spans))
	p.states.split()
	left := s.sources.left(p.states.rest)
	if !saves(rows, left, extra) {
		return cost(rows)
	}
	var built []scope
	for _, span := range p.states.toBuild() {
		built = append(built, span.scope)
	}
	return cost(min(rows, left+extra) + s.sources.left(built))
}

// readStates answers a plan from cached states. It builds missing states that enough queries have needed
// (statecache.Config.Asks). If `ok` is false, the caller must read the best source other than the cached states. An
// error of the cache never fails the query.
func (q *query) readStates(ctx context.Context, p plan, best scope, run func(plan) error) (ok bool, err error) {
	s, cache := q.service, q.service.states
	known := s.sources.known(p.scope)
	rows := known.events
	if best.source.visits != nil {
		rows = known.visits
	}
	if !s.wantsStates(p, best, rows) {
		return false, nil
	}
	parts, err := cache.Parts(ctx)
	if err != nil || parts.Empty() {
		return false, q.withoutStates(ctx, err)
	}
	if p, ok = s.offered(p, best, rows, parts); !ok {
		return false, nil
	}
	st := p.states
	all := entriesOf(st.spans)
	extra := cache.Get(all)
	defer cache.Release(all)
	q.later = append(q.later, st.split()...)
	left := s.sources.left(st.rest)
	if len(st.spans) == 0 || !saves(rows, left, extra) || st.readsVisits() && !s.sources.whole(ctx, q.site) {
		return false, nil
	}
	q.source = source{name: statesName}
	right, err := q.fromCache(ctx, p, left, run)
	if right {
		q.summary = statesName
		s.metrics.states[statesMade].Add(float64(len(st.toBuild())))
		s.metrics.states[statesRead].Inc()
		return true, nil
	}
	q.source = best.source
	if noTable(err) {
		cache.ForgetTable(st.table, entriesOf(st.spans))
		err = nil
	}
	if err == nil {
		s.metrics.states[statesReplaced].Inc()
	}
	if err := cache.Drop(ctx, st.table, all); err != nil {
		const left = "Aggregate states that nobody reads are kept for a day."
		s.log.WarnContext(ctx, left, "table", st.table, "error", err)
	}
	return false, q.withoutStates(ctx, err)
}

// fromCache builds the missing states, runs the plan's statement, and reports whether the answer is right: see
// statecache.Cache.Confirm. `left` is the number of rows that the statement reads in scopes without states.
func (q *query) fromCache(ctx context.Context, p plan, left uint64, run func(plan) error) (right bool, err error) {
	cache, st := q.service.states, p.states
	if err := q.buildStates(ctx, p); err != nil {
		return false, err
	}
	before := q.rowsRead
	if err := run(p); err != nil {
		if limited(err) {
			cache.Postpone(entriesOf(st.spans))
		}
		return false, err
	}
	extra := q.rowsRead - min(q.rowsRead, before+left)
	return cache.Confirm(ctx, st.table, entriesOf(st.spans), extra)
}

// buildStates builds missing states. It uses at most half of the query's remaining time, so that enough time remains to
// read events.
func (q *query) buildStates(ctx context.Context, p plan) error {
	cache, spans := q.service.states, p.states.toBuild()
	half := time.Now().Add(time.Until(q.ends) / 2)
	for _, span := range spans {
		err := cache.Put(ctx, p.states.table, span.entry, p.entryRows(span), half, q.write)
		if err == nil {
			continue
		}
		if errors.Is(err, statecache.ErrCreate) && !ended(ctx, err) {
			cache.Pause() // the engine's login may lack the right to create tables
		}
		if limited(err) {
			cache.Postpone(entriesOf(spans))
		}
		return err
	}
	return nil
}

// limited reports whether a statement about states exceeded a limit. If it returns true, the next statement about
// states would exceed the limit too.
func limited(err error) bool {
	if errors.Is(err, statecache.ErrSlow) || errors.Is(err, statecache.ErrFull) || outOfMemory(err) {
		return true
	}
	e, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && slices.Contains([]int32{codeTooManyRows, codeTimeout, codeTooSlow, codeTooManyBytes}, e.Code)
}

// ended reports whether the query is over: its time has passed, or no caller waits for it.
func ended(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, errQueryTime)
}

// withoutStates logs an error that only makes an answer slower, and returns nil. If the error ended the query, it
// returns the error.
func (q *query) withoutStates(ctx context.Context, err error) error {
	if err == nil || ended(ctx, err) {
		return err
	}
	q.service.metrics.states[statesFailed].Inc()
	level := slog.LevelWarn
	if errors.Is(err, statecache.ErrFull) { // many queries may get this error
		level = slog.LevelDebug
	}
	const reads = "A query reads events, because aggregate states could not be kept or read."
	q.service.log.Log(ctx, level, reads, "site", q.site, "error", err)
	return nil
}
