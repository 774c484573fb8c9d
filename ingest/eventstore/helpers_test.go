package eventstore

import (
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
)

// newTestStore creates an empty events table in a real ClickHouse server.
func newTestStore(t testing.TB) (*ClickHouse, driver.Conn) {
	t.Helper()
	return testStoreAt(t, enginetest.ClickHouse(t))
}

// startEngine starts a ClickHouse server. The caller stops it. The data are in `dir`, or in a new folder if `dir` is
// empty.
func startEngine(t testing.TB, dir string) *enginetest.Running {
	t.Helper()
	engine, err := enginetest.Launch{Binary: enginetest.Binary(t), Engines: []string{"clickhouse"}, Dir: dir}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

func testStoreAt(t testing.TB, url string) (*ClickHouse, driver.Conn) {
	t.Helper()
	conn := ingesttest.Table(t, url)
	store, err := New(Config{Conn: conn, SettleWait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return store, conn
}
