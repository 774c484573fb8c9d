package query

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/octavo-docs/octavo/schema/insights"
)

// stateStore is what a node knows of kept states. Their tables are in the engine, beside
// the events.
type stateStore struct {
	bytes uint64 // how much the tables may have; 0 keeps nothing
	ask   func(ctx context.Context, sql string, args, targets []any, each func()) error
	cuts  cuts
	// asks is how often a span's states are asked for until they are made: most queries
	// are asked once.
	asks int
	// longest is how long the reading of events may take of which states are made.
	longest time.Duration
	groups  int           // of a span, at most
	shapes  uint64        // tables, at most
	settle  time.Duration // settleParts

	relist time.Duration // how long the list of settled parts is used without asking

	mu     sync.Mutex
	parts  settledParts
	listed time.Time
	spans  *simplelru.LRU[string, *spanStates]
	tables map[string]bool
	full   time.Time // when there was no room
}

// spanStates are the states of a span.
type spanStates struct {
	asked  int           // by queries that were answered, and read the span as events
	took   time.Duration // of the last one, in all
	making bool
	row    string    // of the kept ones
	beside uint64    // rows that are read with them, of what else there is in the span and of states
	until  time.Time // they are kept
}

const (
	// trustParts is how old the list of settled parts may be to tell what a query costs.
	trustParts = time.Minute
	// keepStates is how long states are used. An hour later the engine deletes them.
	keepStates = 24 * time.Hour
	// maxSpans bounds what is known, maxStateTables and maxStateParts the tables, and
	// maxStateGroups the rows of a span.
	maxSpans       = 10_000
	maxStateParts  = 5_000
	maxStateTables = 200
	maxStateGroups = 300_000
	// tryAgain is how long nothing is made when there was no room.
	tryAgain = 10 * time.Minute
)

func newStateStore(c Config, s *sources) *stateStore {
	spans, _ := simplelru.NewLRU[string, *spanStates](maxSpans, nil) // fails for no size only
	return &stateStore{bytes: c.StateBytes, ask: s.query, cuts: usualCuts, asks: 2, longest: c.MaxTime / 8, relist: 10 * time.Second, groups: maxStateGroups, shapes: maxStateTables, settle: settleParts, spans: spans, tables: map[string]bool{}}
}

// confirm reports whether a statement's answer is right: the parts are still the table's,
// and the states are all there. Neither comes back, so then both were there at any time.
// It says what is known now. Of spans that were made, those without states may have no event,
// or were dropped: they are not kept, and the answer does not count.
func (s *stateStore) confirm(ctx context.Context, st *states, made []keptSpan) (right bool, err error) {
	rows, parts := st.rows(), st.parts()
	versions := make([]string, len(parts))
	for i, p := range parts {
		versions[i] = p.version
	}
	there := map[string]bool{} // versions of parts, which are paths, and rows of states
	var text string
	err = s.ask(ctx, `SELECT if(table = {table:String}, `+partVersion+`, partition) AS there FROM system.parts
		WHERE database = currentDatabase() AND table IN ({table:String}, {states:String}) AND active AND rows > 0
		AND (table = {table:String} AND there IN {parts:Array(String)} OR table = {states:String} AND there IN {rows:Array(String)})`,
		[]any{
			clickhouse.Named("table", insights.Table), clickhouse.Named("parts", versions), clickhouse.Named("states", st.table), clickhouse.Named("rows", rows),
		}, []any{&text}, func() { there[text] = true })
	if err != nil {
		return false, err
	}
	is := func(list []keptSpan, span keptSpan) bool {
		return slices.ContainsFunc(list, func(s keptSpan) bool { return s.key == span.key })
	}
	var whole, empty, gone []keptSpan
	replaced := false
	for _, span := range st.spans {
		old := slices.ContainsFunc(span.parts, func(p part) bool { return !there[p.version] })
		replaced = replaced || old
		switch isMade := is(made, span); {
		case isMade && old: // nobody will ask for them
		case isMade && there[span.row]:
			whole = append(whole, span)
		case isMade:
			empty = append(empty, span)
		case old || !there[span.row]:
			gone = append(gone, span)
		}
	}
	s.made(whole)
	s.failed(empty)
	s.forget(gone)
	if replaced {
		s.replaced()
	}
	return len(there) == len(rows)+len(parts), nil
}

