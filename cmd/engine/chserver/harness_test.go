package chserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/packages"
)

// The engine changes process-wide settings. So each server in these tests is a child process. It is this test binary,
// started with the variable childEnv.
const childEnv = "OCTAVO_CHSERVER_TEST_DATA"

const testUser, testPassword = "tester", "a password for tests"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(childMain(dir))
	}
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.terminate(); err != nil {
			fmt.Fprintln(os.Stderr, "the shared server did not end well:", err)
			code = 1
		}
		_ = os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// childMain runs a server until SIGTERM. It prints "READY address" to stdout when the server listens.
func childMain(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var maxConnections int
	_, _ = fmt.Sscan(os.Getenv(childEnv+"_CONNECTIONS"), &maxConnections)
	var maxInserts int64
	_, _ = fmt.Sscan(os.Getenv(childEnv+"_INSERTS"), &maxInserts)
	var maxMemory int64
	_, _ = fmt.Sscan(os.Getenv(childEnv+"_MEMORY"), &maxMemory)
	server, err := New(Config{
		MaxMemory: maxMemory, Listen: "127.0.0.1:0", DataDir: dir, Library: os.Getenv(childEnv + "_LIBRARY"),
		User: testUser, Password: testPassword,
		MaxConnections: maxConnections, MaxInserts: maxInserts, DrainTimeout: 2 * time.Second,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo})),
		OnReady: func(addr net.Addr) {
			fmt.Println("READY", addr)
			if os.Getenv(childEnv+"_NIL") != "" {
				var nothing *Config
				fmt.Println(nothing.Listen)
			}
		},
	})
	if err == nil {
		err = server.Run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		return 1
	}
	return 0
}

// installed returns the paths of the engine's library and of its write guard.
func installed(t testing.TB) (library, writeGuard string) {
	t.Helper()
	enginetest.Binary(t) // this also builds the write guard
	found, err := packages.Find(packages.Config{})
	if err == nil {
		library, writeGuard, err = found.ClickHouse()
	}
	if err != nil {
		enginetest.Missing(t, err)
	}
	return library, writeGuard
}

// process is a running server.
type process struct {
	addr   string
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	exited chan error
}

// start runs a server with the data folder `dir` and waits until it listens.
func start(t testing.TB, dir string, env ...string) *process {
	t.Helper()
	p := &process{cmd: childCommand(t, dir, env...), stderr: &bytes.Buffer{}, exited: make(chan error, 1)}
	ready := make(chan string, 1)
	go func() {
		// The kernel sends the death signal when the thread that started the child ends. So this thread must live as
		// long as the child.
		runtime.LockOSThread()
		p.cmd.Stderr = p.stderr
		stdout, err := p.cmd.StdoutPipe()
		if err == nil {
			err = p.cmd.Start()
		}
		if err != nil {
			ready <- ""
			p.exited <- err
			return
		}
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		ready <- strings.TrimSpace(strings.TrimPrefix(line, "READY "))
		p.exited <- p.cmd.Wait()
	}()
	if p.addr = <-ready; p.addr == "" {
		t.Fatalf("the server did not start: %v\n%s", <-p.exited, p.stderr)
	}
	return p
}

// childCommand returns the command of a server with the data folder `dir`.
func childCommand(t testing.TB, dir string, env ...string) *exec.Cmd {
	t.Helper()
	library, writeGuard := installed(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childEnv+"="+dir, childEnv+"_LIBRARY="+library), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	guard, err := os.Open(writeGuard)
	must(t, err)
	t.Cleanup(func() { _ = guard.Close() })
	PutGuard(cmd, guard)
	return cmd
}

// terminate sends SIGTERM and waits.
func (p *process) terminate() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-p.exited:
		if err != nil {
			return fmt.Errorf("%w\n%s", err, p.stderr)
		}
		return nil
	case <-time.After(eventually.Patience):
		_ = p.cmd.Process.Kill()
		return errors.New("SIGTERM did not end it")
	}
}

func (p *process) kill(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-p.exited; err == nil {
		t.Error("a killed process exited with status 0")
	}
}

// shared is the server that most tests use. Each test has a separate database.
var shared struct {
	once   sync.Once
	dir    string
	server *process
	names  atomic.Int64
}

func sharedServer(t testing.TB) *process {
	t.Helper()
	installed(t)
	shared.once.Do(func() {
		var err error
		if shared.dir, err = os.MkdirTemp("", "chserver"); err != nil {
			t.Fatal(err)
		}
		shared.server = start(t, shared.dir)
	})
	if shared.server == nil {
		t.Fatal("the shared server did not start")
	}
	return shared.server
}

// connect opens a pool of connections to p. `change` may modify the options.
func connect(t testing.TB, p *process, database string, change ...func(*clickhouse.Options)) driver.Conn {
	t.Helper()
	options := &clickhouse.Options{
		Addr: []string{p.addr}, Auth: clickhouse.Auth{Database: database, Username: testUser, Password: testPassword},
		Compression: &clickhouse.Compression{Method: clickhouse.CompressionLZ4},
		ReadTimeout: 10 * time.Minute, MaxOpenConns: 10,
	}
	for _, f := range change {
		f(options)
	}
	db, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// fresh returns a pool on a new database of the shared server.
func fresh(t testing.TB, change ...func(*clickhouse.Options)) driver.Conn {
	t.Helper()
	p := sharedServer(t)
	name := fmt.Sprintf("test_%d", shared.names.Add(1))
	must(t, connect(t, p, "default").Exec(t.Context(), "CREATE DATABASE "+name))
	return connect(t, p, name, change...)
}

// dial returns a TCP connection, for tests that send and read the protocol's bytes themselves.
func dial(t testing.TB, p *process) *net.TCPConn {
	t.Helper()
	socket, err := net.Dial("tcp", p.addr)
	must(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	must(t, socket.SetDeadline(time.Now().Add(eventually.Patience)))
	return socket.(*net.TCPConn)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// one returns the single value of a query's result.
func one[T any](t testing.TB, db driver.Conn, ctx context.Context, query string, args ...any) T {
	t.Helper()
	var v T
	if err := db.QueryRow(ctx, query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if pool := db.Stats(); pool.MaxOpenConns == 1 {
		// The client returns a query's connection to the pool some time after the rows. The next statement must use the
		// same connection, because a SET or a leak is visible only there. So wait for the connection.
		eventually.True(t, "the connection to be free again", func() bool { return db.Stats().Idle == 1 })
	}
	return v
}

// compressions has the compression modes in which every data test runs.
var compressions = map[string]func(*clickhouse.Options){
	"none": func(o *clickhouse.Options) { o.Compression = nil },
	"lz4": func(o *clickhouse.Options) {
		o.Compression = &clickhouse.Compression{Method: clickhouse.CompressionLZ4}
	},
	"zstd": func(o *clickhouse.Options) {
		o.Compression = &clickhouse.Compression{Method: clickhouse.CompressionZSTD, Level: 1}
	},
}

func eachCompression(t *testing.T, f func(t *testing.T, db driver.Conn)) {
	for name, change := range compressions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, fresh(t, change))
		})
	}
}
