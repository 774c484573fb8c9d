package embedded_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/jackc/pgx/v5"
	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/packages"
	"github.com/octavo-docs/octavo/cmd/engine/supervise"
)

// start runs engines as children of this process and stops them when the test
// ends.
func start(t *testing.T, cfg embedded.Config) *embedded.Engines {
	t.Helper()
	engines, err := embedded.Start(t.Context(), withBinary(t, cfg))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engines.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return engines
}

func withBinary(t *testing.T, cfg embedded.Config) embedded.Config {
	t.Helper()
	cfg.Executable = enginetest.Binary(t)
	cfg.EnginesDir = enginesDir(t)
	cfg.NoSync = true // faster, and data that reached the kernel survives kill -9
	if cfg.DataDir == "" {
		cfg.DataDir = t.TempDir()
	}
	return cfg
}

// enginesDir returns the folder of the engine packages.
func enginesDir(t *testing.T) string {
	t.Helper()
	found, err := packages.Find(packages.Config{})
	if err == nil {
		_, err = found.PostgresBin()
	}
	if err == nil {
		_, _, err = found.ClickHouse()
	}
	if err != nil {
		enginetest.Missing(t, err)
	}
	return found.Dir()
}

// kill sends SIGKILL to an engine, and waits until the engine has restarted and answers.
func kill(t *testing.T, engines *embedded.Engines, name string) {
	t.Helper()
	before := state(engines, name)
	if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitRestart(t, engines, name, before)
}

// awaitRestart waits until an engine is running and has been restarted since the state `before`.
func awaitRestart(t *testing.T, engines *embedded.Engines, name string, before supervise.State) {
	t.Helper()
	eventually.Succeeds(t, name+" to be restarted", func() error {
		now := state(engines, name)
		if now.Status != supervise.StatusRunning || now.Restarts <= before.Restarts || now.PID == before.PID {
			return fmt.Errorf("it is %+v, was %+v", now, before)
		}
		return nil
	})
}

func state(engines *embedded.Engines, name string) supervise.State {
	for _, s := range engines.State() {
		if s.Name == name {
			return s
		}
	}
	return supervise.State{}
}

func execPostgres(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func openClickHouse(t *testing.T, url string) clickhouse.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// alive reports whether a process runs. It returns false for a zombie, which has exited and waits for its parent.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}
