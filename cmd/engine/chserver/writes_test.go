package chserver

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// exitUnwritten is the exit status of a server process after a failed write (see writeguard.c).
const exitUnwritten = 74

// TestWhatCannotBeWrittenIsNotStored checks that the process exits at a failed write. Without the guard, the library
// would ignore the failure, and acknowledge an insert or commit a merge with empty files. In this test, a limit on the
// size of files makes writes fail, like a full disk.
func TestWhatCannotBeWrittenIsNotStored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statement string
		writes    bool // otherwise the statement only links files, and succeeds
	}{
		"insert": {"INSERT INTO d.t SELECT number, toString(number) FROM numbers(1000)", true},
		"merge":  {"OPTIMIZE TABLE d.t FINAL", true},
		"copy":   {"ALTER TABLE d.t MOVE PARTITION tuple() TO TABLE d.u", true},
		"links":  {"ALTER TABLE d.u ATTACH PARTITION tuple() FROM d.t", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := start(t, dir)
			db := connect(t, p, "default")
			must(t, db.Exec(t.Context(), "CREATE DATABASE d"))
			for _, table := range []string{"t", "u"} {
				// This table makes the engine copy files, for which it uses other calls than for writing new files.
				must(t, db.Exec(t.Context(), "CREATE TABLE d."+table+` (n UInt64, s String, INDEX n n TYPE minmax)
					ENGINE = MergeTree ORDER BY n
					SETTINGS fsync_after_insert = 1, always_use_copy_instead_of_hardlinks = 1`))
			}
			for _, first := range []string{"0", "1000"} {
				insert := "INSERT INTO d.t SELECT number + " + first + ", toString(number) FROM numbers(1000)"
				must(t, db.Exec(t.Context(), insert))
			}
			const ask = `SELECT concat(toString(count()), ' ', toString(sum(n)), ' ', toString(sum(sipHash64(s))))
				FROM (SELECT * FROM d.t UNION ALL SELECT * FROM d.u)`
			acknowledged := one[string](t, db, t.Context(), ask)
			limit := unix.Rlimit{Cur: 0, Max: unix.RLIM_INFINITY}
			must(t, unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil))
			err := db.Exec(t.Context(), c.statement)
			switch exit := (*exec.ExitError)(nil); {
			case !c.writes:
				must(t, err)
				acknowledged = one[string](t, db, t.Context(), ask)
				p.kill(t)
			case err == nil || codeOf(err) != -1:
				t.Errorf("the engine answered a write that failed with %v", err)
				p.kill(t)
			case !errors.As(<-p.exited, &exit) || exit.ExitCode() != exitUnwritten ||
				!strings.Contains(p.stderr.String(), "no lost write counts as stored"):
				t.Errorf("the engine exited with %v: %s", exit, p.stderr)
			}
			db = connect(t, start(t, dir), "default")
			if stored := one[string](t, db, t.Context(), ask); stored != acknowledged {
				t.Errorf("stored are %s, acknowledged were %s", stored, acknowledged)
			}
			must(t, db.Exec(t.Context(), c.statement))
		})
	}
}

// TestRefusesToStartUnguarded checks that the engine detects a missing guard, even if the environment names a guard.
func TestRefusesToStartUnguarded(t *testing.T) {
	t.Parallel()
	for _, environment := range []string{"", "/no/such/writeguard.so"} {
		cmd := childCommand(t, t.TempDir())
		cmd.Env = append(cmd.Env, preload+"="+environment) // if a variable is set twice, the last value is used
		output, err := cmd.CombinedOutput()
		const want = "cannot start the ClickHouse engine without its write guard"
		if err == nil || !strings.Contains(string(output), want) {
			t.Errorf("%q: %v\n%s", environment, err, output)
		}
	}
}
