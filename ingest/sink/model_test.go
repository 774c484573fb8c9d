package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// world is a model of a log, a consumer group and a store, with one partition. Sinks work on it one step at a time.
// When a sink calls the group or the store, it waits until the test decides the outcome of the call. As long as a sink
// gets no answer, it is paused.
type world struct {
	log        []fetched
	newer      map[insights.MessageID]bool // messages that old sinks cannot read
	group      progress
	generation int32
	tokens     map[string]bool // pairs of a token and a month
	rows       map[insights.Position]map[uint16][]insights.RowContent
	ledger     modelLedger
	sinks      []*modelSink
	calm       bool // whether no more faults occur
}

// outcome is the result of a step.
type outcome struct {
	fault  string // "", or the kind of the fault: "before", "after", "partly", "noted"
	number int
}

type modelSink struct {
	world   *world
	member  member
	want    chan string // name of the call whose outcome the sink waits for; closed when the sink ends
	answer  chan outcome
	ended   bool
	wanting string
	kill    context.CancelFunc
}

var errModel = errors.New("fault of the model")

func (s *modelSink) step(what string) outcome {
	s.want <- what
	return <-s.answer
}

// next waits until the sink makes its next call or has ended.
func (s *modelSink) next() {
	what, ok := <-s.want
	s.wanting, s.ended = what, !ok
}

func (s *modelSink) commit(_ context.Context, who member, list map[int]progress) error {
	o := s.step("commit")
	if o.fault == "before" {
		return errModel
	}
	if who.generation != s.world.generation {
		return errPartitionsLost
	}
	// Store the progress as the next owner reads it from the metadata.
	s.world.group = parseProgress(list[0].offset, list[0].metadata())
	if o.fault != "" {
		return errModel
	}
	return nil
}

func (s *modelSink) Settle(context.Context) error {
	if s.step("settle").fault != "" {
		return errModel
	}
	return nil
}

func (s *modelSink) Sequential() bool { return true }

func (s *modelSink) LastStored(_ context.Context, _ uint16, from, to uint64) (last uint64, found bool, err error) {
	if s.step("last").fault != "" {
		return 0, false, errModel
	}
	for at := range s.world.rows {
		if at.Offset >= from && at.Offset < to {
			last, found = max(last, at.Offset), true
		}
	}
	return last, found, nil
}

func (s *modelSink) Stored(_ context.Context, _ uint16, from, to uint64) (list []eventstore.Row, err error) {
	if s.step("stored").fault != "" {
		return nil, errModel
	}
	for at, events := range s.world.rows {
		for index, contents := range events {
			for _, c := range contents {
				if at.Offset >= from && at.Offset <= to {
					list = append(list, eventstore.Row{Offset: at.Offset, Index: index, Content: c})
				}
			}
		}
	}
	return list, nil
}

// Insert stores the rows month by month. It stores all rows of a month, or none. It continues after the client has
// ended. The model server may be killed between two months. It may also be killed after it has recorded a token, before
// it stores the rows.
func (s *modelSink) Insert(_ context.Context, b *insights.Batch, token string) error {
	o := s.step("insert")
	if o.fault == "before" {
		return errModel
	}
	months := map[string][]int{}
	for i := range b.Rows() {
		month := time.UnixMilli(b.Content(i).TimeMillis).UTC().Format("2006-01")
		months[month] = append(months[month], i)
	}
	values := b.Values()
	for n, month := range slices.Sorted(maps.Keys(months)) {
		stop := n == o.number
		if stop && o.fault == "partly" {
			return errModel
		}
		if s.world.tokens[token+month] {
			continue
		}
		s.world.tokens[token+month] = true
		if stop && o.fault == "noted" {
			return errModel
		}
		for _, i := range months[month] {
			at := insights.Position{Offset: values[2].([]uint64)[i]}
			if s.world.rows[at] == nil {
				s.world.rows[at] = map[uint16][]insights.RowContent{}
			}
			index, content := values[3].([]uint16)[i], b.Content(i)
			content.Site = "" // this string shares the message's memory
			content.Site = intaketest.Site.ID
			s.world.rows[at][index] = append(s.world.rows[at][index], content)
		}
	}
	if o.fault != "" {
		return errModel
	}
	return nil
}

func (s *modelSink) Months(_ context.Context, _ uint16, from, to uint64) (schema.RowsByMonth, error) {
	rows := schema.RowsByMonth{}
	for at, events := range s.world.rows {
		if at.Offset >= from && at.Offset < to {
			for _, contents := range events {
				rows.Add(modelMonth, schema.MonthRows{Rows: int64(len(contents))})
			}
		}
	}
	return rows, nil
}

// modelMonth is the month of all rows in a modelLedger.
const modelMonth = 202611

// modelLedger is a RowLedger in memory, with one partition.
type modelLedger struct {
	opened bool
	end    schema.RowsEnd
	rows   int64
}

