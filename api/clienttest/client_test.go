package clienttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// people are the users that every scenario has; the scenarios say what they do.
var people = []string{"ada", "bob", "cy", "dee", "eve"}

// The judge and the witness of answers are tested themselves, on answers made by hand.
func TestContract(t *testing.T) {
	t.Parallel()
	needClient(t)
	files, err := filepath.Glob("unit/*.test.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("no unit tests: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runNode(t, file, nil) })
	}
}

// The published client drives a live server through every operation.
func TestPublishedClient(t *testing.T) {
	t.Parallel()
	needClient(t)
	files, err := filepath.Glob("scenarios/*.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	server := startServer(t)
	notes := t.TempDir()
	var ran atomic.Int64
	t.Run("scenarios", func(t *testing.T) {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".mjs")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ran.Add(1)
				runNode(t, file, append(server.operator(),
					"OCTAVO_URL="+server.url,
					"OCTAVO_CLIENTTEST_USERS="+server.users(t, name),
					"OCTAVO_CLIENTTEST_NOTES="+filepath.Join(notes, name+".jsonl"),
				))
			})
		}
	})
	t.Run("coverage", func(t *testing.T) {
		if n := int(ran.Load()); n < len(files) {
			t.Skipf("-run chose %d of the %d scenarios, which together cover the contract. make test has no -run and covers this", n, len(files))
		}
		noted, err := os.ReadDir(notes)
		if err != nil {
			t.Fatal(err)
		}
		if len(noted) != len(files) {
			t.Errorf("%d of %d scenarios noted an answer", len(noted), len(files))
		}
		runNode(t, "coverage.mjs", []string{"OCTAVO_CLIENTTEST_NOTES=" + notes})
	})
}

// needClient wants Node and the client that package-lock.json pins.
func needClient(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat("node_modules/.package-lock.json")
	}
	if err != nil {
		enginetest.Missing(t, fmt.Errorf("no Node or no published client: run `make clienttest`: %w", err))
	}
}

// runNode runs a file of tests; each of them becomes a subtest here.
func runNode(t *testing.T, file string, env []string) {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report")
	cmd := exec.CommandContext(t.Context(), "node", "--test-reporter=./lib/reporter.mjs", "--test-reporter-destination="+report, file)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = time.Second
	timer := time.AfterFunc(eventually.Patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	output, runErr := cmd.CombinedOutput()
	failed := false
	lines := readReport(t, report)
	for _, line := range lines {
		failed = failed || !line.Passed
		t.Run(line.Name, func(t *testing.T) {
			if !line.Passed {
				t.Errorf("%s", line.Error)
			}
		})
	}
	// A file that ends early, or that tests nothing, reports no failed test.
	if len(lines) == 0 || (runErr != nil && !failed) {
		t.Errorf("node %s: %v\n%s", file, runErr, output)
	}
}

type reportLine struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Error  string `json:"error"`
}

func readReport(t *testing.T, path string) []reportLine {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var lines []reportLine
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		var line reportLine
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			t.Fatalf("report %q: %v", s.Text(), err)
		}
		lines = append(lines, line)
	}
	return lines
}

// users makes the people of one scenario and gives their tokens by name, as JSON.
func (s *server) users(t *testing.T, scenario string) string {
	t.Helper()
	tokens := map[string]string{}
	for _, name := range people {
		user, err := s.store.CreateUser(t.Context(), store.NewUser{DisplayName: name, Email: name + "@" + scenario + ".example.com"})
		if err != nil {
			t.Fatal(err)
		}
		tokens[name] = storetest.Token(t, s.store, store.NewToken{User: user.ID, Name: scenario})
	}
	text, err := json.Marshal(tokens)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
