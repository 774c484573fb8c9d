package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// TestCommandsCreateNothing checks that a short-lived command refuses a directory without data, and does not change it.
// With --json it prints an object, and otherwise a sentence and a hint.
func TestCommandsCreateNothing(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"jobs list", "jobs retry --all", "audit list", "token list", "token create --user someone", "token revoke t",
		"token rotate", "org prove-domain o example.com", "site prove-hostname s docs.example.com", "content gc",
		"deadletter list", "deadletter show k", "deadletter replay --all", "reconcile", "repair", "repair --yes",
		"explain s " + os.DevNull,
	} {
		for _, flag := range []string{"", " --json"} {
			if flag != "" && !strings.Contains(command, "list") && !strings.HasPrefix(command, "re") {
				continue
			}
			t.Run(command+flag, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "data")
				cmd := exec.Command(enginetest.Octavo(t), strings.Fields(command+flag)...)
				cmd.Env = append(os.Environ(), "OCTAVO_DATA_DIR="+dir)
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				err := cmd.Run()
				if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 || stdout.Len() > 0 {
					t.Errorf("%v, %q", err, &stdout)
				}
				failure := strings.Split(stderr.String(), "\n")
				if flag != "" {
					var said struct{ Error, Hint string }
					if err := json.Unmarshal(stderr.Bytes(), &said); err != nil {
						t.Fatalf("%v: %s", err, &stderr)
					}
					failure = []string{"octavo: error: " + said.Error, "hint: " + said.Hint, ""}
				}
				if len(failure) != 3 ||
					!strings.HasPrefix(failure[0], "octavo: error: data directory "+dir+" has no data of ") ||
					!strings.HasPrefix(failure[1], "hint: octavo serve creates") {
					t.Errorf("%q", failure)
				}
				if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s exists: %v", dir, err)
				}
			})
		}
	}
}

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing.json")
	help := func(command string) string { return command + " --help shows arguments and flags." }
	for arguments, want := range map[string]struct {
		code  int
		words string
		hint  string
	}{
		"jobs retry":                     {1, "name the ids of jobs, or use --all", help("octavo jobs retry")},
		"jobs retri":                     {80, `did you mean "retry"?`, help("octavo jobs")},
		"jobs list --limit=x":            {80, "--limit", help("octavo jobs list")},
		"jobs list --nothing":            {80, "unknown flag --nothing", help("octavo jobs list")},
		"explain s " + missing:           {1, missing + ": no such file", help("octavo explain")},
		"explain --site= ":               {1, "name the site, or set OCTAVO_SITE", help("octavo explain")},
		"nothing":                        {80, "nothing", help("octavo")},
		"--config=" + missing:            {1, missing, help("octavo")},
		"seed --days=0 --token=x":        {80, "must be at least 1", help("octavo seed")},
		"token create --user=a --site=b": {80, "--user", help("octavo token create")},
	} {
		var stderr bytes.Buffer
		code := run(strings.Fields(arguments), &stderr)
		lines := strings.Split(stderr.String(), "\n")
		if code != want.code || len(lines) != 3 || !strings.HasPrefix(lines[0], "octavo: error: ") ||
			!strings.Contains(lines[0], want.words) || lines[1] != "hint: "+want.hint {
			t.Errorf("octavo %s: %d\n%s", arguments, code, &stderr)
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	for _, row := range hints {
		if err := fmt.Errorf("cannot start: %w", row.cause); hintOf(err, "octavo x") != row.hint {
			t.Errorf("%v: %s", err, hintOf(err, "octavo x"))
		}
	}
	var out bytes.Buffer
	printFailure(&out, errors.Join(errors.New("first"), embedded.ErrNoData), "octavo x", true)
	var said struct{ Error, Hint string }
	err := json.Unmarshal(out.Bytes(), &said)
	if err != nil || said.Error != "first\nhas no data" || said.Hint != hints[0].hint {
		t.Errorf("%s: %v", &out, err)
	}
}
