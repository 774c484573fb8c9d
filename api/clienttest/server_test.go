package clienttest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/capture"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// server is a running process of `octavo serve` with all roles and its own databases.
type server struct {
	url      string
	store    *store.Store // store changes what no operation can change.
	program  string
	postgres string
}

// startServer starts a server with these settings and the settings that every server needs.
func startServer(t *testing.T, settings ...string) *server {
	t.Helper()
	postgres, topic := enginetest.Postgres(t), enginetest.Topic(t, 2)
	listen := enginetest.Address(t)
	program := enginetest.Octavo(t)
	cmd := exec.Command(program, "serve")
	log := &capture.Buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.Env = append(os.Environ(),
		"OCTAVO_LISTEN="+listen, "OCTAVO_ADMIN_LISTEN=off", "OCTAVO_DATA_DIR="+t.TempDir(), "OCTAVO_POSTGRES_URL="+postgres,
		"OCTAVO_KAFKA_BROKERS="+strings.Join(enginetest.Kafka(t), ","), "OCTAVO_KAFKA_TOPIC="+topic, "OCTAVO_LOG_LEVEL=warn",
		"OCTAVO_CLICKHOUSE_URL="+enginetest.ClickHouse(t))
	cmd.Env = append(cmd.Env, settings...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // The process may have ended.
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("octavo: %v", err)
			}
		case <-time.After(eventually.Patience):
			_ = cmd.Process.Kill()
			t.Errorf("octavo does not end on SIGTERM")
		}
		if t.Failed() {
			t.Logf("octavo said:\n%s", tail(log.String(), 8<<10))
		}
	})
	s := &server{url: "http://" + listen, program: program, postgres: postgres}
	s.wait(t, ended)
	s.store = storetest.Open(t, postgres)
	return s
}

// operator returns the environment variables with which a scenario can run commands of the server's program.
func (s *server) operator() []string {
	return []string{"OCTAVO_CLIENTTEST_PROGRAM=" + s.program, "OCTAVO_POSTGRES_URL=" + s.postgres}
}

// wait waits until the server has migrated its databases and is ready.
func (s *server) wait(t *testing.T, ended chan error) {
	t.Helper()
	eventually.Succeeds(t, "octavo to be ready", func() error {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("octavo ended instead of starting: %v", err)
		default:
		}
		res, err := http.Get(s.url + "/readyz")
		if err != nil {
			return err
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("readyz answers %s", res.Status)
		}
		return nil
	})
}

// tail returns the end of a text.
func tail(text string, n int) string { return text[max(0, len(text)-n):] }
