package sink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// newStore creates an empty events table in a real ClickHouse server.
func newStore(t testing.TB, url string) (*eventstore.ClickHouse, driver.Conn) {
	t.Helper()
	conn := ingesttest.Table(t, url)
	store, err := eventstore.New(eventstore.Config{Conn: conn, SettleWait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return store, conn
}

// newTestLog starts a log.
func newTestLog(t testing.TB, brokers []string, change func(*eventlog.Config)) *eventlog.Log {
	t.Helper()
	cfg := eventlog.Config{Brokers: brokers, Topic: "events", Partitions: 2, RetryWait: time.Millisecond, Logger: ingesttest.Logger(t)}
	if change != nil {
		change(&cfg)
	}
	l, err := eventlog.New(cfg, eventlog.NewMetrics(prometheus.NewRegistry()))
	if err != nil {
		t.Fatal(err)
	}
	ingesttest.Start(t, l)
	return l
}

// newTestSink builds a sink with its own metrics.
func newTestSink(t testing.TB, cfg Config) *Sink {
	t.Helper()
	r := prometheus.NewRegistry()
	cfg.Balances = balance.NewSites(r)
	s, err := New(cfg, NewMetrics(r))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// faultyStore is a store whose operations may fail, before or after they take effect.
type faultyStore struct {
	eventstore.Store
	before, after func(rows int) error // functions that return errors of Insert; nil means no error
	ask           func() error         // function that returns the error of a query; nil means no error
	inserts       atomic.Int32
}

func (f *faultyStore) Insert(ctx context.Context, rows *insights.Batch, token string) error {
	f.inserts.Add(1)
	if f.before != nil {
		if err := f.before(rows.Rows()); err != nil {
			return err
		}
	}
	if err := f.Store.Insert(ctx, rows, token); err != nil {
		return err
	}
	if f.after != nil {
		return f.after(rows.Rows())
	}
	return nil
}

func (f *faultyStore) Settle(ctx context.Context) error {
	if f.ask != nil {
		if err := f.ask(); err != nil {
			return err
		}
	}
	return f.Store.Settle(ctx)
}

func (f *faultyStore) Stored(ctx context.Context, partition uint16, from, to uint64) ([]eventstore.Row, error) {
	if f.ask != nil {
		if err := f.ask(); err != nil {
			return nil, err
		}
	}
	return f.Store.Stored(ctx, partition, from, to)
}

// rig has the log, the store and the intake of one test.
type rig struct {
	t       testing.TB
	brokers []string
	topic   string
	log     *eventlog.Log
	intake  *intake.Intake
	store   *eventstore.ClickHouse
	conn    driver.Conn
	url     string // address of the store
}

func newRig(t testing.TB, partitions int) *rig {
	t.Helper()
	r := &rig{t: t, brokers: enginetest.Kafka(t), topic: enginetest.Topic(t, partitions)}
	r.url = enginetest.ClickHouse(t)
	r.store, r.conn = newStore(t, r.url)
	r.log = newTestLog(t, r.brokers, func(c *eventlog.Config) {
		c.Topic, c.ProduceTimeout = r.topic, eventually.Patience
	})
	r.intake = intaketest.New(t, r.log)
	return r
}

// sink starts a sink. If `store` is nil, it uses the rig's store.
func (r *rig) sink(store eventstore.Store, change func(*Config)) *Sink {
	r.t.Helper()
	cfg := Config{
		Brokers: r.brokers, Topic: r.topic, Group: r.topic + "-sink", Store: store, Logger: ingesttest.Logger(r.t),
		BatchAge: 20 * time.Millisecond, FetchWait: 20 * time.Millisecond, RetryWait: 5 * time.Millisecond, HeartbeatInterval: 50 * time.Millisecond,
	}
	if store == nil {
		cfg.Store = r.store
	}
	if change != nil {
		change(&cfg)
	}
	s := newTestSink(r.t, cfg)
	if err := s.Start(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { r.stop(s) })
	return s
}

func (r *rig) stop(s *Sink) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Patience)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		r.t.Error(err)
	}
}

// kill ends a sink as a crash would: the sink does not store and commit the messages that it has read.
func (r *rig) kill(s *Sink) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.Stop(ctx)
}

func (r *rig) accept(body []byte) {
	r.t.Helper()
	if err := r.intake.Accept(r.t.Context(), intaketest.Site, body, intake.Client{Now: time.Now(), AnyPast: true}); err != nil {
		r.t.Error(err)
	}
}

