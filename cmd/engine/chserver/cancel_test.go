package chserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// waitRunning waits until exactly n statements whose text contains `mark` are running.
func waitRunning(t *testing.T, db driver.Conn, mark string, n uint64) {
	t.Helper()
	eventually.Succeeds(t, fmt.Sprint(n, " statements with ", mark), func() error {
		got := one[uint64](t, db, t.Context(), "SELECT count() FROM system.processes WHERE position(query, {mark:String}) > 0 AND position(query, 'system.processes') = 0", clickhouse.Named("mark", mark))
		if got != n {
			return fmt.Errorf("%d run", got)
		}
		return nil
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	must(t, db.Exec(t.Context(), "CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a"))
	for mark, query := range map[string]string{
		"aggregation_1": "SELECT sum(sipHash64(number, 'aggregation_1')) FROM numbers(1000000000000)",
		"insert_1":      "INSERT INTO t SELECT number FROM numbers(1000000000000) WHERE sipHash64(number, 'insert_1') = 1",
		"stream_1":      "SELECT number FROM numbers(1000000000000) WHERE sipHash64(number, 'stream_1') % 2",
		"sleep_1":       "SELECT sleepEachRow(0.01), 'sleep_1' FROM numbers(1000000) SETTINGS max_block_size = 10",
	} {
		t.Run(mark, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- exhaust(ctx, db, query) }()
			waitRunning(t, db, mark, 1)
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) && err == nil {
				t.Errorf("the client got %v", err)
			}
			waitRunning(t, db, mark, 0)
		})
	}
}

func TestDisconnectEndsTheStatement(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	// The test closes the connection itself, because closing a pool does not close connections in use.
	var conn net.Conn
	leaver := connect(t, sharedServer(t), "default", func(o *clickhouse.Options) {
		o.MaxOpenConns = 1
		o.DialContext = func(ctx context.Context, address string) (_ net.Conn, err error) {
			conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", address)
			return conn, err
		}
	})
	must(t, leaver.Ping(t.Context()))
	ended := make(chan error, 1)
	go func() {
		ended <- exhaust(t.Context(), leaver, "SELECT sum(sipHash64(number, 'leaver_1')) FROM numbers(1000000000000)")
	}()
	waitRunning(t, db, "leaver_1", 1)
	must(t, conn.Close())
	waitRunning(t, db, "leaver_1", 0)
	if err := <-ended; err == nil {
		t.Error("a statement without a connection got a result")
	}
}

func TestDeadlineEndsItsStatement(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // long enough for waitRunning to see the statement
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		// The client also sends a deadline as a time limit for the engine. The statement turns this limit off, so that
		// only a Cancel can end it.
		ended <- exhaust(ctx, db, "SELECT sum(sipHash64(number, 'deadline_1')) FROM numbers(1000000000000) SETTINGS max_execution_time = 0")
	}()
	waitRunning(t, db, "deadline_1", 1)
	if err := <-ended; err == nil {
		t.Error("a deadline did not end the statement")
	}
	waitRunning(t, db, "deadline_1", 0)
}

func TestTimeLimitOfTheEngine(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"max_execution_time": 1}))
	if err := exhaust(ctx, db, "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)"); codeOf(err) != 159 {
		t.Errorf("got %v", err)
	}
	must(t, db.Ping(t.Context()))
}

// TestFirstRowsArriveBeforeTheLast checks that the server streams rows. TestStreamedRead would also pass with a server
// that collects all rows first.
func TestFirstRowsArriveBeforeTheLast(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	defer time.AfterFunc(eventually.Patience, cancel).Stop()
	rows, err := db.Query(ctx, "SELECT sleepEachRow(0.01), 'flow_1' FROM numbers(1000000) SETTINGS max_block_size = 10")
	must(t, err)
	if !rows.Next() {
		t.Errorf("no row arrived: %v", rows.Err())
	}
	cancel()
	_ = rows.Close() // the error says that the query was cancelled
	waitRunning(t, db, "flow_1", 0)
}
