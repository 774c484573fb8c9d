package chserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// TestSilentConnections checks that the server closes connections without a login. Such connections do not prevent
// other logins.
func TestSilentConnections(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), childEnv+"_CONNECTIONS=2")
	silent := make([]*net.TCPConn, maxGreeted+50)
	for i := range silent {
		silent[i] = dial(t, p)
	}
	must(t, connect(t, p, "default", single).Ping(t.Context()))
	for i, socket := range silent {
		if _, err := io.Copy(io.Discard, socket); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d stays open without a login", i)
		}
	}
	must(t, p.terminate())
	if lines := strings.Count(p.stderr.String(), "A connection was refused."); lines > 20 {
		t.Errorf("%d lines were logged", lines)
	}
}

// TestLittleMemoryBeforeLogin checks that a connection uses little memory before its login, for any bytes that the
// client sends.
func TestLittleMemoryBeforeLogin(t *testing.T) {
	t.Parallel()
	server, err := New(Config{Listen: "127.0.0.1:0", DataDir: "d", Library: "l", User: "u", Password: "p"})
	must(t, err)
	a, b := net.Pipe()
	defer func() { _, _ = a.Close(), b.Close() }()
	var before, after runtime.MemStats
	conns := make([]*conn, 50)
	// least is the minimum of many rounds, because other tests allocate memory during some rounds.
	least := uint64(math.MaxUint64)
	for range 20 {
		runtime.ReadMemStats(&before)
		for i := range conns {
			conns[i] = newConn(server, a)
		}
		runtime.ReadMemStats(&after)
		least = min(least, (after.TotalAlloc-before.TotalAlloc)/uint64(len(conns)))
	}
	// A connection uses at least 64 KiB after its login.
	if least > 16<<10 {
		t.Errorf("a connection takes %d bytes", least)
	}
	long := append([]byte{clientHello}, appendText(nil, strings.Repeat("x", maxLoginText+1))...)
	if _, err := readGreeting(wireReader{bufio.NewReader(bytes.NewReader(long))}); err == nil {
		t.Error("a long name was read before the login")
	}
}

// TestInsertsUnderWayAreBounded checks that an INSERT beyond the memory budget is refused, and then releases its share
// of the budget.
func TestInsertsUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), childEnv+"_INSERTS=16777216")
	db := connect(t, p, "default")
	must(t, db.Exec(t.Context(), "CREATE TABLE t (a String) ENGINE = MergeTree ORDER BY tuple()"))
	insert := func(size int) error {
		batch, err := db.PrepareBatch(t.Context(), "INSERT INTO t")
		must(t, err)
		for range size >> 16 {
			must(t, batch.Append(strings.Repeat("x", 1<<16)))
		}
		return batch.Send()
	}
	for range 3 {
		if err := insert(24 << 20); err == nil {
			t.Fatal("an INSERT above the limit was accepted")
		}
	}
	eventually.Succeeds(t, "a small INSERT to be accepted", func() error { return insert(6 << 20) })
	if n := one[uint64](t, db, t.Context(), "SELECT count() FROM t"); n != 6<<20>>16 {
		t.Errorf("there are %d rows", n)
	}
	must(t, p.terminate())
}

func TestBudget(t *testing.T) {
	t.Parallel()
	b := &budget{limit: 10 << 20}
	first, second := share{budget: b}, share{budget: b}
	must(t, first.cover(6<<20))
	must(t, first.cover(5<<20))
	if err := second.cover(6 << 20); err == nil || asException(err).code != codeMemoryLimit {
		t.Errorf("above the limit: %v", err)
	}
	must(t, second.cover(3<<20))
	first.release()
	must(t, second.cover(10<<20))
	second.release()
	if b.taken != 0 {
		t.Errorf("%d bytes are still taken", b.taken)
	}
}

// FuzzGuard checks that no statement makes the guard panic.
func FuzzGuard(f *testing.F) {
	for _, text := range append(hostile, harmless...) {
		f.Add(text)
	}
	g := newGuard([]string{"file", "url"})
	f.Fuzz(func(t *testing.T, text string) {
		if err := g.check(text); err != nil && (asException(err).code != codeAccessDenied || len(err.Error()) > 500) {
			t.Fatalf("%q gave %v", text, fmt.Sprint(err))
		}
	})
}
