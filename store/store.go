package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/apispecs"
	"github.com/octavo-docs/octavo/store/audit"
	"github.com/octavo-docs/octavo/store/clock"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/eventrows"
	"github.com/octavo-docs/octavo/store/hooks"
	"github.com/octavo-docs/octavo/store/issues"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/queue"
	"github.com/octavo-docs/octavo/store/sites"
)

// Config has the settings of the store.
type Config struct {
	// Invites has the settings of invites.
	Invites orgs.Config
	// OpenAPIVersions is the largest number of stored versions of an OpenAPI specification. 0 means that all versions
	// are stored.
	OpenAPIVersions int32
}

// Store gives access to all data in Postgres. It is safe for concurrent use between Start and Stop.
type Store struct {
	// These fields are the parts of the store that have separate packages.
	Audit  *audit.Log
	Clock  *clock.Store
	Rows   *eventrows.Store
	Hooks  *hooks.Store
	Issues *issues.Store
	Orgs   *orgs.Store
	Queue  *queue.Store
	Sites  *sites.Store
	Specs  *apispecs.Store

	db *postgres.DB
	// trees and refs cache data of the most recently read revisions.
	trees *postgres.Cache[treeKey, *keptTree]
	refs  *postgres.Cache[treeKey, *keptRefs]
	lost  lostTokens
}

// Space is a row of the table spaces, and Token is a row of the table tokens. Package api decides what a caller may do
// with them.
type (
	Space = db.Space
	Token = db.Token
)

// New returns a Store after checking the settings. It does not connect.
func New(database postgres.Config, cfg Config) (*Store, error) {
	db, err := postgres.New(database)
	if err != nil {
		return nil, err
	}
	return &Store{
		Audit: audit.New(db), Clock: clock.New(db), Hooks: hooks.New(db), Issues: issues.New(db),
		Rows:  eventrows.New(db),
		Orgs:  orgs.New(db, cfg.Invites),
		Queue: queue.New(db), Sites: sites.New(db), Specs: apispecs.New(db, cfg.OpenAPIVersions), db: db,
		trees: postgres.NewCache[treeKey, *keptTree](keptPages),
		refs:  postgres.NewCache[treeKey, *keptRefs](keptFileRefs),
	}, nil
}

// Start opens the pool of connections and waits for the first answer of Postgres. Migrate migrates the database.
func (s *Store) Start(ctx context.Context) error { return s.db.Start(ctx) }

// Stop waits until all connections are returned to the pool, and closes them.
func (s *Store) Stop() { s.db.Stop() }

// NewPool opens another pool for the same database. It is for a library that must not wait for this store's
// connections.
func (s *Store) NewPool(ctx context.Context, connections int) (*pgxpool.Pool, error) {
	return s.db.NewPool(ctx, connections)
}

// TryLock takes the lock with a name, or returns postgres.ErrLocked.
func (s *Store) TryLock(ctx context.Context, name string) (*postgres.Lock, error) {
	return s.db.TryLock(ctx, name)
}

// ErrNotMigrated is the error if the database lacks migrations of this binary.
var ErrNotMigrated = errors.New("the database is not migrated to this version")

// Ready returns nil if Postgres answers and the database has every migration of this binary.
func (s *Store) Ready(ctx context.Context) error {
	err := s.Migrated(ctx)
	if errors.Is(err, ErrNotMigrated) {
		return schema.Unavailable(err, 0)
	}
	return err
}

// undefinedTable is Postgres's error code for a table that does not exist.
const undefinedTable = "42P01"

// Migrated returns ErrNotMigrated if the database lacks migrations of this binary, or has another baseline.
func (s *Store) Migrated(ctx context.Context) error {
	var version int64
	var baseline int
	err := s.db.Pool.QueryRow(ctx, `select (select max(version_id) from goose_db_version where is_applied),
		(select number from octavo_baseline)`).Scan(&version, &baseline)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == undefinedTable {
		return fmt.Errorf("%w: it has no tables of Octavo", ErrNotMigrated)
	}
	if err != nil {
		return postgres.Interpret(err, "migrations")
	}
	if baseline != schema.Baseline {
		return fmt.Errorf("%w: it has baseline %d, and this version uses %d", ErrNotMigrated, baseline, schema.Baseline)
	}
	if want := latestMigration(); version < want {
		return fmt.Errorf("%w: it has migration %d of %d", ErrNotMigrated, version, want)
	}
	return nil
}
