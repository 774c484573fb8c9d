package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// neighbourEnv is an environment variable. If it is set, this test binary acts as another user of the machine. Its
// value is a neighbour as JSON.
const neighbourEnv = "OCTAVO_TEST_NEIGHBOUR"

// nobody is the id of that user.
const nobody = 65534

// neighbour has the facts that another user can find out without permissions: ports from /proc/net/tcp, names from the
// documentation, and process ids. It also has the names of the files, although another user cannot find them out.
type neighbour struct {
	ClickHouse, Kafka, Postgres string // host:port
	Files                       []string
	PIDs                        []int
}

// findings are the neighbour's results.
type findings struct {
	User     int
	Got      []string          // what the neighbour could read or write; must be empty
	Refusals map[string]string // the engines' errors
	Lines    []string          // the command lines of the processes
}

// neighbourMain tries to read the node's data, and prints the findings.
func neighbourMain() int {
	var n neighbour
	if err := json.Unmarshal([]byte(os.Getenv(neighbourEnv)), &n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	f := &findings{User: os.Getuid(), Refusals: map[string]string{}}
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Patience)
	defer cancel()
	for _, name := range n.Files {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY} {
			if file, err := os.OpenFile(name, flag, 0); err == nil {
				_ = file.Close()
				f.Got = append(f.Got, fmt.Sprintf("opened %s, %d", name, flag))
			}
		}
	}
	for _, pid := range n.PIDs {
		for _, name := range []string{"environ", "mem", "maps", "cwd/.", "root/.", "fd/."} {
			if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name)); err == nil || errors.Is(err, syscall.EISDIR) {
				f.Got = append(f.Got, fmt.Sprintf("/proc/%d/%s", pid, name))
			}
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			f.Refusals["cmdline"] = err.Error()
		}
		f.Lines = append(f.Lines, string(line))
	}
	for _, login := range [][2]string{{"", ""}, {"default", ""}, {"octavo", ""}, {"octavo", "wrong"}, {"admin", "admin"}} {
		n.askClickHouse(ctx, f, login)
		n.askKafka(ctx, f, login)
		n.askPostgres(ctx, f, login)
	}
	if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
		return 1
	}
	return 0
}

func (n *neighbour) askClickHouse(ctx context.Context, f *findings, login [2]string) {
	conn, err := clickhouse.Open(&clickhouse.Options{Addr: []string{n.ClickHouse}, Auth: clickhouse.Auth{Username: login[0], Password: login[1]}})
	if err != nil {
		f.Refusals["clickhouse"] = err.Error()
		return
	}
	defer func() { _ = conn.Close() }()
	statements := []string{"SELECT count() FROM default.events", "CREATE TABLE default.forged (a String) ENGINE = Memory"}
	for _, name := range append(n.Files, "/etc/shadow") {
		statements = append(statements, "SELECT count() FROM file('"+name+"', 'LineAsString')")
	}
	for _, statement := range statements {
		if err := conn.Exec(ctx, statement); err == nil {
			f.Got = append(f.Got, fmt.Sprintf("ClickHouse as %q: %s", login, statement))
		} else {
			f.Refusals["clickhouse"] = err.Error()
		}
	}
}

func (n *neighbour) askKafka(ctx context.Context, f *findings, login [2]string) {
	transport := &kafka.Transport{DialTimeout: eventually.Patience}
	defer transport.CloseIdleConnections()
	if login[0] != "" {
		mechanism, err := scram.Mechanism(scram.SHA256, login[0], login[1])
		if err != nil {
			return
		}
		transport.SASL = mechanism
	}
	client := &kafka.Client{Addr: kafka.TCP(n.Kafka), Timeout: eventually.Patience, Transport: transport}
	created, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: "forged", NumPartitions: 1, ReplicationFactor: 1}}})
	if err == nil {
		f.Got = append(f.Got, fmt.Sprintf("Kafka as %q answers CreateTopics: %v", login, created.Errors))
	} else {
		f.Refusals["kafka"] = err.Error()
	}
	if deleted, err := client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{"octavo.events"}}); err == nil {
		f.Got = append(f.Got, fmt.Sprintf("Kafka as %q answers DeleteTopics: %v", login, deleted.Errors))
	}
	if read, err := client.Fetch(ctx, &kafka.FetchRequest{Topic: "octavo.events", MinBytes: 1, MaxBytes: 1 << 20, MaxWait: time.Millisecond}); err == nil {
		f.Got = append(f.Got, fmt.Sprintf("Kafka as %q answers Fetch: %v", login, read.Error))
	}
}

