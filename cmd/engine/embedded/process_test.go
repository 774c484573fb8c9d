package embedded_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

var allEngines = []string{"postgres", "kafka", "clickhouse"}

func launch(t *testing.T, l enginetest.Launch) *enginetest.Running {
	t.Helper()
	if l.Binary == "" {
		l.Binary = enginetest.Binary(t)
	}
	if len(l.Engines) == 0 {
		l.Engines = allEngines
	}
	running, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := running.Stop(); err != nil {
			t.Error(err)
		}
	})
	return running
}

func TestKilledParentLeavesNoOrphanAndTheNextStartWorks(t *testing.T) {
	t.Parallel()
	enginesDir(t)
	dir := t.TempDir()
	first := launch(t, enginetest.Launch{Dir: dir})
	execPostgres(t, first.PostgresURL, "CREATE TABLE kept AS SELECT 1 AS n")
	if len(first.PIDs) != len(allEngines) {
		t.Fatalf("got %v", first.PIDs)
	}
	if err := first.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Start again immediately, while the children may still be exiting.
	<-first.Exited()
	second := launch(t, enginetest.Launch{Dir: dir})
	for name, pid := range first.PIDs {
		eventually.True(t, "the end of the orphaned "+name, func() bool { return !alive(pid) })
	}
	execPostgres(t, second.PostgresURL, "SELECT n FROM kept")
	if err := second.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "the end of everything", func() error {
		if left := below(dir); len(left) > 0 {
			return fmt.Errorf("left: %v", left)
		}
		return nil
	})
}

func TestSignalStopsCleanly(t *testing.T) {
	t.Parallel()
	enginesDir(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		dir := t.TempDir()
		running := launch(t, enginetest.Launch{Dir: dir})
		if err := running.Cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		<-running.Exited()
		if code := running.Cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("%v: exit code %d", signal, code)
		}
		if left := below(dir); len(left) > 0 {
			t.Errorf("%v left %v", signal, left)
		}
		// A missing lock file does not prove a clean exit, because it is removed after every exit. Postgres records a
		// clean shutdown in its control file, as DB_SHUTDOWNED (src/include/catalog/pg_control.h).
		control, err := os.ReadFile(filepath.Join(dir, "postgres", "data", "global", "pg_control"))
		if err != nil || binary.NativeEndian.Uint32(control[16:]) != 1 {
			t.Errorf("%v: Postgres did not shut down cleanly: %v", signal, err)
		}
	}
}

func TestRootBelowFoldersThatOnlyRootMayEnter(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may enter where others may not: TestOrdinaryUser is what this user can do. .ci/run covers it as root, and warns where it is not")
	}
	t.Parallel()
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(closed, "clone")
	binary := copyClone(t, clone)
	dir := filepath.Join(closed, "data")
	running := launch(t, enginetest.Launch{Binary: binary, Dir: dir})
	execPostgres(t, running.PostgresURL, "SELECT 1")
	for name := range running.PIDs {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
			t.Errorf("the owner of %s was changed: %v", name, err)
		}
	}
}

func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	home := openTempDir(t)
	binary := copyClone(t, filepath.Join(home, "clone"))
	dir := filepath.Join(home, "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var user *syscall.Credential // nil means the user of this test, if this user is not root
	if os.Geteuid() == 0 {
		const nobody = 65534
		user = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	running := launch(t, enginetest.Launch{Binary: binary, Dir: dir, Adjust: func(cmd *exec.Cmd) {
		cmd.Dir = "/"
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir}
		cmd.SysProcAttr.Credential = user
	}})
	execPostgres(t, running.PostgresURL, "SELECT 1")
	if err := openClickHouse(t, running.ClickHouseURL).Ping(context.Background()); err != nil {
		t.Error(err)
	}
}

// copyClone creates the files of a clone after `make engines` below `dir`, and returns the binary's path. The engines'
// files have 600 MB. So copyClone creates hard links to these files if the file system allows this.
func copyClone(t *testing.T, dir string) string {
	t.Helper()
	binary := filepath.Join(dir, "bin", "octavo")
	for _, folder := range []string{filepath.Dir(binary), filepath.Join(dir, "deploy")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	source, target := enginesDir(t), filepath.Join(dir, "deploy", "engines")
	if exec.Command("cp", "-al", source, target).Run() != nil {
		_ = os.RemoveAll(target)
		if output, err := exec.Command("cp", "-a", source, target).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
	}
	if output, err := exec.Command("cp", enginetest.Binary(t), binary).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return binary
}

// openTempDir returns a temporary folder that every user may enter.
func openTempDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for at := dir; at != filepath.Clean(os.TempDir()) && strings.HasPrefix(at, os.TempDir()); at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
