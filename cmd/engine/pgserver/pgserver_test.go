package pgserver_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/packages"
	"github.com/octavo-docs/octavo/cmd/engine/pgserver"
)

func TestClusterIsMadeOnceAndKeepsItsPassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, first := start(t, dir)
	exec1(t, server.URL(), "CREATE TABLE kept AS SELECT 42 AS n")
	first()
	url := server.URL()
	again, _ := start(t, dir)
	if password(t, url) != password(t, again.URL()) {
		t.Error("the password changed")
	}
	exec1(t, again.URL(), "INSERT INTO kept SELECT n FROM kept")
	info, err := os.Stat(filepath.Join(dir, "secrets.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("secrets.json: %v, %v", info.Mode(), err)
	}
}

func TestProductsRoleIsNoSuperuserAndNeedsItsPassword(t *testing.T) {
	t.Parallel()
	server, _ := start(t, t.TempDir())
	if err := query(server.URL(), "COPY (SELECT 1) TO PROGRAM 'true'"); err == nil || !strings.Contains(err.Error(), "42501") {
		t.Errorf("the product's role may run programs: %v", err)
	}
	exec1(t, server.URL(), "CREATE DATABASE another")
	wrong := strings.Replace(server.URL(), password(t, server.URL()), "guess", 1)
	if err := query(wrong, "SELECT 1"); err == nil || !strings.Contains(err.Error(), "28P01") {
		t.Errorf("a wrong password is accepted: %v", err)
	}
}

func TestLostSecretsAreReset(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, stop := start(t, dir)
	exec1(t, server.URL(), "CREATE TABLE kept AS SELECT 42 AS n")
	old := password(t, server.URL())
	stop()
	if err := os.Remove(filepath.Join(dir, "secrets.json")); err != nil {
		t.Fatal(err)
	}
	again, _ := start(t, dir)
	if password(t, again.URL()) == old {
		t.Error("the old password is still in use")
	}
	exec1(t, again.URL(), "INSERT INTO kept SELECT n FROM kept")
}

func TestUnfinishedClusterIsCreatedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	half := filepath.Join(dir, "data.unfinished")
	if err := os.MkdirAll(half, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(half, "PG_VERSION"), []byte("18\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server, _ := start(t, dir)
	exec1(t, server.URL(), "SELECT 1")
}

func TestOtherMajorVersionIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "PG_VERSION"), []byte("17\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := newServer(t, dir).Prepare(t.Context())
	if err == nil || !strings.Contains(err.Error(), "made by Postgres 17") || !strings.Contains(err.Error(), "dump it") {
		t.Errorf("got %v", err)
	}
}

// TestBusyOrphanDoesNotBlockTheNextStart kills a postmaster while a backend runs a statement. The backend does not
// notice this and still has the shared memory. The next start must kill the backend.
func TestBusyOrphanDoesNotBlockTheNextStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, cmd := launch(t, dir)
	pids := make(chan int, 1)
	go func() {
		conn, err := pgx.Connect(context.Background(), server.URL())
		if err != nil {
			pids <- 0
			return
		}
		pids <- int(conn.PgConn().PID())
		_, _ = conn.Exec(context.Background(), "SELECT count(*) FROM generate_series(1, 1000000000000) n, generate_series(1, 10) m") // until SIGKILL
	}()
	backend := <-pids
	if backend == 0 {
		t.Fatal("cannot connect")
	}
	eventually.Succeeds(t, "a busy backend", func() error {
		return query(server.URL(), fmt.Sprintf("SELECT 1 / count(*) FROM pg_stat_activity WHERE pid = %d AND state = 'active'", backend))
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the error only says that cmd was killed
	if !alive(backend) {
		t.Fatal("the backend exited by itself: this test proves nothing")
	}
	again, _ := start(t, dir)
	exec1(t, again.URL(), "SELECT 1")
	if alive(backend) {
		t.Error("the orphan is still alive")
	}
}

func TestLockFileWithAnotherProgramsPIDDoesNotBlock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, stop := start(t, dir)
	stop()
	// The test does not use its own pid, because Postgres regards its parent's pid as stale.
	stranger := exec.Command("sleep", "1000")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = stranger.Process.Kill(), stranger.Wait() }()
	text := fmt.Sprintf("%d\n%s/data\n%d\n1\n\n127.0.0.1\n", stranger.Process.Pid, dir, time.Now().Unix())
	if err := os.WriteFile(filepath.Join(dir, "data", "postmaster.pid"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server, _ := start(t, dir)
	exec1(t, server.URL(), "SELECT 1")
}

// TestRootWithoutUserNamespaces checks that Postgres runs as nobody if root cannot create user namespaces, for example
// in an ordinary container.
func TestRootWithoutUserNamespaces(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has this case: the tests beside it run Postgres as the ordinary user that this is. .ci/run covers it as root, and warns where it is not")
	}
	t.Parallel()
	if dir := os.Getenv("PGSERVER_TEST_CONFINED"); dir != "" {
		server, _ := start(t, dir)
		exec1(t, server.URL(), "SELECT 1")
		info, err := os.Stat(filepath.Join(dir, "data"))
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != 65534 {
			t.Errorf("the data does not belong to nobody: %v", err)
		}
		return
	}
	bin := reachableBin(t)
	// The test sets the limit of user namespaces to 0 in a separate user namespace, so the machine's limit does not
	// change.
	confined := func(dir string) ([]byte, error) {
		cmd := exec.Command("/bin/sh", "-c", `echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" -test.run '^TestRootWithoutUserNamespaces$' -test.v`,
			"/proc/self/exe")
		binary, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Args[3] = binary
		cmd.Env = append(os.Environ(), "PGSERVER_TEST_CONFINED="+dir, "PGSERVER_TEST_BIN="+bin)
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:                 syscall.CLONE_NEWUSER,
			UidMappings:                []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 65536}},
			GidMappings:                []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 65536}},
			GidMappingsEnableSetgroups: true,
		}
		return cmd.CombinedOutput()
	}
	open := t.TempDir()
	for dir := open; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	output, err := confined(filepath.Join(open, "postgres"))
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	closed := filepath.Join(open, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	output, err = confined(filepath.Join(closed, "postgres"))
	if err == nil || !strings.Contains(string(output), "it may not enter "+closed) {
		t.Errorf("a folder that only root may enter: %v\n%s", err, output)
	}
}

