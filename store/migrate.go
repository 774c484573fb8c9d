package store

import (
	"context"
	"crypto/sha256"
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

//go:embed access/*.sql
var accessFiles embed.FS

// migrationLock is the key of the advisory lock that lets one node migrate while the others wait.
const migrationLock = 0x6f637461766f // "octavo"

// Migrate brings the database to this binary's schema and functions. Several nodes may call it at once: the first does the
// work, the others wait and then find nothing to do. It returns the number of migrations that were applied.
func (s *Store) Migrate(ctx context.Context) (int, error) {
	conn := s.config.ConnConfig.Copy()
	// A migration may rightly take longer than any request.
	conn.RuntimeParams["statement_timeout"] = "0"
	locked, err := holdMigrationLock(ctx, conn)
	if err != nil {
		return 0, fmt.Errorf("cannot lock migrations: %w", err)
	}
	// The lock belongs to the session and ends with it, even if this process is killed.
	defer func() { _ = locked.Close(context.WithoutCancel(ctx)) }()

	// Ours come second: they add indexes to river's tables.
	river, err := migrateRiver(ctx, conn)
	if err != nil {
		return 0, err
	}
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
	access, err := accessText()
	if err != nil {
		return 0, fmt.Errorf("cannot read the access functions: %w", err)
	}
	if err := applyText(ctx, locked, "content_access", "store/access", access); err != nil {
		return 0, fmt.Errorf("cannot apply the access functions: %w", err)
	}
	if err := applyText(ctx, locked, "audit_log", "store/audit_tables.go", auditText()); err != nil {
		return 0, fmt.Errorf("cannot apply the triggers of the audit log: %w", err)
	}
	return river + len(results), nil
}

// applyText gives functions and triggers this binary's text, all at once. A comment on a table says which text is there, so that a
// start that changes nothing writes nothing. A database that a newer binary has migrated keeps its text: an older node that restarts
// during an upgrade must not undo it.
func applyText(ctx context.Context, conn *pgx.Conn, table, source, text string) error {
	mark := fmt.Sprintf("%s %x", source, sha256.Sum256([]byte(text)))
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var version int64
		var applied string
		err := tx.QueryRow(ctx, `select (select max(version_id) from goose_db_version where is_applied),
			coalesce(obj_description($1::text::regclass, 'pg_class'), '')`, table).Scan(&version, &applied)
		if err != nil || version > latestMigration() || applied == mark {
			return err
		}
		_, err = tx.Exec(ctx, text+"comment on table "+table+" is '"+mark+"'", pgx.QueryExecModeSimpleProtocol)
		return err
	})
}

// accessText gives the files of access/ in the order of their names.
func accessText() (string, error) {
	entries, err := accessFiles.ReadDir("access")
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, entry := range entries {
		file, err := accessFiles.ReadFile("access/" + entry.Name())
		if err != nil {
			return "", err
		}
		text.Write(file)
	}
	return text.String(), nil
}

// holdMigrationLock gives a session that holds the lock. It polls instead of waiting inside Postgres: a waiter would hold a
// snapshot there, and a migration that builds an index concurrently waits for every snapshot, so neither would ever finish.
func holdMigrationLock(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	release := func() { _ = conn.Close(context.WithoutCancel(ctx)) }
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var held bool
		if err := conn.QueryRow(ctx, "select pg_try_advisory_lock($1)", int64(migrationLock)).Scan(&held); err != nil {
			release()
			return nil, err
		}
		if held {
			return conn, nil
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