// prepare finds the cached states. Missing states are made now. A span is read as events if no earlier query asked for
// it, if its states took too long, or if another query makes them. `beside` is the number of rows that were read in
// addition to cached states.
func (s *stateStore) prepare(st *states) (missing []keptSpan, later []string, beside uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var spans []keptSpan
	for _, span := range st.spans {
		have, known := s.spans.Get(span.key)
		if !known {
			have = &spanStates{}
			s.spans.Add(span.key, have)
		}
		if time.Now().Before(have.until) {
			span.row, beside = have.row, beside+have.beside
			spans = append(spans, span)
			continue
		}
		if !s.due(have) {
			st.rest, later = append(st.rest, span.events), append(later, span.key)
			continue
		}
		// Each try has its own row: one that failed may have written some of it.
		have.making, span.row = true, rand.Text()
		spans, missing = append(spans, span), append(missing, span)
	}
	st.spans = spans
	return missing, later, beside
}

// due reports whether the next query makes the states. The caller holds stateStore.mu.
func (s *stateStore) due(have *spanStates) bool {
	return !have.making && have.asked+1 >= s.asks && have.took <= s.longest && time.Since(s.full) >= tryAgain
}

// answered says that a query has read spans as events, and how long it took. Making
// their states takes longer, of the next one's time.
func (s *stateStore) answered(keys []string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if have, known := s.spans.Peek(key); known {
			have.asked, have.took = have.asked+1, d
		}
	}
}

// unused are those of the spans that were made in vain.
func (s *stateStore) unused(list []keptSpan) (unused []keptSpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, span := range list {
		if have, known := s.spans.Peek(span.key); !known || have.row != span.row {
			unused = append(unused, span)
		}
	}
	return unused
}

// release says that nobody makes the states any more. Those that are still to be made are
// made when they were asked for again as often, and answered.
func (s *stateStore) release(list []keptSpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, span := range list {
		if have, known := s.spans.Peek(span.key); known && have.making {
			have.making, have.asked = false, 0
		}
	}
}

// pay reports whether states save so much of the rows of the best other way that they are
// read: after an import of old events, most may be in other parts.
func pay(rows, left, beside uint64) bool {
	return left <= rows/2 && (beside <= uint64(lightRows) || left+beside <= rows/2)
}

// read says how many rows were read beside those that were to be expected.
func (s *stateStore) read(st *states, beside uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, span := range st.spans {
		if have, known := s.spans.Peek(span.key); known {
			have.beside = beside / uint64(len(st.spans))
		}
	}
}

// made says that states are kept.
func (s *stateStore) made(list []keptSpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, span := range list {
		s.spans.Add(span.key, &spanStates{row: span.row, until: time.Now().Add(keepStates)})
	}
}

// seldom is how many more times states must be asked for that could not be made or read.
const seldom = 20

// failed says that states could not be made or read. They are made when they were asked
// for many more times.
func (s *stateStore) failed(list []keptSpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, span := range list {
		s.spans.Add(span.key, &spanStates{asked: -seldom})
	}
}

// stop makes no states for a while.
func (s *stateStore) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = time.Now()
}

// replaced forgets the list of parts.
func (s *stateStore) replaced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = time.Time{}
}

// forget forgets states that were kept.
func (s *stateStore) forget(list []keptSpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, span := range list {
		s.spans.Remove(span.key)
	}
}

// forgetTable forgets a table that is not there, and what it had.
func (s *stateStore) forgetTable(st *states) {
	s.forget(st.spans)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tables, st.table)
}

// room reports whether there is room for more states, and whether their table is known.
// Tables of which nothing is on the disk any more make room.
func (s *stateStore) room(ctx context.Context, table string) (room, known bool, empty []string, err error) {
	var bytes, parts, tables uint64
	err = s.ask(ctx, `SELECT toUInt64(ifNull(sum(total_bytes), 0)), toUInt64(ifNull(sum(active_parts), 0)), count(), groupArrayIf(10)(name, name NOT IN (SELECT table FROM system.parts WHERE database = currentDatabase() AND `+insights.OnDisk+`))
		FROM system.tables WHERE database = currentDatabase() AND match(name, {tables:String})`,
		[]any{clickhouse.Named("tables", insights.StatesTables)}, []any{&bytes, &parts, &tables, &empty}, func() {})
	if err != nil {
		return false, false, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes >= s.bytes || parts >= maxStateParts {
		s.full = time.Now()
		return false, false, nil, nil
	}
	if known = s.tables[table]; known || tables < s.shapes {
		return true, known, nil, nil
	}
	for _, name := range empty {
		delete(s.tables, name)
	}
	return false, false, empty, nil
}

func (s *stateStore) know(table string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables[table] = true
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
