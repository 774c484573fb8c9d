package query

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema/insights"
)

// store returns a connection to a fresh database of the real engine, with the events table.
func store(t testing.TB) driver.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(enginetest.ClickHouse(t))
	if err != nil {
		t.Fatal(err)
	}
	options.Compression = &clickhouse.Compression{Method: clickhouse.CompressionLZ4}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	for _, statement := range insights.CreateStatements(insights.Topology{}) {
		if err := conn.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// insert stores events as the sink does: through the log's encoding.
func insert(t testing.TB, conn driver.Conn, site string, events []insights.Event) {
	t.Helper()
	insertAt(t, conn, time.UnixMilli(0), site, events)
}

// nextOffset is the next unused offset in the log.
var nextOffset atomic.Uint64

// insertAt inserts events that arrive at a given time, after all events that were inserted before.
func insertAt(t testing.TB, conn driver.Conn, arrived time.Time, site string, events []insights.Event) {
	t.Helper()
	var encoder insights.Encoder
	encoder.Begin(insights.MessageID{}, site, arrived.UnixMilli())
	for i := range events {
		encoder.Add(&events[i])
	}
	message, err := insights.ParseMessage(encoder.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	batch := insights.NewBatch()
	if err := batch.Add(message, insights.Position{Offset: nextOffset.Add(1)}, nil); err != nil {
		t.Fatal(err)
	}
	insertBatch(t, conn, batch)
}

func insertBatch(t testing.TB, conn driver.Conn, batch *insights.Batch) {
	t.Helper()
	into, err := conn.PrepareBatch(context.Background(), "INSERT INTO "+insights.Table+" ("+strings.Join(insights.InsertColumns(), ", ")+")")
	if err != nil {
		t.Fatal(err)
	}
	for i, values := range batch.Values() {
		if err := into.Column(i).Append(values); err != nil {
			t.Fatalf("%s: %v", insights.InsertColumns()[i], err)
		}
	}
	if err := into.Send(); err != nil {
		t.Fatal(err)
	}
}

func newService(conn driver.Conn, change ...func(*Config)) *Service {
	c := DefaultConfig()
	c.MaxTime = eventually.Patience // a busy machine takes longer than users wait
	for _, f := range change {
		f(&c)
	}
	return New(c, conn, NewMetrics(prometheus.NewRegistry()))
}

// testNow is the present of all tests: a Sunday.
var testNow = time.Date(2026, 3, 15, 12, 30, 45, 678_000_000, time.UTC)

const testSite = "site_1"

// ask returns a query with all of its time left.
func (s *Service) ask() *query {
	q := s.query(Aggregate, Caller{}, testSite)
	q.ends = time.Now().Add(time.Hour)
	return q
}

// bounded returns the plan with distinct values counted in bounded memory.
func bounded(p plan) plan {
	p.scope = p.scope.bounded()
	return p
}
