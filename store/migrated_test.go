package store

import (
	"context"
	"io/fs"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// migratedTo makes a database as an earlier version left it: with the migrations up to one. The store is not started.
func migratedTo(t *testing.T, version int64) (*Store, *goose.Provider, *pgx.Conn) {
	t.Helper()
	url := enginetest.Postgres(t)
	s, err := New(Config{URL: url, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	database := stdlib.OpenDB(*s.config.ConnConfig)
	t.Cleanup(func() { _ = database.Close() })
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, database, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrateRiver(t.Context(), s.config.ConnConfig); err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return s, provider, conn
}
