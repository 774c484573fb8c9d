package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// planned runs statements that Postgres plans anew for the values of each call. It costs a tenth of a millisecond, and is for
// statements with filters or orders that a call may leave out: a plan that is made once for all values cannot use the indexes
// that fit only some of them. A test holds every such list to it.
type planned struct{ *pgxpool.Pool }

// Query has the pool's parameters; by pgx's convention one of the arguments is the mode of execution.
func (p planned) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return p.Pool.Query(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}

// QueryRow is Query for one row.
func (p planned) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return p.Pool.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}
