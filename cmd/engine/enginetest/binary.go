package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// writeGuard is the file of the write guard, which is a target of the Makefile.
const writeGuard = "deploy/engines/writeguard/writeguard.so"

var (
	built   = sync.OnceValues(buildEngines)
	product = sync.OnceValues(func() (string, error) { return build("product", "./cmd/octavo") })
)

// Build does what Binary does, for use outside of tests.
func Build() (string, error) { return built() }

// Binary returns the path of a program with octavo's engine commands (package program), built from the module under test.
func Binary(t testing.TB) string {
	t.Helper()
	return must(t, built)
}

// Octavo returns the path of the program octavo, built from the module under test.
func Octavo(t testing.TB) string {
	t.Helper()
	return must(t, product)
}

func must(t testing.TB, path func() (string, error)) string {
	t.Helper()
	p, err := path()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func buildEngines() (string, error) {
	if path := os.Getenv(EnvBinary); path != "" {
		return path, nil
	}
	return build("engines", "./cmd/engine/enginetest/program")
}

// build builds a program into the user's cache, at one path per clone. It also builds the write guard, because the
// program refuses to run ClickHouse without the guard. A lock lets only one test process build at a time. The other
// processes wait, and then find the files up to date.
func build(name, source string) (string, error) {
	root, err := ModuleRoot()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256([]byte(root))
	dir := filepath.Join(cache, "octavo-test", hex.EncodeToString(sum[:6]), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot create a folder for the test binary: %w (or set %s)", err, EnvBinary)
	}
	lock, err := os.OpenFile(filepath.Join(filepath.Dir(dir), "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", fmt.Errorf("cannot lock the test binary: %w", err)
	}
	defer func() { _ = lock.Close() }()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", fmt.Errorf("cannot lock the test binary: %w", err)
	}
	path := filepath.Join(dir, "octavo")
	for _, arguments := range [][]string{
		{"make", writeGuard},
		// Without the version stamp, an unrelated commit does not make go link again.
		{"go", "build", "-buildvcs=false", "-o", path, source},
	} {
		cmd := exec.CommandContext(context.Background(), arguments[0], arguments[1:]...)
		cmd.Dir = root
		if output, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("cannot build a program for the tests: %v: %w\n%s", arguments, err, output)
		}
	}
	return path, nil
}

// ModuleRoot returns the folder with go.mod: the working directory or a folder above it.
func ModuleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cannot find the working directory: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("cannot find go.mod above the working directory: run the tests inside the module")
		}
		dir = filepath.Dir(dir)
	}
}