// numbered returns a request with n events, whose times are in different months. The ids of their pages are successive
// numbers that begin at `first`.
func numbered(first, n int) []byte {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"type":"page_view","session":{"visitorId":"v%d","sessionId":"s"},"location":{"url":"https://d.example/","page":"%d"},"timestamp":"2024-%02d-01T00:00:00Z"}`,
			(first+i)%97, first+i, (first+i)%12+1)
	}
	return []byte(ingesttest.Events(list...))
}

// stored returns the number of rows and the number of different pages.
func (r *rig) stored() (rows, different uint64) {
	r.t.Helper()
	if err := r.conn.QueryRow(r.t.Context(), "SELECT count(), uniqExact(page) FROM events").Scan(&rows, &different); err != nil {
		r.t.Fatal(err)
	}
	return rows, different
}

// awaitStored waits until n events are stored, and fails the test if an event is stored twice.
func (r *rig) awaitStored(n int) {
	r.t.Helper()
	eventually.Succeeds(r.t, fmt.Sprint(n, " stored events"), func() error {
		if _, different := r.stored(); different < uint64(n) {
			return fmt.Errorf("%d events are stored", different)
		}
		return nil
	})
	if rows, different := r.stored(); rows != uint64(n) || different != rows {
		r.t.Errorf("%d rows of %d different events, want %d", rows, different, n)
	}
}

// awaitCommitted waits until the sinks' group has committed the end of every partition.
func (r *rig) awaitCommitted(partitions int) {
	r.t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(r.brokers...), Timeout: eventually.Patience}
	var ids []int
	var ends []kafka.OffsetRequest
	for id := range partitions {
		ids = append(ids, id)
		ends = append(ends, kafka.LastOffsetOf(id))
	}
	eventually.Succeeds(r.t, "commits", func() error {
		committed, err := client.OffsetFetch(r.t.Context(), &kafka.OffsetFetchRequest{GroupID: r.topic + "-sink", Topics: map[string][]int{r.topic: ids}})
		if err != nil {
			r.t.Fatal(err)
		}
		last, err := client.ListOffsets(r.t.Context(), &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{r.topic: ends}})
		if err != nil {
			r.t.Fatal(err)
		}
		behind := map[int]int64{}
		for _, p := range last.Topics[r.topic] {
			behind[p.Partition] = p.LastOffset
		}
		for _, p := range committed.Topics[r.topic] {
			behind[p.Partition] -= max(0, p.CommittedOffset)
		}
		for _, n := range behind {
			if n != 0 {
				return fmt.Errorf("messages not committed, by partition: %v", behind)
			}
		}
		return nil
	})
}

func TestSinkStoresEveryType(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	var list []string
	for kind, c := range ingesttest.Minimal {
		list = append(list, ingesttest.Event(kind, c.Extra))
	}
	r.accept([]byte(ingesttest.Events(list...)))
	s := r.sink(nil, nil)
	eventually.True(t, "events", func() bool { rows, _ := r.stored(); return rows == uint64(len(list)) })
	for kind, c := range ingesttest.Minimal {
		var n, fits uint64
		conditions := []string{"site = 'site_1'", "url = 'https://d.example/p'", "visitor != 0", "session != 0", "isNaN(latitude)"}
		for name, v := range c.Want {
			switch v := v.(type) {
			case string:
				conditions = append(conditions, fmt.Sprintf("%s = '%s'", name, strings.ReplaceAll(v, `\`, `\\`)))
			default:
				conditions = append(conditions, fmt.Sprintf("toInt8(%s) = %d", name, v))
			}
		}
		err := r.conn.QueryRow(t.Context(), "SELECT count(), countIf("+strings.Join(conditions, " AND ")+") FROM events WHERE type = '"+kind+"'").Scan(&n, &fits)
		if err != nil || n != 1 || fits != 1 {
			t.Errorf("%s: %d rows, %d of them correct, %v", kind, n, fits, err)
		}
	}
	if n := testutil.ToFloat64(s.metrics.stored); n != float64(len(list)) {
		t.Errorf("%v events counted as stored, want %d", n, len(list))
	}
}

// TestSinkClaims checks that a nested string and an array are stored as claims, and that the event is stored as
// authenticated.
func TestSinkClaims(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.accept([]byte(ingesttest.Events(ingesttest.Event("page_view", `"session":{"visitorId":"v","sessionId":"s","visitorAuthClaims":{"a":{"b":"é'\\"},"c":[1, 2]}}`), ingesttest.Event("page_view", ""))))
	r.sink(nil, nil)
	eventually.True(t, "events", func() bool { rows, _ := r.stored(); return rows == 2 })
	var claims map[string]string
	var authenticated uint8
	if err := r.conn.QueryRow(t.Context(), "SELECT claims, authenticated FROM events WHERE log_index = 0").Scan(&claims, &authenticated); err != nil {
		t.Fatal(err)
	}
	if len(claims) != 3 || claims[insights.ClaimTypes] != `{"c":"a"}` || claims["a.b"] != `é'\` || claims["c"] != "[1,2]" || authenticated != 1 {
		t.Errorf("claims %q, authenticated %d", claims, authenticated)
	}
	if err := r.conn.QueryRow(t.Context(), "SELECT claims, authenticated FROM events WHERE log_index = 1").Scan(&claims, &authenticated); err != nil || len(claims) != 0 || authenticated != 0 {
		t.Errorf("claims %q, authenticated %d, %v", claims, authenticated, err)
	}
}

