package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/capture"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/store/storetest"
)

// testClient has a separate transport. When a server of package httptest closes, it closes connections of the default
// transport, which can break a request of another test.
var testClient = &http.Client{Transport: &http.Transport{}}

func TestMain(m *testing.M) {
	if os.Getenv(neighbourEnv) != "" {
		os.Exit(neighbourMain())
	}
	// Tests run servers concurrently, so only a test that needs an operators' listener starts this listener.
	_ = os.Setenv("OCTAVO_ADMIN_LISTEN", adminOff)
	os.Exit(m.Run())
}

// instance is a running `octavo serve --quickstart` with separate engines.
type instance struct {
	t                     *testing.T
	dir, listen, admin    string
	url, token, org, site string
	env                   []string
	group                 string // control group to run in; "" means the test's own group
	cmd                   *exec.Cmd
	output                *capture.Buffer
	ended                 chan error
}

// newInstance chooses an address and starts a server on an empty data directory. If the server still runs at the test's
// end, it is killed.
func newInstance(t *testing.T, env ...string) *instance {
	t.Helper()
	i := newIdle(t, env...)
	i.start()
	return i
}

// newAttached does what newInstance does, but on the shared engines, because starting three engines takes longer than
// most tests. Tests that read an engine's files or stop an engine cannot use it.
func newAttached(t *testing.T, env ...string) *instance {
	t.Helper()
	return newInstance(t, append(sharedEngines(t, 2), env...)...)
}

// sharedEngines returns the settings that name the shared engines, with a new topic and new databases for the test. The
// Postgres database is migrated.
func sharedEngines(t *testing.T, partitions int) []string {
	t.Helper()
	return []string{
		"OCTAVO_POSTGRES_URL=" + storetest.URL(t), "OCTAVO_CLICKHOUSE_URL=" + enginetest.ClickHouse(t),
		"OCTAVO_KAFKA_BROKERS=" + strings.Join(enginetest.Kafka(t), ","),
		"OCTAVO_KAFKA_TOPIC=" + enginetest.Topic(t, partitions),
	}
}

// newIdle is like newInstance but does not start the server.
func newIdle(t *testing.T, env ...string) *instance {
	t.Helper()
	i := &instance{t: t, dir: filepath.Join(t.TempDir(), "data"), listen: enginetest.Address(t), admin: enginetest.Address(t), env: env}
	t.Cleanup(func() {
		if i.cmd != nil {
			i.kill()
		}
	})
	return i
}

// start runs the server with more arguments and waits until it is ready.
func (i *instance) start(arguments ...string) {
	i.t.Helper()
	i.launch(arguments...)
	i.until("ready", func() error {
		i.mustRun()
		if status, body := i.request("GET", "/readyz", "", nil); status != 200 {
			return fmt.Errorf("readyz answers %d %s", status, body)
		}
		if !strings.Contains(i.output.String(), "Octavo is ready at ") {
			return errors.New("it has not printed that it is ready")
		}
		return nil
	})
	i.readQuickstart()
}

// startUnready runs the server and waits until it answers /healthz, whether it is ready or not.
func (i *instance) startUnready() {
	i.t.Helper()
	i.launch()
	i.until("answer", func() error {
		i.mustRun()
		if status, body := i.request("GET", "/healthz", "", nil); status != 200 {
			return fmt.Errorf("healthz answers %d %s", status, body)
		}
		return nil
	})
	i.readQuickstart()
}

// mustRun fails the test if the server has ended.
func (i *instance) mustRun() {
	i.t.Helper()
	select {
	case err := <-i.ended:
		i.ended <- err
		i.t.Fatalf("octavo ended instead of starting: %v\n%s", err, i.output)
	default:
	}
}

