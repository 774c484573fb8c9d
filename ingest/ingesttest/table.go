package ingesttest

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Table makes the events table in the empty database of a URL.
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

// BatchOf are the rows of a message, but for those that skip says to leave out.
func BatchOf(t testing.TB, m insights.Message, offset uint64, skip func(int) bool) *insights.Batch {
	t.Helper()
	b := insights.NewBatch()
	if err := b.Add(m, insights.Position{Offset: offset}, skip); err != nil {
		t.Fatal(err)
	}
	return b
}

//go:embed testdata/events_722db72.sql
var firstTable string

// FirstTable is the statement that made the events table at commit 722db72, the
// first version.
func FirstTable() string { return strings.TrimSuffix(strings.TrimSpace(firstTable), ";") }

// Upgrade does to an older table what octavo migrate does before it moves it.
func Upgrade(t testing.TB, conn driver.Conn) {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = 'events'")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	have := map[string]string{}
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			t.Fatal(err)
		}
		have[name] = kind
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	var visits []string
	if err := conn.QueryRow(t.Context(), "SELECT "+insights.VisitsOf+" FROM system.tables WHERE database = currentDatabase() AND name = 'events'").Scan(&visits); err != nil {
		t.Fatal(err)
	}
	for _, statement := range insights.UpgradeStatements(insights.Topology{}, have, visits) {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// Fill adds messages to a batch, each at the offset of its place.
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
