package query

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// fromStates answers a plan from kept states, and keeps those that are asked for again. ok
// is false if the plan has to be read in the best other way: nothing that is wrong with
// states is wrong with the query.
func (q *query) fromStates(ctx context.Context, p plan, best scope, run func(scope) error) (ok bool, err error) {
	s := q.service.states
	p.env.Counting = best.env.Counting
	known := q.service.sources.known(p.scope)
	rows := known.events
	if best.source.visits != nil {
		rows = known.visits
	}
	if s.bytes == 0 || rows <= q.service.sources.limits.keep || !p.hasStates(p.env.Counting) {
		return false, nil
	}
	settled, err := s.settled(q.service.config.choosing(ctx))
	if err != nil || settled.none() {
		return false, q.ignored(ctx, err)
	}
	sc, ok := p.ofStates(settled, s.cuts, q.service.sources.inVisits(best))
	if !ok {
		return false, nil
	}
	st := sc.source.states
	missing, later, beside := s.prepare(st)
	defer s.release(missing)
	q.later = append(q.later, later...)
	left := q.service.sources.left(st.rest)
	if len(st.spans) == 0 || !pay(rows, left, beside) || st.readsVisits() && !q.service.sources.whole(ctx, q.site) {
		return false, nil
	}
	q.source = sc.source
	right, blamed := false, missing
	begun, err := q.keep(ctx, p, st, missing)
	before := q.rowsRead
	if err == nil {
		blamed, err = st.spans, run(sc)
	}
	if err == nil {
		blamed = nil // a check that fails says nothing about them
		right, err = s.confirm(q.service.config.choosing(ctx), st, missing)
	}
	if right {
		q.summary = statesName
		s.read(st, q.rowsRead-min(q.rowsRead, before+left))
		q.service.metrics.states[statesMade].Add(float64(len(missing)))
		q.service.metrics.states[statesRead].Inc()
		return true, nil
	}
	q.source = best.source
	switch {
	case noTable(err):
		s.forgetTable(st)
		err = nil
	case limited(err):
		s.failed(blamed)
	}
	if err == nil {
		q.service.metrics.states[statesReplaced].Inc()
	}
	q.drop(ctx, st, s.unused(begun))
	return false, q.ignored(ctx, err)
}

// limited reports whether a statement about states was too heavy: the next one would be, too.
func limited(err error) bool {
	if errors.Is(err, errNoTime) || errors.Is(err, errNoRoom) || outOfMemory(err) {
		return true
	}
	e, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && slices.Contains([]int32{codeTooManyRows, codeTimeout, codeTooSlow, codeTooManyBytes}, e.Code)
}

// ended reports whether the query itself ended: its time is over, or no caller waits for it.
func ended(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, errQueryTime)
}

// ignored logs an error that only makes an answer slower, and returns nil. It returns an error that ended the query.
func (q *query) ignored(ctx context.Context, err error) error {
	if err == nil || ended(ctx, err) {
		return err
	}
	q.service.metrics.states[statesFailed].Inc()
	level := slog.LevelWarn
	if errors.Is(err, errNoRoom) { // as many queries may find
		level = slog.LevelDebug
	}
	q.service.log.Log(ctx, level, "A query reads events, because aggregate states could not be kept or read.", "site", q.site, "error", err)
	return nil
}

// keep makes and keeps the states of spans. It leaves half of the query's time to read
// events, should it take too long. begun are those that may have been written.
func (q *query) keep(ctx context.Context, p plan, st *states, list []keptSpan) (begun []keptSpan, err error) {
	half := time.Now().Add(time.Until(q.ends) / 2)
	for _, span := range list {
		made := st.making(p, span)
		if err := q.makeRoom(ctx, st, made); err != nil {
			return begun, err
		}
		left := time.Until(half).Seconds()
		if left <= 0 {
			return begun, errNoTime
		}
		begun = append(begun, span)
		err := q.write(ctx, st.inserting(made), clickhouse.Settings{
			"max_execution_time": left, "max_result_rows": nil,
			"max_rows_to_group_by": q.service.states.groups, "group_by_overflow_mode": "throw",
			// All of it is one part.
			"max_insert_threads": 1, "min_insert_block_size_rows": oneBlock, "min_insert_block_size_bytes": 0, "max_insert_block_size": oneBlock,
			"async_insert": 0, "deduplicate_insert_select": "disable", "insert_deduplicate": 0,
		})
		if err != nil {
			return begun, err
		}
	}
	return begun, nil
}

// oneBlock is more rows than a span has.
const oneBlock = 1_000_000_000

var (
	errNoRoom = errors.New("there is no room for more aggregate states")
	errNoTime = errors.New("aggregate states take too long to make")
)

// makeRoom makes a table for states, if there is room.
func (q *query) makeRoom(ctx context.Context, st *states, made sqltree.Statement) error {
	s := q.service.states
	room, known, empty, err := s.room(q.service.config.choosing(ctx), st.table)
	if err != nil || known {
		return err
	}
	for _, name := range empty {
		if err := q.write(ctx, sqltree.Statement{SQL: "DROP TABLE IF EXISTS " + sqltree.Ident(name)}, clickhouse.Settings{}); err != nil {
			return err
		}
	}
	if !room && len(empty) == 0 {
		return errNoRoom
	}
	if err := q.write(ctx, st.creating(made), clickhouse.Settings{}); err != nil {
		if !ended(ctx, err) {
			s.stop() // its login may not do it, perhaps
		}
		return err
	}
	s.know(st.table)
	return nil
}

// drop drops what was made of spans: it may be of parts that were replaced because
// someone is being erased.
func (q *query) drop(ctx context.Context, st *states, list []keptSpan) {
	for _, span := range list {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxChoice)
		err := q.service.conn.Exec(noDeadline{ctx}, "ALTER TABLE "+sqltree.Ident(st.table)+" DROP PARTITION "+sqltree.Quote(span.row))
		cancel()
		if err != nil && !noTable(err) {
			q.service.log.WarnContext(ctx, "Aggregate states that nobody reads are kept for a day.", "table", st.table, "error", err)
		}
	}
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