// launch runs the server.
func (i *instance) launch(arguments ...string) {
	i.t.Helper()
	i.output = &capture.Buffer{}
	line := append([]string{enginetest.Octavo(i.t), "serve", "--quickstart"}, arguments...)
	if i.group != "" {
		line = append([]string{"sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, i.group}, line...)
	}
	i.cmd = exec.Command(line[0], line[1:]...)
	i.cmd.Env = append(os.Environ(), "OCTAVO_LISTEN="+i.listen, "OCTAVO_ADMIN_LISTEN="+i.admin, "OCTAVO_DATA_DIR="+i.dir, "OCTAVO_ENGINES_DIR="+enginesDir(i.t))
	i.cmd.Env = append(i.cmd.Env, i.env...)
	i.cmd.Stdout, i.cmd.Stderr = i.output, i.output
	i.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := i.cmd.Start(); err != nil {
		i.t.Fatal(err)
	}
	ended := make(chan error, 1)
	cmd := i.cmd
	go func() { ended <- cmd.Wait() }()
	i.ended = ended
	i.url = "http://" + i.listen
}

func enginesDir(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("OCTAVO_ENGINES_DIR"); dir != "" {
		return dir
	}
	root, err := enginetest.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "deploy", "engines")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		enginetest.Missing(t, fmt.Errorf("no engines: run `make engines`: %w", err))
	}
	return dir
}

func (i *instance) readQuickstart() {
	i.t.Helper()
	text, err := os.ReadFile(filepath.Join(i.dir, "quickstart.env"))
	if errors.Is(err, os.ErrNotExist) {
		return // another instance created the organization
	}
	if err != nil {
		i.t.Fatal(err)
	}
	members := map[string]*string{"OCTAVO_TOKEN": &i.token, "OCTAVO_ORG": &i.org, "OCTAVO_SITE": &i.site}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(s.Text(), "export "), "=")
		if at, ok := members[name]; ok {
			*at = value
		}
	}
}

// stop sends SIGTERM, as a service manager does, and requires exit code 0.
func (i *instance) stop() {
	i.t.Helper()
	if err := i.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		i.t.Fatal(err)
	}
	select {
	case err := <-i.ended:
		i.ended <- err
		if err != nil {
			i.t.Fatalf("after SIGTERM: %v, want exit code 0\n%s", err, i.output)
		}
	case <-time.After(eventually.Patience):
		i.t.Fatalf("it did not end after SIGTERM\n%s", i.output)
	}
}

// kill sends SIGKILL to the server. The server's engines end with the server.
func (i *instance) kill() {
	_ = i.cmd.Process.Kill() // the process may have ended already
	err := <-i.ended
	i.ended <- err
}

func (i *instance) request(method, path, token string, body []byte) (int, []byte) {
	return i.requestAt(i.url, method, path, token, body)
}

func (i *instance) requestAt(url, method, path, token string, body []byte) (int, []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url+path, bytes.NewReader(body))
	if err != nil {
		i.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := testClient.Do(req)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, []byte(err.Error())
	}
	return res.StatusCode, answer
}

// metrics reads /metrics at the operators' listener.
func (i *instance) metrics() string {
	i.t.Helper()
	status, text := i.requestAt("http://"+i.admin, "GET", "/metrics", "", nil)
	if status != 200 {
		i.t.Fatalf("/metrics answers %d %s", status, text)
	}
	return string(text)
}

func (i *instance) insights() string {
	return "/v1/orgs/" + i.org + "/sites/" + i.site + "/insights"
}

// post sends events and returns the status and the answer.
func (i *instance) post(token string, events ...string) (int, []byte) {
	return i.request("POST", i.insights()+"/events", token, []byte(`{"events":[`+strings.Join(events, ",")+`]}`))
}

