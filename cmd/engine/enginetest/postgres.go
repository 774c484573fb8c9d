package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Postgres returns the URL of a new, empty database, which is dropped when the test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	base, err := postgresURL()
	require(t, err)
	return cloneDatabase(t, base, "template1")
}

// PostgresTemplate returns the URL of a new database that `migrate` has migrated. `migrate` runs once per test run and
// `key`, across all test processes that share a Postgres. Each test gets a copy of the result. A copy takes some tens
// of milliseconds. `migrate` must close its connections. PostgresTemplate also returns the note that `migrate`
// returned.
func PostgresTemplate(t testing.TB, key string, migrate func(url string) (note string, err error)) (url, note string) {
	t.Helper()
	base, err := postgresURL()
	require(t, err)
	template, note, err := ensureTemplate(base, key, migrate)
	if err != nil {
		t.Fatalf("cannot prepare the Postgres template %q: %v", key, err)
	}
	return cloneDatabase(t, base, template), note
}

func cloneDatabase(t testing.TB, base, template string) string {
	t.Helper()
	name := unique("test_")
	if err := execPostgres(base, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY file_copy"); err != nil {
		t.Fatalf("cannot create a Postgres database: %v", err)
	}
	t.Cleanup(func() {
		if err := dropDatabase(base, name); err != nil {
			t.Errorf("cannot drop the test's Postgres database: %v", err)
		}
	})
	fresh, err := withDatabase(base, name)
	if err != nil {
		t.Fatal(err)
	}
	return fresh
}

// dropDatabase ends a test's connections and drops its database. It waits for Postgres' own workers, such as
// autovacuum, because tests have no right to end them.
func dropDatabase(base, name string) error {
	ctx, cancel := step()
	defer cancel()
	for {
		err := execPostgres(base, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		refused, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || (refused.Code != insufficientPrivilege && refused.Code != objectInUse) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// These are the SQLSTATEs of a drop while another process uses the database.
const (
	insufficientPrivilege = "42501"
	objectInUse           = "55006"
)

// pools has the process's connections for set-up and clean-up, by URL. The connections end with the process.
var pools sync.Map

func execPostgres(url, statement string) error {
	ctx, cancel := step()
	defer cancel()
	pool, known := pools.Load(url)
	if !known {
		made, err := pgxpool.New(context.Background(), url)
		if err != nil {
			return err
		}
		if pool, known = pools.LoadOrStore(url, made); known {
			made.Close()
		}
	}
	_, err := pool.(*pgxpool.Pool).Exec(ctx, statement)
	return err
}

// templates has the notes of existing templates, so that only the first test of this process queries Postgres.
var templates sync.Map

// ensureTemplate creates the template unless it exists. The template is migrated under a temporary name and then
// renamed. So a template with its final name is always complete. An advisory lock lets only one process do this at a
// time. The note is the template's comment.
func ensureTemplate(base, key string, migrate func(url string) (string, error)) (name, note string, err error) {
	name, err = templateName(key)
	if err != nil {
		return "", "", err
	}
	if note, known := templates.Load(name); known {
		return name, note.(string), nil
	}
	ctx, cancel := step()
	defer cancel()
	conn, err := pgx.Connect(ctx, base)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // also releases the lock
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", lockNumber(name)); err != nil {
		return "", "", err
	}
	const present = "SELECT coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE datname = $1"
	err = conn.QueryRow(ctx, present, name).Scan(&note)
	if errors.Is(err, pgx.ErrNoRows) {
		note, err = makeTemplate(ctx, conn, base, name, migrate)
	}
	if err != nil {
		return "", "", err
	}
	templates.Store(name, note)
	return name, note, nil
}

func makeTemplate(
	ctx context.Context, conn *pgx.Conn, base, name string, migrate func(url string) (string, error),
) (note string, err error) {
	unfinished := unique("unfinished_")
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+unfinished); err != nil {
		return "", err
	}
	url, err := withDatabase(base, unfinished)
	if err == nil {
		note, err = migrate(url)
	}
	if err == nil {
		_, err = conn.Exec(ctx, "COMMENT ON DATABASE "+unfinished+" IS '"+strings.ReplaceAll(note, "'", "''")+"'")
	}
	if err == nil {
		_, err = conn.Exec(ctx, "ALTER DATABASE "+unfinished+" RENAME TO "+name)
	}
	if err != nil {
		_, _ = conn.Exec(ctx, "DROP DATABASE "+unfinished+" WITH (FORCE)") // err is reported instead of this error
	}
	return note, err
}

// templateName returns the name of the template for a key. The name depends on the test run, so that a template of an
// earlier run with other migrations is not used. If EnvRun is not set, the name depends on the hash of the test binary,
// which contains the migrations.
func templateName(key string) (string, error) {
	run := os.Getenv(EnvRun)
	if run == "" {
		var err error
		if run, err = ownHash(); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256([]byte(run + "\x00" + key))
	return "template_" + hex.EncodeToString(sum[:12]), nil
}

var ownHash = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find the test binary: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the test binary: %w", err)
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("cannot read the test binary: %w", err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
})

func lockNumber(name string) int64 {
	hash := fnv.New64a()
	_, _ = io.Copy(hash, strings.NewReader(name)) // a hash does not fail
	return int64(hash.Sum64())
}