// aPartOnly deletes some rows, so that the events table looks as if an insert had stored only some of its rows.
const aPartOnly = "ALTER TABLE events DELETE WHERE toMonth(time) % 3 = 0 SETTINGS mutations_sync = 2"

// TestSinkDiesBetweenInsertAndCommit ends a sink after an insert and before its commit. The next sink must store each
// row once, even if the insert has stored only some of its rows.
func TestSinkDiesBetweenInsertAndCommit(t *testing.T) {
	t.Parallel()
	for name, partly := range map[string]string{"whole": "", "partly": aPartOnly} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			const requests, each = 12, 25
			for i := range requests {
				r.accept(numbered(i*each, each))
			}
			inserted := make(chan struct{})
			var once sync.Once
			dying := &faultyStore{Store: r.store}
			dying.after = func(int) error {
				once.Do(func() { close(inserted) })
				return errors.New("killed before the commit")
			}
			// The failing queries prevent the sink from continuing.
			dying.ask = func() error {
				if dying.inserts.Load() > 0 {
					return errors.New("killed")
				}
				return nil
			}
			first := r.sink(dying, nil)
			<-inserted
			r.kill(first)
			if rows, _ := r.stored(); rows == 0 {
				t.Fatal("nothing was inserted before the kill")
			}
			if partly != "" {
				if err := r.conn.Exec(t.Context(), partly); err != nil {
					t.Fatal(err)
				}
			}
			second := r.sink(nil, nil)
			r.accept(numbered(requests*each, each))
			r.awaitStored((requests + 1) * each)
			eventually.True(t, "skips counted", func() bool {
				return testutil.ToFloat64(second.metrics.skipped.WithLabelValues("position")) > 0
			})
		})
	}
}

// TestSinkInsertInDoubt checks an insert that returns an error after it has stored all or some of its rows. The same
// sink must not store these rows twice.
func TestSinkInsertInDoubt(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	var faults atomic.Int32
	store := &faultyStore{Store: r.store}
	store.after = func(int) error {
		n := faults.Add(1)
		if n == 1 { // at this time the events table has only rows of this insert
			if err := r.conn.Exec(t.Context(), aPartOnly); err != nil {
				t.Error(err)
			}
		}
		if n <= 2 {
			return errors.New("the answer is lost")
		}
		return nil
	}
	s := r.sink(store, nil)
	for i := range 40 {
		r.accept(numbered(i*10, 10))
	}
	// Wait until rows of the first insert were deleted. Before that, all of its rows may be stored.
	eventually.True(t, "insert errors counted", func() bool { return storeErrors(s) == 2 })
	r.awaitStored(400)
}

// TestSinkWithoutStore checks that no message is lost or committed while the store is unavailable. When the store is
// available again, the sink must continue.
func TestSinkWithoutStore(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	var away atomic.Bool
	away.Store(true)
	fail := func() error {
		if away.Load() {
			return errors.New("connection refused")
		}
		return nil
	}
	store := &faultyStore{Store: r.store, ask: fail, before: func(int) error { return fail() }}
	r.accept(numbered(0, 50))
	s := r.sink(store, nil)
	// fetchedAt waits until another call of the store has failed. It fails the test if the group's progress is after
	// the stored messages.
	fetchedAt := func(stored int64) {
		t.Helper()
		failed := storeErrors(s)
		eventually.True(t, "the sink to fail to reach the store", func() bool { return storeErrors(s) > failed })
		if p := r.progress(s); p.offset > stored {
			t.Errorf("%d messages are stored, the group has %+v", stored, p)
		}
	}
	fetchedAt(0)
	r.accept(numbered(50, 50))
	away.Store(false)
	r.awaitStored(100)
	r.awaitCommitted(1)
	// Do the same again, now that the sink owns the partition.
	away.Store(true)
	r.accept(numbered(100, 50))
	fetchedAt(2)
	r.accept(numbered(150, 50))
	away.Store(false)
	r.awaitStored(200)
}

