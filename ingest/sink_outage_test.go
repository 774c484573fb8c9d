package ingest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema/insights"
)

// outage is a state of the store in which it takes no rows.
type outage struct {
	// alter puts the events table into the state, reset out of it.
	alter, reset string
	// limited asks for inserts by a connection with too little memory instead.
	limited bool
	reason  string // by which it is counted
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

// TestSinkOutages: while the real engine takes no rows for its state, intake goes on, the sink tries again and counts why,
// nothing becomes a dead letter, and the partition shows as stalled. When that is over, everything is stored once.
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
			eventually.True(t, patience, "inserts that fail for "+o.reason, func() bool { return count() >= 3 })
			r.accept(numbered(100, 50))
			if _, different := r.stored(); different != 50 {
				t.Errorf("%d events are stored in this state", different)
			}
			if n := testutil.ToFloat64(s.metrics.taken); n == 0 {
				t.Error("no message was taken")
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
			if b := s.metrics.Balance("site_1"); b.Stored != 150 || b.DeadLettered != 0 {
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

// switchedStore inserts by a store that has too little memory while short says so.
type switchedStore struct {
	Store
	limited Store
	short   atomic.Bool
}

func (s *switchedStore) Insert(ctx context.Context, rows *insights.Batch, token string) error {
	if s.short.Load() {
		return s.limited.Insert(ctx, rows, token)
	}
	return s.Store.Insert(ctx, rows, token)
}

// limitedStore is the rig's store on connections whose queries get next to no memory.
func limitedStore(t *testing.T, r *rig) Store {
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
	store, err := NewClickHouse(ClickHouseConfig{Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	return store
}