// reachableBin copies the binaries to a folder that the user nobody can read.
func reachableBin(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if output, err := exec.Command("cp", "-a", filepath.Dir(bin(t)), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return filepath.Join(dir, "native", "bin")
}

func bin(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("PGSERVER_TEST_BIN"); dir != "" {
		return dir
	}
	found, err := packages.Find(packages.Config{})
	if err != nil {
		enginetest.Missing(t, err)
	}
	dir, err := found.PostgresBin()
	if err != nil {
		enginetest.Missing(t, err)
	}
	return dir
}

func newServer(t *testing.T, dir string) *pgserver.Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	server, err := pgserver.New(pgserver.Config{BinDir: bin(t), Dir: dir, Port: port, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func launch(t *testing.T, dir string) (*pgserver.Server, *exec.Cmd) {
	t.Helper()
	server := newServer(t, dir)
	if err := server.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmd, err := server.Command()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd.Stderr, cmd.WaitDelay = &log, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT) // fails if the server has exited, as after a successful test
		if t.Failed() {
			t.Log(log.String())
		}
	})
	eventually.Succeeds(t, "an answer", func() error { return server.Ping(t.Context()) })
	return server, cmd
}

// start returns a server and a function that stops it cleanly.
func start(t *testing.T, dir string) (*pgserver.Server, func()) {
	t.Helper()
	server, cmd := launch(t, dir)
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			t.Errorf("postgres ended with %v", err)
		}
	}
	t.Cleanup(stop)
	return server, stop
}

// TestLostPages checks that lost_pages returns a page of zeros if an index refers to it. It must not return a new empty
// page at a table's end.
func TestLostPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, stop := start(t, dir)
	exec1(t, server.URL(), "create table notes (id bigint primary key, text text)")
	exec1(t, server.URL(), "insert into notes select n, repeat('x', 500) from generate_series(1, 100) n")
	lost := func(url string) (pages []int64) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(t.Context()) }()
		rows, err := conn.Query(t.Context(), "select inspection.lost_pages('notes') order by 1")
		if err == nil {
			pages, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		}
		if err != nil {
			t.Fatal(err)
		}
		return pages
	}
	if pages := lost(server.URL()); len(pages) != 0 {
		t.Errorf("pages %v of a whole table are lost", pages)
	}
	var path string
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err == nil {
		err = conn.QueryRow(t.Context(), "select pg_relation_filepath('notes')").Scan(&path)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close(t.Context())
	stop()
	path = filepath.Join(dir, "data", path)
	text, err := os.ReadFile(path)
	if err != nil || len(text) < 5*8192 {
		t.Fatalf("%v: the table has %d bytes", err, len(text))
	}
	clear(text[2*8192 : 3*8192])
	clear(text[4*8192 : 5*8192])
	if err := os.WriteFile(path, append(text, make([]byte, 3*8192)...), 0o600); err != nil {
		t.Fatal(err)
	}
	server, _ = start(t, dir)
	if pages := lost(server.URL()); !slices.Equal(pages, []int64{2, 4}) {
		t.Errorf("pages %v are lost, want 2 and 4", pages)
	}
}

// alive reports whether a process runs. It returns false for a zombie, which has exited and waits for its parent.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

func query(url, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

func exec1(t *testing.T, url, statement string) {
	t.Helper()
	if err := query(url, statement); err != nil {
		t.Fatal(err)
	}
}

func password(t *testing.T, url string) string {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	return config.Password
}
