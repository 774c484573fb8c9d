package main_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// with returns the command under test. Its engines store their data below `dir`.
func with(t *testing.T, dir string, arguments ...string) *exec.Cmd {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "with")
	if output, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	cmd := exec.Command(binary, append([]string{"-engines", "kafka", "--"}, arguments...)...)
	// `make test` runs these tests under the same command, which sets EnvKafka. The tested command starts no engine
	// that the environment names, so clear the variable.
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, enginetest.EnvBinary+"="+enginetest.Binary(t), enginetest.EnvKafka+"=")
	return cmd
}

func TestEnvironmentAndExitCode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := with(t, dir, "sh", "-c", `echo "$OCTAVO_TEST_KAFKA_BROKERS $OCTAVO_TEST_REQUIRE_ENGINES ${OCTAVO_TEST_RUN:+run}"; exit 7`)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("got %v: %s", err, stderr.String())
	}
	if !regexp.MustCompile(`(?m)^processor seconds of the shared engines: kafka \d+\.\d$`).Match(stderr.Bytes()) {
		t.Errorf("it does not report the engines' processor time: %q", stderr.String())
	}
	if !strings.HasPrefix(string(output), "127.0.0.1:") || !strings.HasSuffix(string(output), " 1 run\n") {
		t.Errorf("got %q", output)
	}
	gone(t, dir)
}

func TestCommandThatCannotRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	output, err := with(t, dir, "/no/such/command").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 127 || !strings.Contains(string(output), "/no/such/command") {
		t.Errorf("got %v: %s", err, output)
	}
	gone(t, dir)
}

func TestSignalIsForwarded(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		dir := t.TempDir()
		cmd := with(t, dir, "sh", "-c", `trap 'exit 9' TERM INT; echo go; while :; do sleep 0.02; done`)
		await(t, cmd)
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 9 {
			t.Errorf("%v: exit code %d", signal, code)
		}
		gone(t, dir)
	}
}

func TestKillLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// The shell ignores its argument `dir`, by which `gone` finds this process.
	cmd := with(t, dir, "sh", "-c", "echo go; while :; do sleep 0.02; done", dir)
	await(t, cmd)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	gone(t, dir)
}

// await starts `cmd` and returns when `cmd` has printed a line.
func await(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil || line != "go\n" {
		t.Fatalf("got %q, %v", line, err)
	}
}

// gone waits until the engines' directories and processes no longer exist.
func gone(t *testing.T, dir string) {
	t.Helper()
	eventually.Succeeds(t, "the end of the engines", func() error {
		left, err := filepath.Glob(filepath.Join(dir, "octavo-engines-*"))
		if err != nil {
			t.Fatal(err)
		}
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, line := range lines {
			if text, err := os.ReadFile(line); err == nil && strings.Contains(string(text), dir) {
				left = append(left, string(text))
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("left: %q", left)
		}
		return nil
	})
}
