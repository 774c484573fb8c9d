package sink

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema/insights"
)

// outage is a state of the store in which it accepts no rows.
type outage struct {
	// `alter` is a setting that puts the events table into this state. `reset` is the name of this setting.
	alter, reset string
	// limited means that inserts use a connection with too little memory.
	limited bool
	reason  string // the reason that the metric of store errors must count
}

var outages = map[string]outage{
	"disk full": {
		alter: "min_free_disk_bytes_to_perform_insert = 1000000000000000000", reset: "min_free_disk_bytes_to_perform_insert", reason: "disk",
	},
	"too many parts": {
		alter: "parts_to_delay_insert = 1, parts_to_throw_insert = 1", reset: "parts_to_delay_insert, parts_to_throw_insert", reason: "parts",
	},
	"read-only table": {alter: "table_readonly = 1", reset: "table_readonly", reason: "read_only"},
	"memory limit":    {limited: true, reason: "memory"},
}

// TestSinkOutages checks states of a real ClickHouse server that prevent inserts. During the outage, the intake must
// accept events, and the sink must retry, count the reason, and report the partition as stalled. No message may become
// a dead letter. After the outage, each event must be stored once.
func TestSinkOutages(t *testing.T) {
	t.Parallel()
	for name, o := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 1)
			store := &switchedStore{Store: r.store, limited: limitedStore(t, r)}
			s := r.sink(store, nil)
			r.accept(numbered(0, 50))
			r.awaitStored(50)

			r.into(o, store)
			r.accept(numbered(50, 50))
			count := func() float64 { return testutil.ToFloat64(s.metrics.storeErrors.WithLabelValues(o.reason)) }
			eventually.True(t, "inserts that fail for "+o.reason, func() bool { return count() >= 3 })
			r.accept(numbered(100, 50))
			if _, different := r.stored(); different != 50 {
				t.Errorf("%d events are stored in this state", different)
			}
			eventually.True(t, "the sink to read all messages", func() bool {
				return testutil.ToFloat64(s.metrics.taken) == 3
			})
			if rows, _ := s.block.size(&s.cfg); (rows < s.cfg.BatchRows) != o.limited {
				t.Errorf("the next insert has up to %d rows", rows)
			}
			if all := storeErrors(s); all != count() {
				t.Errorf("%v errors have other reasons than %s", all-count(), o.reason)
			}

			r.outOf(o, store)
			r.awaitStored(150)
			r.awaitCommitted(1)
			if list, _ := r.letters(true); len(list) > 0 {
				t.Errorf("%d dead letters", len(list))
			}
			if b := s.cfg.Balances.Balance("site_1"); b.Stored != 150 || b.DeadLettered != 0 {
				t.Errorf("balance %+v", b)
			}
		})
	}
}

func (r *rig) into(o outage, store *switchedStore) {
	r.t.Helper()
	store.short.Store(o.limited)
	r.alter("MODIFY SETTING", o.alter)
}

func (r *rig) outOf(o outage, store *switchedStore) {
	r.t.Helper()
	store.short.Store(false)
	r.alter("RESET SETTING", o.reset)
}

func (r *rig) alter(action, settings string) {
	r.t.Helper()
	if settings == "" {
		return
	}
	if err := r.conn.Exec(r.t.Context(), fmt.Sprintf("ALTER TABLE %s %s %s", insights.Table, action, settings)); err != nil {
		r.t.Fatal(err)
	}
}

// switchedStore inserts with the store `limited` while `short` is set.
type switchedStore struct {
	eventstore.Store
	limited eventstore.Store
	short   atomic.Bool
}

func (s *switchedStore) Insert(ctx context.Context, rows *insights.Batch, token string) error {
	if s.short.Load() {
		return s.limited.Insert(ctx, rows, token)
	}
	return s.Store.Insert(ctx, rows, token)
}

