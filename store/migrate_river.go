package store

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverVersion is the version of river's tables with which this binary works. If a new version of river has another
// schema version, the statements about river_job must be checked again.
const riverVersion = 8

// migrateRiver migrates river's tables to riverVersion and returns the number of applied migrations. The caller holds
// the migration lock. If a newer binary has migrated the database, migrateRiver changes nothing.
func migrateRiver(ctx context.Context, config *pgx.ConnConfig) (int, error) {
	settings, err := pgxpool.ParseConfig("")
	if err != nil {
		return 0, err
	}
	settings.ConnConfig, settings.MaxConns = config, 2
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return 0, err
	}
	result, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{TargetVersion: riverVersion})
	if err != nil {
		return 0, fmt.Errorf("cannot migrate the tables of jobs: %w", err)
	}
	return len(result.Versions), nil
}
