package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// Store is the handle on Postgres. It is safe for concurrent use between Start and Stop.
type Store struct {
	config  *pgxpool.Config
	pool    *pgxpool.Pool
	queries *db.Queries
	// planned are the same statements, planned for the values of each call.
	planned *db.Queries
	// inviteLifetime is how long new invites are good for; 0 is without end.
	inviteLifetime time.Duration
	invitesByMail  bool
	quotas         Quotas
	specVersions   int32
	// trees and refs belong to the revisions, and sites are the published sites, that were read last.
	trees *kept[treeKey, *keptTree]
	refs  *kept[treeKey, *keptRefs]
	sites *kept[string, *keptSite]
}

// The rows as Postgres holds them. What a caller may do with one is up to package api.
type (
	Organization = db.Organization
	Site         = db.Site
	Space        = db.Space
	Token        = db.Token
	User         = db.User
)

// New checks the settings and connects to nothing.
func New(cfg Config) (*Store, error) {
	config, err := cfg.pool()
	if err != nil {
		return nil, err
	}
	return &Store{
		config: config, inviteLifetime: cfg.InviteLifetime, invitesByMail: cfg.InvitesByMail, quotas: cfg.Quotas, specVersions: cfg.OpenAPIVersions,
		trees: newKept[treeKey, *keptTree](keptPages), refs: newKept[treeKey, *keptRefs](keptFileRefs),
		sites: newKept[string, *keptSite](keptParts),
	}, nil
}

// Start opens the pool and waits for the first answer. It does not migrate: see Migrate.
func (s *Store) Start(ctx context.Context) error {
	pool, err := pgxpool.NewWithConfig(ctx, s.config)
	if err != nil {
		return fmt.Errorf("cannot open Postgres pool: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return fmt.Errorf("cannot reach Postgres: %w", err)
	}
	s.pool, s.queries, s.planned = pool, db.New(acting{pool}), db.New(planned{pool})
	return nil
}

// Stop waits for the connections in use to come back and closes them.
func (s *Store) Stop() {
	if s.pool != nil {
		s.pool.Close()
	}
}

// NewPool opens another pool on the same database, for a library that must not wait for this store's connections.
func (s *Store) NewPool(ctx context.Context, connections int) (*pgxpool.Pool, error) {
	config := s.config.Copy()
	config.MaxConns = int32(connections) // A pool has few connections.
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("cannot open Postgres pool: %w", err)
	}
	return pool, nil
}

// Ready fails unless Postgres answers and has every migration of this binary.
func (s *Store) Ready(ctx context.Context) error {
	var version int64
	var baseline int
	err := s.pool.QueryRow(ctx, `select (select max(version_id) from goose_db_version where is_applied),
		(select number from octavo_baseline)`).Scan(&version, &baseline)
	if err != nil {
		return interpret(err, "migrations")
	}
	if baseline != schema.Baseline {
		return schema.Unavailable(fmt.Errorf("database has baseline %d, want %d", baseline, schema.Baseline), 0)
	}
	if want := latestMigration(); version < want {
		return schema.Unavailable(fmt.Errorf("database is at migration %d of %d", version, want), 0)
	}
	return nil
}

// Page is one page of rows and the total. More says that rows follow the last one.
type Page[T any] struct {
	Rows  []T
	Total int64
	More  bool
}

// pageOf drops the row that was read beyond the page: it only shows that the list continues.
func pageOf[T any](rows []T, size int, total int64) Page[T] {
	if len(rows) > size {
		// A page without rows has no cursor to continue from, so it is always the last one.
		return Page[T]{Rows: rows[:size], Total: total, More: size > 0}
	}
	return Page[T]{Rows: rows, Total: total}
}

// inTx runs fn in one transaction, for the actor of the context, and rolls back whenever fn fails or panics.
func (s *Store) inTx(ctx context.Context, fn func(tx pgx.Tx, q *db.Queries) error) error {
	err := pgx.BeginTxFunc(ctx, s.pool, begin(ctx), func(tx pgx.Tx) error { return fn(tx, s.queries.WithTx(tx)) })
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*schema.Error](err); ok {
		return err
	}
	return interpret(err, "object")
}