func (n *neighbour) askPostgres(ctx context.Context, f *findings, login [2]string) {
	for _, user := range []string{login[0], "postgres"} {
		at := url.URL{Scheme: "postgres", User: url.UserPassword(user, login[1]), Host: n.Postgres, Path: "/octavo"}
		conn, err := pgx.Connect(ctx, at.String())
		if err != nil {
			f.Refusals["postgres"] = err.Error()
			continue
		}
		f.Got = append(f.Got, "Postgres as "+user)
		_ = conn.Close(ctx)
	}
}

// TestNeighbourGetsNothing checks that another user of the machine can read no row, topic, file or secret of a running
// node.
func TestNeighbourGetsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can run a process as another user (CI is root)")
	}
	i := newInstance(t)
	if status, answer := i.post(i.token, pageView("a")); status != 204 {
		t.Fatalf("post: %d %s", status, answer)
	}
	i.wantCounts(1, 1)
	var running notes
	text, err := os.ReadFile(filepath.Join(i.dir, "engines.json"))
	if err == nil {
		err = json.Unmarshal(text, &running)
	}
	if err != nil {
		t.Fatal(err)
	}
	n := neighbour{Kafka: running.Kafka[0], PIDs: []int{i.cmd.Process.Pid}}
	secrets := []string{i.token, running.KafkaLogin.Password}
	for at, address := range map[*string]string{&n.ClickHouse: running.ClickHouse, &n.Postgres: running.Postgres} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		password, _ := u.User.Password()
		*at, secrets = u.Host, append(secrets, password)
	}
	for _, name := range []string{"postgres", "kafka", "clickhouse"} {
		pid := i.engine(name)
		if pid == 0 {
			t.Fatalf("there is no %s", name)
		}
		n.PIDs = append(n.PIDs, pid)
	}
	if slices.ContainsFunc(secrets, func(s string) bool { return len(s) < 20 }) {
		t.Fatal("a password is missing")
	}
	if err := filepath.WalkDir(i.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n.Files = append(n.Files, path)
		}
		return nil // an engine may have removed the file meanwhile
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"quickstart.env", "engines.json", "logins.json", filepath.Join("postgres", "secrets.json")} {
		info, err := os.Stat(filepath.Join(i.dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	// The engines have thousands of files. The neighbour tries the first 40 and all files at the top of the data
	// directory.
	few := n.Files[:0:0]
	for _, name := range n.Files {
		if len(few) < 40 || !strings.Contains(strings.TrimPrefix(name, i.dir+"/"), "/") {
			few = append(few, name)
		}
	}
	n.Files = few

	f := askNeighbour(t, n)
	if f.User != nobody {
		t.Fatalf("the neighbour is user %d", f.User)
	}
	for _, got := range f.Got {
		t.Error(got)
	}
	// The refusal must be about the login, and not about a missing listener.
	if !strings.Contains(f.Refusals["clickhouse"], "516") || !strings.Contains(f.Refusals["postgres"], "authentication") || f.Refusals["kafka"] == "" ||
		strings.Contains(f.Refusals["kafka"], "refused") {
		t.Errorf("refusals: %q", f.Refusals)
	}
	if len(f.Lines) != len(n.PIDs) || slices.Contains(f.Lines, "") {
		t.Errorf("the processes' arguments are %q", f.Lines)
	}
	for _, line := range f.Lines {
		if slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(line, s) }) {
			t.Errorf("there is a secret among the arguments %q", line)
		}
	}
	i.wantCounts(1, 1) // the log still has its messages, and none was forged

	// A command on the same machine can still read the logins.
	cmd := exec.Command(enginetest.Octavo(t), "reconcile", "--data-dir", i.dir)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("reconcile beside the node: %v\n%s", err, output)
	}
}

// askNeighbour runs this binary as another user.
func askNeighbour(t *testing.T, n neighbour) *findings {
	t.Helper()
	text, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	// Run the binary by its open file, because the other user may not have access to the folder.
	cmd := exec.Command("/proc/self/exe")
	cmd.Args[0] = os.Args[0]
	cmd.Env, cmd.Dir = []string{neighbourEnv + "=" + string(text)}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
	var said strings.Builder
	cmd.Stderr = &said
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("the neighbour failed: %v\n%s", err, said.String())
	}
	f := &findings{}
	if err := json.Unmarshal(output, f); err != nil {
		t.Fatalf("the neighbour said %q: %v", output, err)
	}
	return f
}