// postWithKey sends a body under an Idempotency-Key.
func (i *instance) postWithKey(key, body, encoding string) (int, string) {
	i.t.Helper()
	data := []byte(body)
	if encoding == "gzip" {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(data); err != nil || w.Close() != nil {
			i.t.Fatal(err)
		}
		data = b.Bytes()
	}
	req, err := http.NewRequestWithContext(i.t.Context(), http.MethodPost, i.url+i.insights()+"/events", bytes.NewReader(data))
	if err != nil {
		i.t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + i.token}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	res, err := testClient.Do(req)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		i.t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

func pageView(visitor string) string {
	return fmt.Sprintf(`{"type":"page_view","session":{"visitorId":%q,"sessionId":"s"},"location":{"url":"https://docs.example.com/"}}`, visitor)
}

// aggregate runs a query and returns its columns' values by name.
func (i *instance) aggregate(body string) (map[string][]any, error) {
	status, answer := i.request("POST", i.insights()+"/events/aggregate", i.token, []byte(body))
	if status != 200 {
		return nil, fmt.Errorf("aggregate answers %d %s", status, answer)
	}
	var result struct {
		Columns []struct {
			Column string
			Values []any
		}
	}
	if err := json.Unmarshal(answer, &result); err != nil {
		return nil, err
	}
	columns := map[string][]any{}
	for _, c := range result.Columns {
		columns[c.Column] = c.Values
	}
	return columns, nil
}

// wantCounts waits until the site has this many events of this many visitors.
func (i *instance) wantCounts(events, visitors int) {
	i.t.Helper()
	i.until(fmt.Sprintf("%d events of %d visitors", events, visitors), func() error {
		got, err := i.aggregate(`{"range":{"from":"1970-01-01T00:00:00Z","to":"2100-01-01T00:00:00Z"},"select":[{"column":"eventsCount"},{"column":"visitorsCount"}]}`)
		if err != nil {
			return err
		}
		have := fmt.Sprint(got["eventsCount"][0], got["visitorsCount"][0])
		if have != fmt.Sprint(events, visitors) {
			return fmt.Errorf("there are %s", have)
		}
		return nil
	})
}

// until waits for a condition. If it is not met in time, it fails the test and
// logs the server's output.
func (i *instance) until(what string, condition func() error) {
	i.t.Helper()
	met := false
	defer func() {
		if !met {
			i.t.Logf("octavo's output:\n%s", i.output)
		}
	}()
	eventually.Succeeds(i.t, what, condition)
	met = true
}

// engines returns the addresses of the server's engines. They come from the server's settings if these name all
// engines, and otherwise from the notes of the embedded engines.
func (i *instance) engines() notes {
	i.t.Helper()
	var n notes
	for _, setting := range i.env {
		name, value, _ := strings.Cut(setting, "=")
		switch name {
		case "OCTAVO_POSTGRES_URL":
			n.Postgres = value
		case "OCTAVO_CLICKHOUSE_URL":
			n.ClickHouse = value
		case "OCTAVO_KAFKA_BROKERS":
			n.Kafka = strings.Split(value, ",")
		}
	}
	if n.Postgres != "" && n.ClickHouse != "" && n.Kafka != nil {
		return n
	}
	text, err := os.ReadFile(notesFile(&Settings{DataDir: i.dir}))
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil {
		i.t.Fatal(err)
	}
	return n
}

// clickHouse connects to the server's insights store.
func (i *instance) clickHouse() driver.Conn {
	i.t.Helper()
	conn, err := openClickHouse(i.engines().ClickHouse, "", 1)
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// postgres connects to the server's database.
func (i *instance) postgres() *pgx.Conn {
	i.t.Helper()
	conn, err := pgx.Connect(i.t.Context(), i.engines().Postgres)
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(i.t.Context())) })
	return conn
}

// engine finds the process of one of the server's engines. It returns 0 if the engine does not run.
func (i *instance) engine(name string) int {
	marks := map[string]string{"postgres": filepath.Join(i.dir, "postgres"), "kafka": "engine\x00kafka", "clickhouse": "engine\x00clickhouse"}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		i.t.Fatal(err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // the process has exited since then
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if fields[1] != strconv.Itoa(i.cmd.Process.Pid) || fields[0] == "Z" {
			continue
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.Contains(string(line), marks[name]) {
			return pid
		}
	}
	return 0
}