func (l *modelLedger) RowsEnd(context.Context, int) (schema.RowsEnd, bool, error) {
	return l.end, l.opened, nil
}

func (l *modelLedger) OpenRows(
	_ context.Context, _ int, end schema.RowsEnd, rows schema.RowsByMonth,
) (bool, error) {
	if l.opened {
		return false, nil
	}
	l.opened = true
	l.move(end, rows)
	return true, nil
}

func (l *modelLedger) AdvanceRows(
	_ context.Context, _ int, was int64, end schema.RowsEnd, rows schema.RowsByMonth,
) (bool, error) {
	if !l.opened || l.end.Next != was {
		return false, nil
	}
	l.move(end, rows)
	return true, nil
}

func (l *modelLedger) move(end schema.RowsEnd, rows schema.RowsByMonth) {
	l.end = end
	for _, of := range rows {
		l.rows += of.Rows
	}
}

const modelWindow = 6

// takeOver begins a generation with a new sink. The generation of the previous owner has ended, but the previous owner
// may not have noticed this.
func (w *world) takeOver(cfg Config, old bool) {
	w.generation++
	ctx, kill := context.WithCancel(context.Background())
	m := &modelSink{world: w, member: member{generation: w.generation}, want: make(chan string), answer: make(chan outcome), kill: kill}
	w.sinks = append(w.sinks, m)
	cfg.Store, cfg.Rows = m, &w.ledger
	r := prometheus.NewRegistry()
	cfg.Balances = balance.NewSites(r)
	s := &Sink{cfg: cfg, metrics: NewMetrics(r), parse: func(data []byte) (insights.Message, error) {
		message, err := insights.ParseMessage(data)
		if old && w.newer[message.ID] {
			return insights.Message{}, insights.ErrNewer
		}
		return message, err
	}}
	s.rows = newRowCounts(&s.cfg)
	s.rows.isOtherLog = func(context.Context, int, int64, uint64, bool) (bool, error) { return false, nil }
	g := newGeneration(s, m.member, nil)
	g.group = m
	had := w.group
	p := &partition{committed: had, start: max(0, had.offset), intent: had.intent, plain: had.plain, repeats: newRepeats(modelWindow)}
	p.next = p.start
	p.end.Store(int64(len(w.log)))
	s.rows.open(p)
	go func() {
		defer close(m.want)
		for {
			n := int64(m.step("cut").number) + 1
			if p.next < p.intent {
				n = p.intent - p.next
			}
			p.end.Store(int64(len(w.log)))
			n = min(n, int64(len(w.log))-p.next)
			if n == 0 && ctx.Err() == nil {
				g.commitStored(ctx)
				if w.calm {
					return
				}
				continue
			}
			k := &chunk{partition: p, highWater: int64(len(w.log))}
			for i := range n {
				f := w.log[p.next+i]
				k.messages = append(k.messages, f)
				if f.plain {
					k.plain = f.offset + 1
				}
			}
			if p.needsRecall(k, modelWindow) {
				var older []seenMessage
				for _, f := range w.log[max(0, p.start-modelWindow):p.start] {
					if f.plain {
						p.plain = f.offset + 1
					}
					if message, err := s.parse(f.data); err == nil {
						older = append(older, seenMessage{message.ID, f.offset, f.plain})
					}
				}
				p.repeats.recall(older)
				p.recalled, p.plain = true, max(0, p.plain)
			}
			p.plain = max(p.plain, k.plain)
			k.plain = p.plain
			c := newCut()
			c.fill(p, p.next, []*chunk{k}, s.parse)
			p.next = c.to
			if ctx.Err() != nil || !g.write(ctx, ctx, c) {
				return
			}
			// If the ledger of row counts is unavailable, the counts stay in memory.
			if m.step("ledger").fault == "" {
				_ = s.rows.write(ctx, time.Minute) // after an error of the store, the counts stay in memory too
			}
			if c.newer != nil { // this sink cannot read the next message, which blocks the partition
				g.commitStored(ctx)
				return
			}
		}
	}()
	m.next()
}

// let decides the outcome of the call in which a sink waits. Then it waits for the sink's next call.
func (m *modelSink) let(o outcome) {
	m.answer <- o
	m.next()
}

func (w *world) pendingAges() (list []*modelSink) {
	for _, s := range w.sinks {
		if !s.ended {
			list = append(list, s)
		}
	}
	return list
}

