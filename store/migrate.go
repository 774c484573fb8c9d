package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrationLock is the key of the advisory lock that lets one node migrate while the others wait.
const migrationLock = 0x6f637461766f // "octavo"

// Migrate brings the database to this binary's schema. Several nodes may call it at once: the first does the work, the
// others wait and then find nothing to do. It returns the number of migrations that were applied.
func (s *Store) Migrate(ctx context.Context) (int, error) {
	conn := s.config.ConnConfig.Copy()
	// A migration may rightly take longer than any request.
	conn.RuntimeParams["statement_timeout"] = "0"
	release, err := holdMigrationLock(ctx, conn)
	if err != nil {
		return 0, fmt.Errorf("cannot lock migrations: %w", err)
	}
	defer release()

	database := stdlib.OpenDB(*conn)
	defer func() { _ = database.Close() }() // Nothing was written through it that Up did not confirm.
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return 0, fmt.Errorf("cannot read embedded migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, database, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return 0, fmt.Errorf("cannot load migrations: %w", err)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return 0, fmt.Errorf("cannot migrate: %w", err)
	}
	return len(results), nil
}

// holdMigrationLock polls instead of waiting inside Postgres: a waiter would hold a snapshot there, and a migration that
// builds an index concurrently waits for every snapshot, so both would wait for ever.
func holdMigrationLock(ctx context.Context, config *pgx.ConnConfig) (release func(), err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	// The lock belongs to the session and goes with it, also when this process dies.
	release = func() { _ = conn.Close(context.WithoutCancel(ctx)) }
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var held bool
		if err := conn.QueryRow(ctx, "select pg_try_advisory_lock($1)", int64(migrationLock)).Scan(&held); err != nil {
			release()
			return nil, err
		}
		if held {
			return release, nil
		}
		select {
		case <-ctx.Done():
			release()
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// latestMigration is the version of the newest embedded file, which its name starts with.
func latestMigration() int64 {
	entries, err := migrationFiles.ReadDir("migrations")
	if err != nil || len(entries) == 0 {
		return 0
	}
	number, _, _ := strings.Cut(entries[len(entries)-1].Name(), "_")
	version, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return version
}
