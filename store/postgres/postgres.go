package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// DB is the connection to Postgres that all packages of the store share. It is safe for concurrent use between Start
// and Stop.
type DB struct {
	// Config is the configuration with which Start opens the pool.
	Config *pgxpool.Config
	Pool   *pgxpool.Pool
	// Queries runs the generated statements, for the actor of the context.
	Queries *db.Queries
	// Planned runs the generated statements too, but Postgres plans them for the values of each call.
	Planned *db.Queries
	quotas  Quotas
}

// New returns a DB after checking the settings. It does not connect.
func New(cfg Config) (*DB, error) {
	config, err := cfg.pool()
	if err != nil {
		return nil, err
	}
	return &DB{Config: config, quotas: cfg.Quotas}, nil
}

// Start opens the pool and waits for the first answer of Postgres.
func (d *DB) Start(ctx context.Context) error {
	pool, err := pgxpool.NewWithConfig(ctx, d.Config)
	if err != nil {
		return fmt.Errorf("cannot open Postgres pool: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return fmt.Errorf("cannot reach Postgres: %w", err)
	}
	d.Pool, d.Queries, d.Planned = pool, db.New(acting{pool}), db.New(planned{pool})
	return nil
}

// Stop waits until all connections are returned to the pool, and closes them.
func (d *DB) Stop() {
	if d.Pool != nil {
		d.Pool.Close()
	}
}

// NewPool opens another pool for the same database. It is for a library that must not wait for connections of the
// DB's pool.
func (d *DB) NewPool(ctx context.Context, connections int) (*pgxpool.Pool, error) {
	config := d.Config.Copy()
	config.MaxConns = int32(connections) // callers pass a small number
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("cannot open Postgres pool: %w", err)
	}
	return pool, nil
}

// InTx runs `fn` in one transaction, for the actor of the context. If `fn` fails or panics, InTx rolls back.
func (d *DB) InTx(ctx context.Context, fn func(tx pgx.Tx, q *db.Queries) error) error {
	err := pgx.BeginTxFunc(ctx, d.Pool, begin(ctx), func(tx pgx.Tx) error { return fn(tx, d.Queries.WithTx(tx)) })
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*schema.Error](err); ok {
		return err
	}
	return Interpret(err, "object")
}
