package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/octavo-docs/octavo/store/audit"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// functionFiles has the SQL files of functions and triggers.
//
//go:embed access/*.sql functions/*.sql
var functionFiles embed.FS

// migrationLock is the key of the advisory lock that lets one node migrate while other nodes wait.
const migrationLock = 0x6f637461766f // "octavo"

// Migrate brings the database to this binary's schema and functions. Several nodes may call it concurrently. The first
// node migrates. The other nodes wait and then change nothing. Migrate returns the number of applied migrations. If the
// database has another baseline, it fails and changes nothing.
func (s *Store) Migrate(ctx context.Context) (int, error) {
	conn := s.db.Config.ConnConfig.Copy()
	// Migrations have no statement timeout, because a migration may take longer than any request.
	conn.RuntimeParams["statement_timeout"] = "0"
	locked, err := holdMigrationLock(ctx, conn)
	if err != nil {
		return 0, fmt.Errorf("cannot lock migrations: %w", err)
	}
	// The migration lock belongs to the Postgres session, and ends with the session, even if this process is killed.
	defer func() { _ = locked.Close(context.WithoutCancel(ctx)) }()

	if err := checkBaseline(ctx, locked); err != nil {
		return 0, fmt.Errorf("cannot migrate: %w", err)
	}
	// River's migrations run first, because the store's migrations add indexes to river's tables.
	river, err := migrateRiver(ctx, conn)
	if err != nil {
		return 0, err
	}
	database := stdlib.OpenDB(*conn)
	defer func() { _ = database.Close() }() // an error of Close loses nothing, because Up has committed its writes
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
	functions, err := functionText()
	if err != nil {
		return 0, fmt.Errorf("cannot read the functions: %w", err)
	}
	if err := applyText(ctx, locked, functions); err != nil {
		return 0, fmt.Errorf("cannot apply the functions and triggers: %w", err)
	}
	if err := readFileRefs(ctx, db.New(locked)); err != nil {
		return 0, fmt.Errorf("cannot read which files documents name: %w", err)
	}
	if err := indexAgain(ctx, locked); err != nil {
		return 0, fmt.Errorf("cannot ask for jobs that index spaces: %w", err)
	}
	return river + len(results), nil
}

// applyText replaces all functions and triggers by this binary's text in one transaction. A database comment on the
// table octavo_baseline stores the text's hash. If the stored hash is equal, applyText writes nothing. It also writes
// nothing if a newer binary has already migrated the database. So an older node that restarts during an upgrade does
// not replace the newer text. If a function is removed from the text, a migration must drop it.
func applyText(ctx context.Context, conn *pgx.Conn, text string) error {
	mark := postgres.HashOf([]byte(text))
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var version int64
		var applied string
		err := tx.QueryRow(ctx, `select (select max(version_id) from goose_db_version where is_applied),
			coalesce(obj_description('octavo_baseline'::regclass, 'pg_class'), '')`).Scan(&version, &applied)
		if err != nil || version > latestMigration() || applied == mark {
			return err
		}
		text := createTrigger.ReplaceAllStringFunc(text, ifTriggerChanged)
		_, err = tx.Exec(ctx, text+"comment on table octavo_baseline is '"+mark+"'", pgx.QueryExecModeSimpleProtocol)
		return err
	})
}

// createTrigger matches a statement that creates a trigger. Such a statement ends at its first semicolon.
var createTrigger = regexp.MustCompile(`(?m)^create or replace trigger (\w+)\s[^;]*?\son (\w+)\s[^;]*;$`)

// ifTriggerChanged wraps a statement that creates a trigger, because creating a trigger locks its table. The result
// runs the statement only if the trigger is missing or was created by another text. A database comment on the trigger
// stores the statement's hash.
func ifTriggerChanged(statement string) string {
	names := createTrigger.FindStringSubmatch(statement)
	trigger, table, mark := names[1], names[2], postgres.HashOf([]byte(statement))
	return fmt.Sprintf(`do $if$ begin
    if not exists (
        select from pg_trigger
        where tgrelid = '%[1]s'::regclass and tgname = '%[2]s' and obj_description(oid, 'pg_trigger') = '%[3]s'
    ) then
        %[4]s
        comment on trigger %[2]s on %[1]s is '%[3]s';
    end if;
end $if$;
`, table, trigger, mark, statement)
}

// functionText returns the text of functionFiles in the order of the files' names. The generated functions and triggers
// of the audit log follow.
func functionText() (string, error) {
	var text strings.Builder
	for _, folder := range []string{"access", "functions"} {
		entries, err := functionFiles.ReadDir(folder)
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			file, err := functionFiles.ReadFile(folder + "/" + entry.Name())
			if err != nil {
				return "", err
			}
			text.Write(file)
		}
	}
	return text.String() + audit.Triggers(), nil
}

// holdMigrationLock returns a session that holds the migration lock. It tries repeatedly instead of waiting inside
// Postgres, because a session that waits there has a snapshot. A migration that builds an index concurrently waits for
// every snapshot. So the waiting node would block the migration, and the migration would block the node.
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

// latestMigration returns the version of the newest embedded migration. The file's name begins with the version.
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
