package chserver

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWhatCannotBeWrittenIsNotStored: without the guard, the library would ignore a failed write and acknowledge an
// insert or commit a merge with empty files. A limit on the size of files makes writes fail here, like a full disk.
func TestWhatCannotBeWrittenIsNotStored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	db := connect(t, p, "default")
	must(t, db.Exec(t.Context(), "CREATE DATABASE d"))
	must(t, db.Exec(t.Context(), "CREATE TABLE d.t (n UInt64, s String, INDEX n n TYPE minmax) ENGINE = MergeTree ORDER BY n SETTINGS fsync_after_insert = 1"))
	const insert = "INSERT INTO d.t SELECT number, toString(number) FROM numbers(1000)"
	must(t, db.Exec(t.Context(), insert))
	limit := unix.Rlimit{Cur: 1, Max: unix.RLIM_INFINITY}
	must(t, unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil))
	if err := db.Exec(t.Context(), insert); err == nil {
		t.Error("an insert that could not be written was acknowledged")
		p.kill(t)
	} else if exit, ok := errors.AsType[*exec.ExitError](<-p.exited); !ok || exit.ExitCode() != exitUnwritten || !strings.Contains(p.stderr.String(), "nothing counts as stored") {
		t.Errorf("the engine exited with %v: %s", exit, p.stderr)
	}
	db = connect(t, start(t, dir), "default")
	if got := one[uint64](t, db, t.Context(), "SELECT count() FROM d.t WHERE n < 1000 AND NOT ignore(s)"); got != 1000 {
		t.Errorf("%d rows are stored, 1000 were acknowledged", got)
	}
	must(t, db.Exec(t.Context(), insert))
}

func TestAwaitRoom(t *testing.T) {
	t.Parallel()
	answers := []int64{0, roomToStart - 1, roomToStart}
	var log bytes.Buffer
	err := awaitRoom(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), "", func(string) (int64, int64, error) {
		next := answers[0]
		answers = answers[1:]
		return next, 0, nil
	})
	if err != nil || len(answers) > 0 || strings.Count(log.String(), "The disk is full") != 1 {
		t.Errorf("%v, not asked for: %d, said %s", err, len(answers), log.String())
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := awaitRoom(ended, slog.New(slog.DiscardHandler), "", func(string) (int64, int64, error) { return 0, 0, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
