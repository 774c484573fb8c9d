package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// planned runs statements that Postgres plans again for the values of each call. That costs a tenth of a millisecond.
// It is used for statements with optional filters or orders. A single plan for all values could not use indexes that
// only fit some of the values. A test checks that every such list is run this way.
type planned struct{ *pgxpool.Pool }

// Query has the pool's parameters. By pgx's convention, one of the arguments is the execution mode.
func (p planned) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return p.Pool.Query(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}

// QueryRow does the same as Query for a single row.
func (p planned) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return p.Pool.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}
