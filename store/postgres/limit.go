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

// LimitOf returns the limit of a context. It returns 0 if the context has no limit.
func LimitOf(ctx context.Context) time.Duration {
	limit, _ := ctx.Value(limitKey{}).(time.Duration)
	return limit
}

// limitOf returns the value of statement_timeout for a context. It returns "" if the pool's limit applies.
func limitOf(ctx context.Context) string {
	limit := LimitOf(ctx)
	if limit <= 0 {
		return ""
	}
	return strconv.FormatInt(max(limit.Milliseconds(), 1), 10) // at least 1, because 0 means no limit in Postgres
}
