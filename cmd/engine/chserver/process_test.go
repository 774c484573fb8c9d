package chserver

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// TestKilledServerKeepsWhatItAcknowledged kills the server during inserts. After a restart, every acknowledged batch
// must be stored completely.
func TestKilledServerKeepsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const batchRows = 500
	acknowledged, sent := map[uint64]bool{}, atomic.Uint64{}
	for range 3 {
		p := start(t, dir)
		db := connect(t, p, "default")
		must(t, db.Exec(t.Context(), "CREATE DATABASE IF NOT EXISTS d"))
		must(t, db.Exec(t.Context(), "CREATE TABLE IF NOT EXISTS d.t (b UInt64, n UInt64) ENGINE = MergeTree ORDER BY b"))
		var mu sync.Mutex
		var wg sync.WaitGroup
		// More inserts may be acknowledged between the close of the channel `enough` and the kill.
		enough, before := make(chan struct{}), len(acknowledged)
		for range 3 {
			wg.Go(func() {
				for {
					b := sent.Add(1)
					batch, err := db.PrepareBatch(t.Context(), "INSERT INTO d.t")
					if err != nil {
						return // the server is gone
					}
					for n := range uint64(batchRows) {
						if err := batch.Append(b, n); err != nil {
							t.Error(err)
						}
					}
					if err := batch.Send(); err != nil {
						return
					}
					mu.Lock()
					acknowledged[b] = true
					if len(acknowledged) == before+30 {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		<-enough
		p.kill(t)
		wg.Wait()
		_ = db.Close()
	}
	p := start(t, dir)
	db := connect(t, p, "d")
	rows, err := db.Query(t.Context(), "SELECT b, count() FROM t GROUP BY b")
	must(t, err)
	for rows.Next() {
		var b, n uint64
		must(t, rows.Scan(&b, &n))
		if n != batchRows {
			t.Errorf("batch %d has %d rows", b, n)
		}
		delete(acknowledged, b)
	}
	must(t, rows.Close())
	if len(acknowledged) > 0 {
		t.Errorf("%d acknowledged batches are lost", len(acknowledged))
	}
	must(t, db.Close())
	must(t, p.terminate())
}

func TestTerminateEndsRunningStatements(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	db := connect(t, p, "default")
	go func() {
		_ = exhaust(context.Background(), db, "SELECT sum(sipHash64(number, 'endless_1')) FROM numbers(1000000000000)")
	}()
	waitRunning(t, db, "endless_1", 1)
	must(t, p.terminate())
	if !strings.Contains(p.stderr.String(), "engine is closed") {
		t.Errorf("the engine was not closed:\n%s", p.stderr)
	}
}

func TestNilDereferencePanics(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), childEnv+"_NIL=1")
	select {
	case err := <-p.exited:
		if err == nil {
			t.Error("after a nil dereference the process exited with status 0")
		}
		if !strings.Contains(p.stderr.String(), "nil pointer dereference") {
			t.Errorf("it exited with:\n%s", p.stderr)
		}
	case <-time.After(eventually.Patience):
		t.Error("a nil dereference hangs")
	}
}

func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), childEnv+"_CONNECTIONS=2")
	pools := [3]interface{ Ping(context.Context) error }{}
	for i := range pools {
		pools[i] = connect(t, p, "default", single)
	}
	must(t, pools[0].Ping(t.Context()))
	must(t, pools[1].Ping(t.Context()))
	if err := pools[2].Ping(t.Context()); codeOf(err) != codeTooManyConns {
		t.Errorf("the third connection gave %v", err)
	}
	must(t, pools[0].Ping(t.Context()))
	must(t, p.terminate())
}

func TestSecondServerOnTheSameDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	var out bytes.Buffer
	cmd := childCommand(t, dir)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err == nil {
		t.Error("it started")
	}
	if !strings.Contains(out.String(), "cannot") {
		t.Errorf("it said: %s", out.String())
	}
	must(t, p.terminate())
}

// TestMalformedBytes sends bytes that no client sends. The server must close each such connection, and continue to
// serve other connections.
func TestMalformedBytes(t *testing.T) {
	t.Parallel()
	p := sharedServer(t)
	for name, data := range malformed() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := dial(t, p)
			_, _ = socket.Write(data) // fails if the server has closed the connection
			_ = socket.CloseWrite()   // tells the server that no more bytes follow
			if _, err := io.Copy(io.Discard, socket); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the server did not close the connection")
			}
			db := connect(t, p, "default")
			must(t, db.Ping(t.Context()))
			if got := one[uint8](t, db, t.Context(), "SELECT toUInt8(7)"); got != 7 {
				t.Errorf("got %d", got)
			}
		})
	}
}

