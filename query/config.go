package query

import (
	"context"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Config bounds what queries may take of the engine, one of them and all
// together: Concurrency times MaxMemory is what the engine needs for them.
type Config struct {
	// Concurrency is the number of questions that are worked on at once. More
	// wait, at most for QueueWait.
	Concurrency int
	// PerOrganization and PerToken are how many of them may be of one
	// organization and of one token.
	PerOrganization, PerToken int
	QueueWait                 time.Duration

	// MaxTime ends a question whose statements take longer together.
	MaxTime time.Duration
	// MaxRowsRead refuses a query that would read more rows of the table.
	MaxRowsRead uint64
	// MaxMemory is the memory of one query in bytes. A query that counts
	// different visitors and outgrows it is run again in bounded memory.
	MaxMemory uint64
	// MaxThreads is the number of threads of one query; 0 leaves it to the engine.
	MaxThreads int

	// FreshUntil tells up to when a site's events are in the store; nil, or
	// false, leaves the header out. It must not block.
	FreshUntil func(ctx context.Context, site string) (time.Time, bool)
	// Log takes what is hidden from clients. nil is slog's default.
	Log *slog.Logger
}

// DefaultConfig suits a small machine that also runs the rest.
func DefaultConfig() Config {
	return Config{
		Concurrency: 8, PerOrganization: 4, PerToken: 2, QueueWait: 10 * time.Second,
		MaxTime:     20 * time.Second,
		MaxRowsRead: 2_000_000_000,
		MaxMemory:   512 << 20,
	}
}

// settings are sent with every statement, which has so much time. readonly=2 forbids writing and DDL;
// 1 would also forbid the settings themselves.
func (c Config) settings(left time.Duration) clickhouse.Settings {
	s := clickhouse.Settings{
		"readonly":                  2,
		"max_execution_time":        left.Seconds(),
		"timeout_overflow_mode":     "throw",
		"max_rows_to_read":          c.MaxRowsRead,
		"read_overflow_mode":        "throw",
		"max_memory_usage":          c.MaxMemory,
		"max_result_rows":           maxLimit + 1, // one more tells that there is another page
		"result_overflow_mode":      "throw",
		"max_ast_elements":          100_000,
		"max_expanded_ast_elements": 500_000,
		// Without it a week cannot start before 1970 (see insights, bucket).
		"enable_extended_results_for_datetime_functions": 1,
	}
	if c.MaxThreads > 0 {
		s["max_threads"] = c.MaxThreads
	}
	return s
}
