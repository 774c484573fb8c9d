package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// planned runs statements that Postgres plans again for the values of each call. That costs a tenth of a millisecond.
// Statements with optional filters or orders use it. A single plan for all values cannot use the indexes that fit only
// some of them. A test checks that every such list is run this way.
type planned struct{ *pgxpool.Pool }

// Query has the pool's parameters; by pgx's convention one of the arguments is the mode of execution.
func (p planned) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return p.Pool.Query(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}

// QueryRow is Query for one row.
func (p planned) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return p.Pool.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}