var badFrame = bytes.Repeat([]byte{0x82}, 64)

// malformed returns malformed byte sequences by name. They are also seeds for the fuzz targets.
func malformed() map[string][]byte {
	hello := append([]byte{clientHello}, appendText(nil, "x")...)
	hello = append(hello, 1, 1, 0xbc, 0xa9, 0x03) // revision 54460
	for _, s := range []string{"default", testUser, testPassword} {
		hello = appendText(hello, s)
	}
	ready := append(bytes.Clone(hello), 0)
	ask := func(text string, compressed byte) []byte {
		q := append(bytes.Clone(ready), clientQuery, 0)
		q = append(q, 0)                   // no client info
		q = append(q, 0, 0, 2, compressed) // settings, secret, stage
		q = appendText(q, text)
		return append(q, 0)
	}
	block := func(columns, rows byte, rest ...byte) []byte {
		b := append([]byte{clientData, 0}, appendBlockInfo(nil)...)
		return append(append(b, columns, rows), rest...)
	}
	return map[string][]byte{
		"nothing":        {},
		"http":           []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"zeros":          make([]byte, 4096),
		"ones":           bytes.Repeat([]byte{0xff}, 4096),
		"long name":      {clientHello, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"hello only":     hello,
		"unknown packet": append(bytes.Clone(ready), 77),
		"stray data":     append(bytes.Clone(ready), block(0, 0)...),
		"half a query":   ask("SELECT 1", 0)[:len(ready)+4],
		"no data":        ask("SELECT 1", 0),
		"bad frame":      append(ask("SELECT 1", 1), append([]byte{clientData, 0}, badFrame...)...),
		"long query":     binary.AppendUvarint(append(bytes.Clone(ready), clientQuery, 0, 0, 0, 0, 2, 0), maxQueryText),
		"long frame":     append(ask("SELECT 1", 1), append(append([]byte{clientData, 0}, make([]byte, frameChecksum)...), frameLZ4, 0, 0, 0, 7, 0, 0, 0, 7)...),
		"many columns":   append(ask("SELECT 1", 0), append([]byte{clientData, 0}, 0, 0xff, 0xff, 0xff, 0x7f, 1)...),
		"unknown type":   append(ask("SELECT 1", 0), block(1, 1, 1, 'a', 2, 'X', 'Y', 0)...),
		"deep type":      append(ask("SELECT 1", 0), block(1, 1, append(appendText([]byte{1, 'a'}, strings.Repeat("Array(", 5000)+"UInt8"+strings.Repeat(")", 5000)), 0)...)...),
		"huge list":      append(ask("SELECT 1", 0), block(1, 1, append(append(appendText([]byte{1, 'a'}, "Array(UInt8)"), 0), bytes.Repeat([]byte{0xff}, 8)...)...)...),
		"cancel first":   append(bytes.Clone(ready), clientCancel, clientCancel),
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	good := Config{Listen: "127.0.0.1:0", DataDir: "d", Library: "l", User: "u", Password: "p", Logger: slog.New(slog.DiscardHandler)}
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"good":              {func(*Config) {}, ""},
		"IPv6 loopback":     {func(c *Config) { c.Listen = "[::1]:9000" }, ""},
		"localhost":         {func(c *Config) { c.Listen = "localhost:9000" }, ""},
		"any address":       {func(c *Config) { c.Listen = "0.0.0.0:9000" }, "loopback"},
		"no address":        {func(c *Config) { c.Listen = ":9000" }, "loopback"},
		"private address":   {func(c *Config) { c.Listen = "192.168.0.1:9000" }, "loopback"},
		"name":              {func(c *Config) { c.Listen = "example.com:9000" }, "loopback"},
		"no port":           {func(c *Config) { c.Listen = "127.0.0.1" }, "missing port"},
		"no data directory": {func(c *Config) { c.DataDir = "" }, "data directory"},
		"no library":        {func(c *Config) { c.Library = "" }, "library"},
		"no user":           {func(c *Config) { c.User = "" }, "password"},
		"no password":       {func(c *Config) { c.Password = "" }, "password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := good
			c.change(&cfg)
			_, err := New(cfg)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v gave %v, want %q", cfg, err, c.want)
			}
		})
	}
	cfg := good
	cfg.Library, cfg.DataDir = "/no/such/libchdb.so", t.TempDir()
	server, err := New(cfg)
	must(t, err)
	if err := server.Run(t.Context()); err == nil || !strings.Contains(fmt.Sprint(err), "libchdb.so") {
		t.Errorf("a missing library gave %v", err)
	}
}
