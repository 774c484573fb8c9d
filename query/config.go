package query

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema"
)

// Config limits the engine's resources for each query and for all queries together. The engine needs Concurrency
// times MaxMemory for queries.
type Config struct {
	// Concurrency is the number of queries that run concurrently. Other queries wait for a slot, at most for
	// QueueWait.
	Concurrency int
	// PerOrganization and PerToken limit the slots of one organization and of one token.
	PerOrganization, PerToken int
	// Rows limits the sum of the rows that running queries read, as estimated before they run (admission.go).
	// RowsPerOrganization and RowsPerToken limit the rows of one organization and of one token. A query with more rows
	// than RowsPerToken takes all of RowsPerToken. A limit of 0 is no limit. If Rows is 0, rows are not counted.
	Rows, RowsPerOrganization, RowsPerToken int64
	QueueWait                               time.Duration

	// Keep is the time for which an answer is cached for equal queries while events of its site arrive. An answer that
	// took little time is cached for ten times the time that it took. If an answer took longer than Keep, it stays
	// cached for the time that it took, up to a minute. Without new events, an answer stays cached for a day, or for a
	// minute if its range ends now. If Keep is 0, no answer is cached, so every query runs. KeepBytes limits the memory
	// of cached answers.
	Keep      time.Duration
	KeepBytes int

	// StateBytes limits the engine's disk space for aggregate states. States make repeated queries of long ranges
	// quick. 0 turns states off.
	StateBytes uint64

	// MaxTime is the longest time that all statements of a query together may take.
	MaxTime time.Duration
	// MaxRowsRead is the largest number of rows of the table that a query may read.
	MaxRowsRead uint64
	// MaxMemory is the memory limit of one query in bytes. A query that counts distinct visitors and needs more
	// memory runs again in bounded memory.
	MaxMemory uint64
	// MaxAnswer is the largest number of bytes of an answer, and of the answers of a batch together. The rows from
	// which a query writes its answer may take as many bytes. 0 is no limit.
	MaxAnswer int
	// MaxThreads is the number of threads of one query. 0 uses the engine's default.
	MaxThreads int

	// Halvings returns how many times the engine's load is halved after its memory ran out. Fewer queries then run
	// concurrently, and each query has fewer threads. If Halvings is nil, the load is never halved. Halvings must not
	// block.
	Halvings func() int

	// FreshUntil returns the time up to which a site's events are stored. If it is nil or returns false, the answer
	// does not have the header Octavo-Fresh-Until. FreshUntil must not block.
	FreshUntil func(ctx context.Context, site string) (time.Time, bool)
	// Missing returns the rows that the store has lost. If it is nil, no row is missing. Missing must not block.
	Missing func() []schema.MissingRows
	// Damaged is called with each error about damaged files of the store; nil ignores such errors. Damaged must not
	// block.
	Damaged func(error)
	// Site returns the settings and hosts of a site. nil means that no settings or hosts are known. Each query calls
	// Site.
	Site func(ctx context.Context, id string) (Site, error)
	// Segment returns the member `where` of a site's saved segment. If the user may not see the segment, it returns a
	// "not found" error. `user` is "" for callers who are not users. nil means that no segment is saved.
	Segment func(ctx context.Context, site, user, id string) (where []byte, err error)
	// Pages returns the pages of the given spaces of a site. If `spaces` is nil, it returns the pages of all spaces.
	// `ok` is false if there are more than `most` pages. If Pages is nil, no page is known.
	Pages func(ctx context.Context, site string, spaces []string, most int) (list []schema.SitePage, ok bool, err error)
	// Log gets the errors that clients must not see. nil means slog's default logger.
	Log *slog.Logger
}

// DefaultConfig returns limits for a small machine that runs all services. It caches neither answers nor states.
func DefaultConfig() Config {
	return Config{
		Concurrency: 8, PerOrganization: 4, PerToken: 2, QueueWait: 10 * time.Second,
		Rows: 12_000_000, RowsPerOrganization: 8_000_000, RowsPerToken: 4_000_000,
		MaxTime:     20 * time.Second,
		MaxRowsRead: 2_000_000_000,
		MaxMemory:   512 << 20,
		MaxAnswer:   16 << 20,
	}
}

// settings returns the engine's settings for a statement that reads. `left` is the time that the statement may take.
// readonly=2 forbids writes and DDL; readonly=1 would also forbid changing settings. Statements that build states run
// without readonly: see query.write.
func (c Config) settings(left time.Duration) clickhouse.Settings {
	s := clickhouse.Settings{
		"readonly":              2,
		"max_execution_time":    left.Seconds(),
		"timeout_overflow_mode": "throw",
		"max_rows_to_read":      c.MaxRowsRead,
		"read_overflow_mode":    "throw",
		"max_memory_usage":      c.MaxMemory,
		"max_result_rows":       maxLimit + 1, // one row above the limit shows that another page follows
		"result_overflow_mode":  "throw",
		// If the engine's process may change priorities (CAP_SYS_NICE), inserts run before queries, and queries
		// before merges of the embedded engine.
		"os_thread_priority": 5,
		// A request with 10,000 values makes a statement of one or two megabytes.
		"max_query_size":            16 << 20,
		"max_ast_elements":          100_000,
		"max_expanded_ast_elements": 500_000,
		// Statements refer to the projection of visits explicitly (visits.go). The engine's search for a usable
		// projection would take longer than a small query.
		"optimize_use_projections":          0,
		"optimize_use_implicit_projections": 0,
		// Without this setting, the engine returns no week that starts before 1970: see `bucket` in schema/insights.
		"enable_extended_results_for_datetime_functions": 1,
	}
	if c.MaxAnswer > 0 {
		// The node reads a result block by block, and a number may take more bytes in a block than in JSON.
		s["max_result_bytes"] = 2 * c.MaxAnswer
	}
	if threads := c.threads(); threads > 0 {
		s["max_threads"] = threads
	}
	return s
}

// spillsFrom returns the memory from which a query that spills writes groups to disk. The rest of MaxMemory is for the
// blocks that are read meanwhile, and for reading the groups back.
func (c Config) spillsFrom() uint64 { return c.MaxMemory / 4 }

// exceeded reports whether an answer of this number of bytes is too large.
func (c Config) exceeded(bytes int) bool { return c.MaxAnswer > 0 && bytes > c.MaxAnswer }

func (c Config) halvings() int {
	if c.Halvings == nil {
		return 0
	}
	return c.Halvings()
}

// threads returns the number of threads of a query; 0 means the engine's default.
func (c Config) threads() int {
	halvings := c.halvings()
	if halvings == 0 {
		return c.MaxThreads
	}
	full := c.MaxThreads
	if full == 0 {
		full = runtime.GOMAXPROCS(0) // Halvings are only known for an engine on this machine
	}
	return max(1, full>>halvings)
}

// Grace is the time after MaxTime at which the node itself ends a query. The engine checks its limit only between
// blocks, and needs time to report it. Waiting for a connection must fail with a different error, so that it does not
// look like a slow query.
const Grace = 12 * time.Second
