package ingesttest

import (
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Table creates the events table in the empty database of a URL. It returns a connection to the database.
func Table(t testing.TB, url string) driver.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	for _, statement := range insights.CreateStatements(insights.Topology{}) {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// BatchOf returns a batch with the rows of a message, except the rows for which `skip` returns true.
func BatchOf(t testing.TB, m insights.Message, offset uint64, skip func(int) bool) *insights.Batch {
	t.Helper()
	b := insights.NewBatch()
	if err := b.Add(m, insights.Position{Offset: offset}, skip); err != nil {
		t.Fatal(err)
	}
	return b
}

// Fill adds messages to a batch. Each message's offset is its index.
func Fill(t testing.TB, batch *insights.Batch, messages [][]byte) {
	for i, data := range messages {
		m, err := insights.ParseMessage(data)
		if err == nil {
			err = batch.Add(m, insights.Position{Offset: uint64(i)}, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
