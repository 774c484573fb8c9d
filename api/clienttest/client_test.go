package clienttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/capture"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/storetest"
)

// people has the names of the users of every scenario.
var people = []string{"ada", "bob", "cy", "dee", "eve"}

// TestContract runs the unit tests of the JavaScript code that checks answers.
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

// TestPublishedClient runs the scenarios on a running server. It then checks that they have called every operation with
// success.
func TestPublishedClient(t *testing.T) {
	t.Parallel()
	needClient(t)
	files, err := filepath.Glob("scenarios/*.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	server := startServer(t)
	run := startScenarios(t, server)
	notes := t.TempDir()
	ran := 0
	t.Run("scenarios", func(t *testing.T) {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".mjs")
			t.Run(name, func(t *testing.T) {
				ran++
				run.scenario(t, scenario{name, server.users(t, name), filepath.Join(notes, name+".jsonl")})
			})
		}
	})
	t.Run("coverage", func(t *testing.T) {
		if ran < len(files) {
			t.Skipf("-run chose %d of %d scenarios. Coverage needs all scenarios: make test runs them", ran, len(files))
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

// needClient checks that Node and the published client are installed.
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

// scenario is a line of run.mjs's input.
type scenario struct {
	Name  string            `json:"name"`
	Users map[string]string `json:"users"` // Users has tokens by name.
	Notes string            `json:"notes"`
}

// scenarios is a Node process that runs one scenario after the other.
type scenarios struct {
	input  io.Writer
	report *bufio.Scanner
	output *capture.Buffer
}

func startScenarios(t *testing.T, server *server) *scenarios {
	t.Helper()
	report, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = report.Close() })
	s := &scenarios{report: bufio.NewScanner(report), output: &capture.Buffer{}}
	s.report.Buffer(nil, 1<<20)
	const firstExtra = 3 // ExtraFiles begin at this descriptor.
	cmd := exec.CommandContext(t.Context(), "node", "--test-reporter=./lib/reporter.mjs",
		fmt.Sprint("--test-reporter-destination=/proc/self/fd/", firstExtra), "run.mjs")
	cmd.Env = append(os.Environ(), append(server.operator(), "OCTAVO_URL="+server.url)...)
	cmd.ExtraFiles = []*os.File{write}
	cmd.Stdout, cmd.Stderr = s.output, s.output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = time.Second
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err = errors.Join(err, write.Close()); err != nil { // Node has its own copy of the descriptor.
		t.Fatal(err)
	}
	s.input = input
	t.Cleanup(func() {
		_ = input.Close()
		_ = cmd.Wait() // The report already has the failed steps that set the exit status.
	})
	return s
}

// scenario runs a scenario. Each step of the scenario is a subtest.
func (s *scenarios) scenario(t *testing.T, of scenario) {
	t.Helper()
	text, err := json.Marshal(of)
	if err == nil {
		_, err = s.input.Write(append(text, '\n'))
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, s.output)
	}
	steps := 0
	for s.report.Scan() {
		line := readLine(t, s.report.Text())
		name := strings.TrimPrefix(line.Name, of.Name+"/")
		if name != "" {
			steps++
			t.Run(name, func(t *testing.T) { line.judge(t) })
			continue
		}
		line.judge(t)
		if steps == 0 {
			t.Error("the scenario has no steps")
		}
		return
	}
	t.Fatalf("node exited before the end of the scenario: %v\n%s", s.report.Err(), s.output)
}

// runNode runs a file of Node tests. Each test of the file is a subtest.
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
		t.Run(line.Name, func(t *testing.T) { line.judge(t) })
	}
	// If the file ends early or has no tests, the report has no failed test. So check the exit status too.
	if len(lines) == 0 || (runErr != nil && !failed) {
		t.Errorf("node %s: %v\n%s", file, runErr, output)
	}
}

type reportLine struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Error  string `json:"error"`
}

func (l reportLine) judge(t *testing.T) {
	t.Helper()
	if !l.Passed {
		t.Errorf("%s", l.Error)
	}
}

func readLine(t *testing.T, text string) (line reportLine) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		t.Fatalf("cannot read the line %q of the report: %v", text, err)
	}
	return line
}

func readReport(t *testing.T, path string) []reportLine {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var lines []reportLine
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		lines = append(lines, readLine(t, s.Text()))
	}
	return lines
}

// users creates the users of a scenario and returns their tokens by name.
func (s *server) users(t *testing.T, scenario string) map[string]string {
	t.Helper()
	tokens := map[string]string{}
	for _, name := range people {
		user, err := s.store.Orgs.CreateUser(t.Context(), orgs.NewUser{
			DisplayName: name, Email: name + "@" + scenario + ".example.com",
		})
		if err != nil {
			t.Fatal(err)
		}
		tokens[name] = storetest.Token(t, s.store, store.NewToken{User: user.ID, Name: scenario})
	}
	return tokens
}
