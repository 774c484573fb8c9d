package postgres

import (
	"context"
	"strconv"
	"time"
)

type limitKey struct{}

// Limited returns a context whose statements have a separate time limit instead of the pool's limit. Jobs use it,
// because their statements read and write all pages of a space.
func Limited(ctx context.Context, limit time.Duration) context.Context {
	return context.WithValue(ctx, limitKey{}, limit)
}

// LimitOf returns the limit of a context; 0 without a limit.
func LimitOf(ctx context.Context) time.Duration {
	limit, _ := ctx.Value(limitKey{}).(time.Duration)
	return limit
}

// limitOf returns the statement_timeout of a context. It returns "" if the pool's limit applies.
func limitOf(ctx context.Context) string {
	limit := LimitOf(ctx)
	if limit <= 0 {
		return ""
	}
	return strconv.FormatInt(max(limit.Milliseconds(), 1), 10) // Postgres takes 0 for no limit.
}
