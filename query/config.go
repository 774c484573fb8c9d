package query

import (
	"context"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Config limits what queries may take from the engine, each and together: the
// engine needs Concurrency times MaxMemory for them.
type Config struct {
	// Concurrency is how many queries run at once. Others wait for a slot, for
	// QueueWait at most.
	Concurrency int
	// PerOrganization and PerToken are how many of the slots one organization and
	// one token may use.
	PerOrganization, PerToken int
	// Rows is how many rows the running queries may read together, as far as can be
	// known before (admission.go); RowsPerOrganization and RowsPerToken are how many of
	// them one organization and one token may. A larger query counts as all that
	// its token may read. 0 sets no limit; if Rows is 0, no rows are counted at all.
	Rows, RowsPerOrganization, RowsPerToken int64
	QueueWait                               time.Duration

	// Keep is how old an answer may be that another caller of the same query gets;
	// 0 runs every query. The kept answers take KeepBytes of memory.
	Keep      time.Duration
	KeepBytes int

	// StateBytes is how much of the engine's disk aggregate states may take, which make long
	// ranges quick that are asked for again; 0 keeps none.
	StateBytes uint64

	// MaxTime ends a query whose statements together take longer.
	MaxTime time.Duration
	// MaxRowsRead refuses a query that would read more rows of the table.
	MaxRowsRead uint64
	// MaxMemory is the memory of one query in bytes. A query that counts different
	// visitors and needs more is run again in bounded memory.
	MaxMemory uint64
	// MaxThreads is the number of threads of one query; 0 leaves it to the engine.
	MaxThreads int

	// FreshUntil returns the time up to which a site's events are stored. If it is
	// nil or returns false, the header is left out. It must not block.
	FreshUntil func(ctx context.Context, site string) (time.Time, bool)
	// Log gets the errors that clients must not see. nil is slog's default.
	Log *slog.Logger
}

// DefaultConfig suits a small machine that runs everything. It keeps no answers and no states.
func DefaultConfig() Config {
	return Config{
		Concurrency: 8, PerOrganization: 4, PerToken: 2, QueueWait: 10 * time.Second,
		Rows: 12_000_000, RowsPerOrganization: 8_000_000, RowsPerToken: 4_000_000,
		MaxTime:     20 * time.Second,
		MaxRowsRead: 2_000_000_000,
		MaxMemory:   512 << 20,
	}
}

// settings are sent with every statement; left is the time it may take.
// readonly=2 forbids writes and DDL, 1 would forbid these settings too. Statements that
// build states are without it: see query.write.
func (c Config) settings(left time.Duration) clickhouse.Settings {
	s := clickhouse.Settings{
		"readonly":              2,
		"max_execution_time":    left.Seconds(),
		"timeout_overflow_mode": "throw",
		"max_rows_to_read":      c.MaxRowsRead,
		"read_overflow_mode":    "throw",
		"max_memory_usage":      c.MaxMemory,
		"max_result_rows":       maxLimit + 1, // a row more than asked for shows that there is another page
		"result_overflow_mode":  "throw",
		// Where the engine's process may change priorities (CAP_SYS_NICE), inserts go before
		// queries, and these before merges of the embedded engine.
		"os_thread_priority": 5,
		// A request of 10,000 values makes a statement of a megabyte or two.
		"max_query_size":            16 << 20,
		"max_ast_elements":          100_000,
		"max_expanded_ast_elements": 500_000,
		// visits are read by name (visits.go). Looking whether a projection would do takes
		// the engine longer than a small answer.
		"optimize_use_projections":          0,
		"optimize_use_implicit_projections": 0,
		// Without it no week starts before 1970: see bucket in schema/insights.
		"enable_extended_results_for_datetime_functions": 1,
	}
	if c.MaxThreads > 0 {
		s["max_threads"] = c.MaxThreads
	}
	return s
}

// Grace is what a query gets on top of MaxTime. The engine checks its own
// limit only between blocks and needs time to report it, and waiting for a
// connection has to fail by itself: it must not look like a slow query.
const Grace = 12 * time.Second
