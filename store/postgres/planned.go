package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// planned runs statements so that Postgres plans each call for the call's values. Planning takes a tenth of a
// millisecond. `planned` is for statements with optional filters or orders. A single plan for all values could not
// use indexes that fit only some of the values. A test checks that `planned` runs every statement with optional
// filters or orders.
type planned struct{ *pgxpool.Pool }

// Query runs a statement that returns rows. It has the parameters of the pool's method. By pgx's convention, the first
// of the arguments is the execution mode.
func (p planned) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return p.Pool.Query(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}

// QueryRow runs a statement that returns one row, like Query.
func (p planned) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return p.Pool.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}
