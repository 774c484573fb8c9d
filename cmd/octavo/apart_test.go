package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/alecthomas/kong"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/capture"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/query"
)

// newNode runs a node with all roles inside the test process, on the shared test engines. The instance sends requests
// to the node.
func newNode(t *testing.T, clickHouseURL string) (*node, *instance) {
	t.Helper()
	i := &instance{t: t, dir: filepath.Join(t.TempDir(), "data"), listen: enginetest.Address(t), output: &capture.Buffer{}}
	i.url = "http://" + i.listen
	var cli struct {
		Settings `embed:""`
	}
	parser, err := kong.New(&cli)
	if err == nil {
		_, err = parser.Parse([]string{
			"--listen", i.listen, "--data-dir", i.dir, "--clickhouse-url", clickHouseURL, "--drain-wait", "0s",
			"--postgres-url", enginetest.Postgres(t), "--kafka-brokers", strings.Join(enginetest.Kafka(t), ","), "--kafka-topic", enginetest.Topic(t, 4),
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := cli.sizes(os.DirFS("/"))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(i.output, nil))
	n := &node{settings: &cli.Settings, sizes: sizes, load: newLoad(log), log: log}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), eventually.Patience)
		defer cancel()
		if err := n.stop(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := n.start(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := bootstrap(t.Context(), n.settings, n.store, true); err != nil {
		t.Fatal(err)
	}
	i.readQuickstart()
	return n, i
}

// TestQueriesDoNotHoldUpTheSink checks that inserts are not delayed while queries occupy all of their connections. The
// node must stay ready.
func TestQueriesDoNotHoldUpTheSink(t *testing.T) {
	t.Parallel()
	address := enginetest.ClickHouse(t)
	own, err := openClickHouse(address, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Close() }()
	n, i := newNode(t, address)
	// A caller who waits for a connection must get an error about the connections, not about a slow query.
	if connectionWait >= query.Grace {
		t.Errorf("connectionWait is %s, want less than query.Grace, %s", connectionWait, query.Grace)
	}
	slow, cancel := context.WithCancel(t.Context())
	var running []driver.Rows
	end := func() {
		cancel()
		for _, rows := range running {
			_ = rows.Close() // fails: the query was cancelled
		}
		running = nil
	}
	defer end()
	for range query.Connections(n.sizes.queries) {
		rows, err := n.queries.Query(slow, "SELECT number FROM system.numbers")
		if err != nil {
			t.Fatal(err)
		}
		running = append(running, rows)
	}
	if s := n.queries.Stats(); s.Open != s.MaxOpenConns {
		t.Fatalf("queries have %d of %d connections", s.Open, s.MaxOpenConns)
	}
	if status, answer := i.post(i.token, pageView("a"), pageView("b")); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	i.until("events in the table", func() error {
		var stored uint64
		err := own.QueryRow(t.Context(), "SELECT count() FROM events").Scan(&stored)
		if err == nil && stored != 2 {
			err = fmt.Errorf("there are %d", stored)
		}
		return err
	})
	if status, answer := i.request("GET", "/readyz", "", nil); status != 200 {
		t.Errorf("readyz answers %d %s", status, answer)
	}
	end()
	i.wantCounts(2, 2)
}

// TestSinkDoesNotHoldUpQueries checks that queries are not delayed while the store does not answer an insert. The test
// sends more concurrent queries than there are connections.
func TestSinkDoesNotHoldUpQueries(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(enginetest.ClickHouse(t))
	if err != nil {
		t.Fatal(err)
	}
	held := newHolding(t, address.Host, "INSERT INTO events")
	address.Host = held.listener.Addr().String()
	_, i := newNode(t, address.String())
	if status, answer := i.post(i.token, pageView("a"), pageView("b")); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	i.until("insert", func() error {
		if !held.any() {
			return fmt.Errorf("none has begun")
		}
		return nil
	})
	var wait sync.WaitGroup
	for range 2 * query.DefaultConfig().Concurrency {
		wait.Go(func() {
			got, err := i.aggregate(`{"range":"last24Hours","select":[{"column":"eventsCount"}]}`)
			if err != nil || fmt.Sprint(got["eventsCount"]) != "[0]" {
				t.Errorf("%v %v", got, err)
			}
		})
	}
	wait.Wait()
	if status, answer := i.request("GET", "/readyz", "", nil); status != 200 {
		t.Errorf("readyz answers %d %s", status, answer)
	}
	held.release()
	i.wantCounts(2, 2)
}

// holding is a proxy. When a client sends a certain text, the proxy stops forwarding until `release` is called.
type holding struct {
	target   string
	text     []byte
	listener net.Listener
	released chan struct{}
	release  func()

	mu    sync.Mutex
	holds int
}

func newHolding(t *testing.T, target, text string) *holding {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &holding{target: target, text: []byte(text), listener: listener, released: make(chan struct{})}
	h.release = sync.OnceFunc(func() { close(h.released) })
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			running.Go(func() { h.pass(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		h.release()
		running.Wait() // the node has closed its connections
	})
	return h
}

func (h *holding) any() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.holds > 0
}

func (h *holding) pass(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", h.target)
	if err != nil {
		return // closes the client's connection, as a closed port does
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(client, server) // ends when either side closes
		_ = client.Close()
	}()
	// tail has the last forwarded bytes, because they may have the beginning of the text.
	var tail []byte
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if tail = append(tail, buffer[:n]...); bytes.Contains(tail, h.text) {
			h.mu.Lock()
			h.holds++
			h.mu.Unlock()
			<-h.released
			tail = nil
		}
		tail = tail[max(0, len(tail)-len(h.text)+1):]
		if err == nil {
			_, err = server.Write(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}