// TestSinksShare checks that sinks which start and stop divide the partitions among themselves, and that each event is
// stored once.
func TestSinksShare(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	first := r.sink(nil, nil)
	total := 0
	send := func() {
		for range 20 {
			r.accept(numbered(total, 10))
			total += 10
		}
	}
	send()
	second := r.sink(nil, nil)
	eventually.True(t, "both sinks to have partitions", func() bool {
		send()
		return testutil.ToFloat64(second.metrics.stored) > 0 && total > 400
	})
	r.stop(first)
	send()
	third := r.sink(nil, nil)
	send()
	r.kill(second)
	send()
	r.awaitStored(total)
	if testutil.ToFloat64(third.metrics.unreadable) != 0 {
		t.Error("messages were not readable")
	}
}

// TestSinkDropsRepeats checks that a message which the log has twice is stored once, even if another sink starts
// between the two messages.
func TestSinkDropsRepeats(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	capture := &ingesttest.MemoryLog{}
	in := intaketest.New(t, capture)
	if err := in.Accept(t.Context(), intaketest.Site, numbered(0, 7), intaketest.Client); err != nil {
		t.Fatal(err)
	}
	repeat := func() {
		if err := r.log.AppendAgain(t.Context(), "site_1", 0, capture.Messages[0]); err != nil {
			t.Fatal(err)
		}
	}
	repeat()
	repeat()
	first := r.sink(nil, nil)
	r.awaitStored(7)
	r.awaitCommitted(1)
	r.stop(first)
	repeat()
	r.accept(numbered(7, 3))
	second := r.sink(nil, nil)
	r.awaitStored(10)
	r.awaitCommitted(1) // rows are stored before the sink has counted them, so wait for the commit
	if a, b := testutil.ToFloat64(first.metrics.skipped.WithLabelValues("repeat")), testutil.ToFloat64(second.metrics.skipped.WithLabelValues("repeat")); a != 7 || b != 7 {
		t.Errorf("%v and %v repeated events counted, want 7 and 7", a, b)
	}
}

// TestSinkPassesUnreadable checks that an unreadable message is counted and becomes a dead letter, and that later
// messages are stored.
func TestSinkPassesUnreadable(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.accept(numbered(0, 3))
	for _, junk := range []string{"", "junk", "OF\x01" + strings.Repeat("\xff", 60)} {
		if err := r.log.Append(t.Context(), "site_1", 0, []byte(junk)); err != nil {
			t.Fatal(err)
		}
	}
	r.accept(numbered(3, 3))
	s := r.sink(nil, nil)
	r.awaitStored(6)
	r.awaitCommitted(1)
	if n := testutil.ToFloat64(s.metrics.unreadable); n != 3 {
		t.Errorf("%v unreadable messages counted, want 3", n)
	}
	if list, _ := r.letters(true); len(list) != 3 {
		t.Errorf("%q are put aside, want 3", keysOf(list))
	}
}

// TestSinkNewTopic checks a recreated topic, whose offsets start at 0 again. The events of the new topic must be
// stored, even if rows of the old topic have the same positions.
func TestSinkNewTopic(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	first := r.sink(nil, nil)
	for i := range 10 {
		r.accept(numbered(i*5, 5))
	}
	r.awaitStored(50)
	r.stop(first)
	r.topic = enginetest.Topic(t, 1)
	r.log = newTestLog(t, r.brokers, func(c *eventlog.Config) { c.Topic = r.topic })
	r.intake = intaketest.New(t, r.log)
	for i := range 10 {
		r.accept(numbered(50+i*5, 5))
	}
	r.sink(nil, nil)
	r.awaitStored(100)
}

// TestSinkFlushesOnStop checks that Stop stores and commits the messages that the sink has read.
func TestSinkFlushesOnStop(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	s := r.sink(nil, func(c *Config) { c.BatchAge = time.Hour })
	r.accept(numbered(0, 20))
	eventually.True(t, "the sink to read the log", func() bool { return testutil.ToFloat64(s.metrics.taken) == 1 })
	r.stop(s)
	if rows, _ := r.stored(); rows != 20 {
		t.Errorf("%d rows after Stop, want 20", rows)
	}
	second := r.sink(nil, nil)
	r.accept(numbered(20, 5))
	r.awaitStored(25)
	if n := testutil.ToFloat64(second.metrics.skipped.WithLabelValues("position")); n != 0 {
		t.Errorf("%v events were stored but not committed", n)
	}
}

// storeErrors returns how many calls of the store failed because of the store's state.
func storeErrors(s *Sink) (n float64) {
	for _, reason := range eventstore.Reasons(false) {
		n += testutil.ToFloat64(s.metrics.storeErrors.WithLabelValues(reason))
	}
	return n
}
