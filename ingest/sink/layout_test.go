package sink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
)

var errKilled = errors.New("killed")

// killedConn is the connection of a mover that is killed just before it exchanges
// the tables. Inserts are held, and it executes nothing that would release them.
type killedConn struct {
	driver.Conn
	killed bool
}

func (c *killedConn) Exec(ctx context.Context, query string, args ...any) error {
	if c.killed = c.killed || strings.HasPrefix(query, "EXCHANGE"); c.killed {
		return errKilled
	}
	return c.Conn.Exec(ctx, query, args...)
}

// A sink stores events while the table moves, and one mover is killed in the
// middle. Every event is stored once, and every count in the meantime is that of
// one whole table.
func TestLayoutUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.exec("DROP TABLE events", ingesttest.FirstTable())
	ingesttest.Upgrade(t, r.conn)
	const requests, each = 30, 12
	for i := range requests / 3 {
		r.accept(numbered(i*each, each))
	}
	s := r.sink(nil, nil)
	r.awaitStored(requests / 3 * each)

	accepting := make(chan struct{})
	var posted atomic.Int64
	posted.Store(requests / 3)
	go func() {
		defer close(accepting)
		for i := requests / 3; i < requests; i++ {
			r.accept(numbered(i*each, each))
			posted.Add(1)
		}
	}()
	watching, stop := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	go func() {
		var last uint64
		for watching.Err() == nil {
			var n uint64
			if err := r.conn.QueryRow(t.Context(), "SELECT count() FROM events").Scan(&n); err != nil {
				watched <- fmt.Errorf("a query fails: %w", err)
				return
			}
			if n < last {
				watched <- fmt.Errorf("a query sees %d rows after %d", n, last)
				return
			}
			last = n
		}
		watched <- nil
	}()
	mover := func(conn driver.Conn) *eventstore.Layout {
		l, err := eventstore.NewLayout(eventstore.LayoutConfig{
			Conn: conn, OlderMembers: func(context.Context) (bool, error) { return false, nil }, Holds: held,
			Logger: ingesttest.Logger(t), Block: 16, HoldBelow: 100,
		})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if err := mover(&killedConn{Conn: r.conn}).Move(t.Context()); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	l := mover(r.conn)
	eventually.Succeeds(t, "the move", func() error { return l.Move(t.Context()) })
	<-accepting
	r.awaitStored(requests * each)
	stop()
	if err := <-watched; err != nil {
		t.Error(err)
	}
	if ok, err := l.Current(t.Context()); err != nil || !ok {
		t.Errorf("the layout is current: %v, %v; want true", ok, err)
	}
	r.awaitCommitted(2)
	r.stop(s)
	r.equal(requests * each)
	if letters, _ := r.letters(true); len(letters) > 0 {
		t.Errorf("%d dead letters: the sink mistook the hold for a fault of the rows", len(letters))
	}
}