// TestSinkModel kills, pauses and wakes sinks in a random order, with random failures. At the end, every event must be
// stored once.
func TestSinkModel(t *testing.T) {
	t.Parallel()
	memory := &ingesttest.MemoryLog{}
	in := intaketest.New(t, memory)
	for i := range 64 {
		var list []string
		for j := range i%4 + 1 {
			list = append(list, ingesttest.Event("page_view", fmt.Sprintf(`"timestamp":"2026-%02d-01T00:00:00.%03dZ"`, (i+j)%3+1, i*4+j)))
		}
		if err := in.Accept(t.Context(), intaketest.Site, []byte(ingesttest.Events(list...)), intaketest.Client); err != nil {
			t.Fatal(err)
		}
	}
	cfg := Config{Brokers: []string{"127.0.0.1:1"}, Topic: "model", Store: &eventstore.ClickHouse{}, Window: modelWindow, Logger: slog.New(slog.DiscardHandler)}
	if err := cfg.complete(); err != nil {
		t.Fatal(err)
	}
	// There are no pauses between retries. SessionTimeout is so long that a sink never sends an additional commit,
	// before an insert, to check whether it still owns the partition.
	cfg.RetryWait, cfg.SessionTimeout = 0, time.Hour
	rapid.Check(t, func(t *rapid.T) {
		w := &world{newer: map[insights.MessageID]bool{}, group: parseProgress(-1, ""), tokens: map[string]bool{}, rows: map[insights.Position]map[uint16][]insights.RowContent{}}
		defer func() {
			for _, s := range w.sinks {
				s.kill()
			}
			for _, s := range w.sinks {
				for !s.ended {
					s.let(outcome{fault: "before"})
				}
			}
		}()
		fresh := 0
		produce := func() {
			if back := rapid.IntRange(0, 3*modelWindow).Draw(t, "repeat of"); back > 0 && back <= min(modelWindow, len(w.log)) {
				// At least one of the two messages has no producer id. Otherwise the broker would have dropped the
				// second message.
				f := w.log[len(w.log)-back]
				w.log = append(w.log, fetched{int64(len(w.log)), f.data, !f.plain || rapid.Bool().Draw(t, "plain")})
			} else if fresh < len(memory.Messages) {
				data := memory.Messages[fresh]
				w.log = append(w.log, fetched{int64(len(w.log)), data, rapid.IntRange(0, 3).Draw(t, "plain") == 0})
				if id, _ := insights.MessageIDOf(data); rapid.IntRange(0, 7).Draw(t, "newer") == 0 {
					w.newer[id] = true
				}
				fresh++
			}
		}
		faults := map[string][]string{
			"commit": {"", "", "", "", "before", "after"}, "insert": {"", "", "", "before", "after", "partly", "noted"},
			"settle": {"", "before"}, "last": {"", "", "before"}, "stored": {"", "", "", "before"}, "cut": {""},
			"ledger": {"", "", "", "before"},
		}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			switch action := rapid.IntRange(0, 9).Draw(t, "action"); {
			case action == 0 || len(w.pendingAges()) == 0:
				w.takeOver(cfg, rapid.Bool().Draw(t, "old"))
			case action <= 3:
				produce()
			default:
				s := rapid.SampledFrom(w.pendingAges()).Draw(t, "sink")
				s.let(outcome{rapid.SampledFrom(faults[s.wanting]).Draw(t, s.wanting), rapid.IntRange(0, 3).Draw(t, "number")})
			}
			if rows := w.stored(); w.ledger.rows > rows {
				t.Fatalf("the ledger has %d rows, and the store has %d", w.ledger.rows, rows)
			}
		}
		// A new sink takes over. Then all paused sinks continue, in a random order.
		produce()
		w.calm = true
		w.takeOver(cfg, false)
		for len(w.pendingAges()) > 0 {
			rapid.SampledFrom(w.pendingAges()).Draw(t, "sink").let(outcome{number: rapid.IntRange(0, 3).Draw(t, "number")})
		}
		w.check(t)
	})
}

// stored returns the number of stored rows.
func (w *world) stored() (n int64) {
	for _, events := range w.rows {
		for _, contents := range events {
			n += int64(len(contents))
		}
	}
	return n
}

// check fails the test if the store differs from the log, or if the ledger differs from the store.
func (w *world) check(t *rapid.T) {
	if rows := w.stored(); w.ledger.rows != rows {
		t.Fatalf("the ledger has %d rows in the end, and the store has %d", w.ledger.rows, rows)
	}
	for i, f := range w.log {
		m, err := insights.ParseMessage(f.data)
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		for _, before := range w.log[max(0, i-modelWindow):i] {
			if id, _ := insights.MessageIDOf(before.data); id == m.ID && (before.plain || f.plain) {
				want = 0
			}
		}
		for index := range m.Count {
			if n := len(w.rows[insights.Position{Offset: uint64(i)}][uint16(index)]); n != want {
				t.Fatalf("event %d of message %d is stored %d times, want %d", index, i, n, want)
			}
		}
	}
	if w.group.offset != int64(len(w.log)) || w.group.intent != 0 {
		t.Fatalf("the group has %+v at the end of %d messages", w.group, len(w.log))
	}
}