// limitedStore returns a store for the rig's table with connections whose queries get almost no memory.
func limitedStore(t *testing.T, r *rig) eventstore.Store {
	t.Helper()
	options, err := clickhouse.ParseDSN(r.url)
	if err != nil {
		t.Fatal(err)
	}
	options.Settings = clickhouse.Settings{"max_memory_usage": 1, "max_untracked_memory": 1}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	store, err := eventstore.New(eventstore.Config{Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// brokenQuestions is a store whose first insert succeeds but returns an error. The next queries fail with an error code
// that an insert returns for refused rows.
type brokenQuestions struct {
	eventstore.Store
	lost    atomic.Bool
	refused atomic.Int32
}

func (s *brokenQuestions) Insert(ctx context.Context, rows *insights.Batch, token string) error {
	if err := s.Store.Insert(ctx, rows, token); err != nil || s.lost.Swap(true) {
		return err
	}
	return errors.New("the answer is lost")
}

func (s *brokenQuestions) Stored(ctx context.Context, partition uint16, from, to uint64) ([]eventstore.Row, error) {
	if s.refused.Add(1) <= 6 {
		return nil, &clickhouse.Exception{Code: 131, Message: "too large string size"}
	}
	return s.Store.Stored(ctx, partition, from, to)
}

// TestSinkQuestionFails checks a store that cannot read its own rows, for example because a part is damaged. The rows
// that wait to be stored are not the cause, so they must not become dead letters. The metric must count the reason of
// the error.
func TestSinkQuestionFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	s := r.sink(&brokenQuestions{Store: r.store}, nil)
	r.accept(numbered(0, 8))
	r.awaitStored(8)
	r.awaitCommitted(1)
	if n := testutil.ToFloat64(s.metrics.storeErrors.WithLabelValues("value")); n != 6 {
		t.Errorf("%v questions failed, want 6", n)
	}
	if list, _ := r.letters(true); len(list) > 0 {
		t.Errorf("%d dead letters", len(list))
	}
}

// TestSinkTakesOverWithoutStore starts a sink while the store is unavailable. The sink's metrics must show why it is
// stalled.
func TestSinkTakesOverWithoutStore(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.accept(numbered(0, 5))
	s := r.sink(&faultyStore{Store: r.store, ask: func() error { return &clickhouse.Exception{Code: 241, Message: "no memory"} }}, nil)
	eventually.True(t, "queries that fail", func() bool {
		return testutil.ToFloat64(s.metrics.storeErrors.WithLabelValues("memory")) > 2
	})
	r.kill(s)
}

// TestSinkStalledWithoutLog checks a sink that owns a partition and cannot read its offsets. Its metrics must show the
// partition as stalled until another sink owns the partition.
func TestSinkStalledWithoutLog(t *testing.T) {
	t.Parallel()
	s := newTestSink(t, Config{Brokers: []string{"127.0.0.1:1"}, Store: &eventstore.ClickHouse{}})
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		newGeneration(s, member{}, []kafka.PartitionAssignment{{ID: 3}}).run(ctx, ctx)
	}()
	eventually.True(t, "the stall to show", func() bool {
		return testutil.CollectAndCount(s.metrics.stalled) == 1 && testutil.ToFloat64(s.metrics.stalled) > 0
	})
	end()
	<-ended
	if n := testutil.CollectAndCount(s.metrics.stalled); n != 0 {
		t.Errorf("%d partitions that the sink no longer owns show a stall", n)
	}
}

// TestSinkLagGrows checks that the lag includes messages that arrive while the store is unavailable. It checks this
// while the sink still reads, and after the sink's buffers are full.
func TestSinkLagGrows(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"reading": 16 << 20, "full": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 1)
			var back atomic.Bool
			store := &faultyStore{Store: r.store, before: func(int) error {
				if back.Load() {
					return nil
				}
				return errors.New("away")
			}}
			s := r.sink(store, func(c *Config) { c.BatchBytes = most })
			for i := range 20 {
				r.accept(numbered(i, 1))
			}
			lag := func() float64 { return testutil.ToFloat64(s.metrics.logLag.WithLabelValues("0")) }
			eventually.True(t, "the lag to show", func() bool { return lag() == 20 })
			back.Store(true)
			r.awaitStored(20)
			eventually.True(t, "the lag to end", func() bool { return lag() == 0 })
		})
	}
}

// TestReasonsBeforeTheFirst checks that the series which alerts use exist before their first increment. Otherwise the
// function increase() of Prometheus would not notice this increment.
func TestReasonsBeforeTheFirst(t *testing.T) {
	t.Parallel()
	m := NewMetrics(prometheus.NewRegistry())
	if n := testutil.CollectAndCount(m.deadLettered); n != 3 {
		t.Errorf("%d series of dead letters, want those of constraint, value and unreadable", n)
	}
	if n := testutil.CollectAndCount(m.storeErrors); n != len(eventstore.Reasons(false))+1 {
		t.Errorf("%d series of the store's errors, want one more for %s", n, newerReason)
	}
}
