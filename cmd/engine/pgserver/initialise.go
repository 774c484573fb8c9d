package pgserver

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

const unfinished = "data.unfinished"

// initialise creates the cluster under a temporary name and then renames it. So a crash never leaves an incomplete
// directory under the final name.
func (s *Server) initialise(ctx context.Context, known *secrets) error {
	if known == nil {
		fresh := newSecrets()
		known = &fresh
		if err := saveSecrets(s.cfg.Dir, *known); err != nil {
			return err
		}
	}
	dir := filepath.Join(s.cfg.Dir, unfinished)
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("cannot remove an unfinished Postgres data directory: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("cannot create the Postgres data directory: %w", err)
	}
	if err := s.identity.own(dir); err != nil {
		return err
	}
	// The built-in C.UTF-8 locale sorts by code point. A system update never changes this order. It may change the
	// order of the C library's locales, which would corrupt indexes.
	arguments := []string{"-D", dir, "-U", superuser, "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C",
		"--auth=reject", "--data-checksums", "--no-instructions"}
	if s.cfg.NoSync {
		arguments = append(arguments, "--no-sync")
	}
	if err := s.run(ctx, "", "initdb", arguments...); err != nil {
		return fmt.Errorf("cannot initialise the Postgres data directory %s: %w", s.dataDir(), err)
	}
	if err := s.writeSettings(dir); err != nil {
		return err
	}
	statements := []string{
		fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", superuser, known.Superuser),
		fmt.Sprintf("CREATE ROLE %s LOGIN CREATEDB REPLICATION PASSWORD '%s'", appUser, known.App),
		fmt.Sprintf("CREATE DATABASE %s OWNER %s", appDatabase, appUser),
	}
	if err := s.runSQL(ctx, dir, statements); err != nil {
		return err
	}
	if err := os.Rename(dir, s.dataDir()); err != nil {
		return fmt.Errorf("cannot rename the Postgres data directory: %w", err)
	}
	if err := syncDir(s.cfg.Dir); err != nil {
		return err
	}
	s.secrets = *known
	return nil
}

// resetSecrets sets new passwords in an existing cluster without a secrets.json. The file was lost, or was not copied
// with the directory.
func (s *Server) resetSecrets(ctx context.Context) error {
	fresh := newSecrets()
	if err := s.writeSettings(s.dataDir()); err != nil {
		return err
	}
	statements := []string{
		fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", superuser, fresh.Superuser),
		fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", appUser, fresh.App),
	}
	if err := s.runSQL(ctx, s.dataDir(), statements); err != nil {
		return err
	}
	// Save last, because after a crash before this line the next start resets the passwords again.
	if err := saveSecrets(s.cfg.Dir, fresh); err != nil {
		return err
	}
	s.secrets = fresh
	return nil
}

// runSQL runs `statements` in single-user mode, without a listening server. It sends the statements through standard
// input, because other processes cannot read the passwords from there.
func (s *Server) runSQL(ctx context.Context, dir string, statements []string) error {
	// With -j a statement ends at a semicolon followed by an empty line.
	input := strings.Join(statements, ";\n\n") + ";\n\n"
	if err := s.run(ctx, input, "postgres", "--single", "-j", "-D", dir, "-c", "exit_on_error=on", "-c", "log_min_error_statement=panic", "postgres"); err != nil {
		return fmt.Errorf("cannot set up the Postgres roles in %s: %w", dir, err)
	}
	return nil
}

// run runs one of Postgres's programs and waits for its exit. The program dies
// if this process is killed.
func (s *Server) run(ctx context.Context, input, name string, arguments ...string) error {
	// The kernel sends PDEATHSIG when the thread that created the child ends (see supervise's spawner). So this
	// goroutine must not change its thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, s.binary(name), arguments...)
	s.finish(cmd)
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	cmd.Stdin = strings.NewReader(input)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%s: %w: %s", name, err, lastLines(output.String(), 10))
	}
	return nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// checkVersion compares the cluster's PG_VERSION with the version of the binary.
func (s *Server) checkVersion(clusterVersion []byte) error {
	cluster := strings.TrimSpace(string(clusterVersion))
	if cluster == s.identity.major {
		return nil
	}
	return fmt.Errorf("cannot open the Postgres data directory %s: it was made by Postgres %s, but the engine package is Postgres %s: "+
		"dump it with the old version and load it into a new directory, or install the old engine package again",
		s.dataDir(), cluster, s.identity.major)
}
