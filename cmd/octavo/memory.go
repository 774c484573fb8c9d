package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/octavo-docs/octavo/api/jobs"
	"github.com/octavo-docs/octavo/api/remote/gitsync"
	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/engine/memory"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/schema"
)

// garbagePercent is the percentage of Go's garbage collector. While the process uses less memory than the Go runtime's
// soft limit, the collector runs less often than with Go's default of 100. GOGC overrides garbagePercent, and
// GOMEMLIMIT overrides the soft limit.
const garbagePercent = 300

// Each open connection uses some 12 KiB of live memory. With a fixed limit, ten thousand idle connections make the
// collector run without end, and every request is slow. So the limit grows by connectionBytes for each connection,
// which is half of its memory.
const (
	connectionBytes = 6 << 10
	// A change of the limit stops all goroutines briefly, so the limit changes only once for this number of
	// connections.
	connectionStep = 1 << 10
)

// The constants full… are the sizes of a node with all the memory that it can use. With less memory, the sizes shrink.
// The constants least… are their lower bounds.
const (
	fullNode         = 196 << 20 // the Go runtime's soft limit without connections
	fullStore        = 1 << 30   // least memory of the embedded store for queries and inserts of full size
	fullQueryMemory  = 512 << 20
	fullQueryAnswer  = 16 << 20
	leastQueryMemory = 64 << 20
	mostQueryMemory  = 2 << 30 // with more, queries of sessions gain nothing
	fullQueries      = 8
	leastQueries     = 2
	queryRoom        = 96 << 20  // memory of the store for each concurrent query
	queryThread      = 128 << 20 // memory of the store for each thread of a query
	fullPDF          = 2 << 30
	leastPDF         = 192 << 20
	leastBatchRows   = 2048
	// queryCacheBytes is the largest total size of cached answers of queries.
	queryCacheBytes = 8 << 20
)

// sizes has the parts of the memory, and other limits that depend on them. A setting that is not 0 replaces the
// computed size.
type sizes struct {
	limit memory.Limit
	plan  memory.Plan

	node        int64 // the Go runtime's soft limit without connections
	connections int
	bodies      int64
	answers     int64
	cached      int // bytes of cached answers of queries

	queries      int // concurrent queries
	queryMemory  int64
	queryAnswer  int // bytes of one answer of a query or of a batch
	queryThreads int // 0: the store's default

	batchRows, batchBytes int // limits of the sink's inserts
	pdf                   int64
	pdfs                  int // PDFs that are rendered concurrently
	git                   gitsync.Limits
	kinds                 []jobs.Kind
}

// sizes divides the memory. files is the root of the file system. If this node has too little memory, it returns an
// error for the operator, together with the sizes for the least memory.
func (s *Settings) sizes(files fs.FS) (*sizes, error) {
	limit, err := memory.Find(files)
	if s.Memory > 0 {
		limit, err = memory.Limit{Bytes: int64(s.Memory), Set: "OCTAVO_MEMORY_BYTES"}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: set OCTAVO_MEMORY_BYTES", err)
	}
	runs, given := s.parts(limit.Bytes)
	z := &sizes{limit: limit, pdfs: 2}
	if one := given[memory.PDF]; one > limit.Bytes/8 {
		z.pdfs = 1
	} else if one > 0 {
		given[memory.PDF] = 2 * one
	}
	z.plan, err = memory.Divide(limit.Bytes, runs, given)
	if small, ok := errors.AsType[*memory.TooSmall](err); ok {
		err = fmt.Errorf("cannot run with the memory that %s allows: %w: allow more, or run fewer parts here "+
			"(OCTAVO_MEMORY_BYTES sets the memory, OCTAVO_ROLES and the engines' addresses set the parts)",
			limit.Set, small)
	}
	z.fillNode(s)
	z.fillStore(s, runs[memory.Store])
	z.fillJobs(s, runs[memory.Postgres])
	return z, err
}

// parts returns which parts of the memory this node uses, and the sizes of parts that settings give.
func (s *Settings) parts(budget int64) (runs map[memory.Part]bool, given map[memory.Part]int64) {
	engines := s.embedded(embedded.All)
	runs = map[memory.Part]bool{
		memory.System: true, memory.Node: true, memory.Store: engines.ClickHouse, memory.Postgres: engines.Postgres,
		memory.Broker: engines.Kafka, memory.PDF: s.has("jobs"), memory.Git: s.has("jobs"),
	}
	given = map[memory.Part]int64{}
	for part, size := range map[memory.Part]schema.ByteSize{
		memory.Store: s.ClickHouseMemory, memory.Postgres: s.PostgresMemory, memory.PDF: s.PDFMemory,
	} {
		if size > 0 {
			given[part] = int64(size)
		}
	}
	if limit := debug.SetMemoryLimit(-1); os.Getenv("GOMEMLIMIT") != "" && limit < budget {
		given[memory.Node] = limit
	}
	return runs, given
}

// fillNode sets the sizes within this process. Two thirds of the process's memory are for work, and a third is for
// connections.
func (z *sizes) fillNode(s *Settings) {
	part := z.plan.Of(memory.Node)
	z.node = part / 3 * 2
	z.connections = min(s.MaxConns, max(connectionStep, int(part/3/connectionBytes)))
	z.bodies = or(s.BodyMemory, max(int64(leastBodyMemory), scaled(64<<20, z.node, fullNode)))
	z.answers = or(s.AnswerMemory, max(int64(leastAnswerMemory), scaled(32<<20, z.node, fullNode)))
	z.queryAnswer = int(min(fullQueryAnswer, max(int64(leastAnswerMemory), z.answers/2)))
	z.cached = int(scaled(queryCacheBytes, z.node, fullNode))
}

// fillStore sets the limits of queries and inserts. For an external store, it sets the limits of a store with full
// memory.
func (z *sizes) fillStore(s *Settings, here bool) {
	store := z.plan.Of(memory.Store)
	if !here {
		store = fullStore
	}
	z.queries = int(or(s.QueryConcurrency, max(leastQueries, min(fullQueries, store/queryRoom))))
	// Two thirds of a large store are for queries that need all of their memory at the same time.
	part := store / 3 * 2 / int64(z.queries)
	z.queryMemory = or(s.QueryMaxMemory,
		max(leastQueryMemory, min(fullQueryMemory, store/2), min(mostQueryMemory, part)))
	z.queryThreads = s.QueryMaxThreads
	if threads := max(1, int(store/queryThread)); here && z.queryThreads == 0 && threads < runtime.GOMAXPROCS(0) {
		z.queryThreads = threads
	}
	z.batchRows, z.batchBytes = sink.DefaultBatchRows, sink.DefaultBatchBytes
	for part, full := range map[int64]int64{store: fullStore, z.node: fullNode} {
		z.batchRows = min(z.batchRows, max(leastBatchRows, int(scaled(sink.DefaultBatchRows, part, full))))
		z.batchBytes = min(z.batchBytes, int(scaled(sink.DefaultBatchBytes, part, full)))
	}
}

// fewConnections is the smallest size of Postgres at which each kind of jobs has several workers. If Postgres has less
// memory, each kind has one worker, which needs one connection.
const fewConnections = 128 << 20

// fillJobs sets the sizes of background jobs.
func (z *sizes) fillJobs(s *Settings, postgres bool) {
	part := z.plan.Of(memory.PDF)
	if s.PDFMemory == 0 && part < 2*leastPDF {
		z.pdfs = 1
	}
	z.pdf = or(s.PDFMemory, min(fullPDF, part/int64(z.pdfs)))
	z.git = gitsync.DefaultLimits
	z.git.ObjectBytes = min(z.git.ObjectBytes, z.plan.Of(memory.Git)/2)
	z.git.PushBytes = min(z.git.PushBytes, z.plan.Of(memory.Git))
	for _, k := range jobs.Kinds() {
		switch {
		case postgres && z.plan.Of(memory.Postgres) < fewConnections:
			k.Workers = 1
		case k.Name == (schema.RenderPDF{}).JobKind().Name:
			k.Workers = min(k.Workers, z.pdfs)
		}
		z.kinds = append(z.kinds, k)
	}
}

// or returns the setting, or `other` if the setting is 0.
func or[T ~int | ~int64](setting T, other int64) int64 {
	if setting != 0 {
		return int64(setting)
	}
	return other
}

// scaled returns full*have/need, or `full` if that is less.
func scaled(full, have, need int64) int64 {
	return min(full, int64(float64(full)*float64(have)/float64(need)))
}

// log writes the division of the memory as one line.
func (z *sizes) log(log *slog.Logger) {
	size := func(bytes int64) string { return schema.ByteSize(bytes).String() }
	line := []any{"budget", size(z.limit.Bytes), "set_by", z.limit.Set}
	z.plan.Each(func(part memory.Part, bytes int64) { line = append(line, string(part), size(bytes)) })
	log.Info("The memory is divided.", append(line, "queries", z.queries, "query_memory", size(z.queryMemory),
		"query_threads", z.queryThreads, "batch_rows", z.batchRows, "connections", z.connections)...)
}

// newLoad returns the load of the embedded engines. A line is logged each time that the load doubles.
func newLoad(log *slog.Logger) *memory.Load {
	return &memory.Load{Doubled: func(part float64) {
		log.Info("No engine was killed for a while: the load of the engines doubles.", "load", part)
	}}
}

// engines returns the memory of each embedded engine.
func (z *sizes) engines() map[string]int64 {
	return map[string]int64{
		embedded.ClickHouse: z.plan.Of(memory.Store), embedded.Postgres: z.plan.Of(memory.Postgres),
		embedded.Kafka: z.plan.Of(memory.Broker),
	}
}

// use has the numbers that determine the Go runtime's soft limit.
type use struct {
	connections int  // open connections
	git         bool // a job of Git runs on this node
}

// limitFor returns the Go runtime's soft limit. The limit includes Git's part of the memory only while a Git job runs.
// If the limit always included it, the collector would run less often, and garbage of the intake at full load would
// fill this part.
func (z *sizes) limitFor(u use) int64 {
	limit := z.node + int64(u.connections/connectionStep)*connectionStep*connectionBytes
	if u.git {
		limit += z.plan.Of(memory.Git)
	}
	return limit
}

// bound sets the Go runtime's memory limit and the percentage of its garbage collector.
func (z *sizes) bound() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(z.limitFor(use{}))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}

// follow adjusts the memory limit to the use, once a second, until ctx ends.
func (z *sizes) follow(ctx context.Context, now func() use) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for limit := z.limitFor(use{}); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if next := z.limitFor(now()); next != limit {
			limit = next
			debug.SetMemoryLimit(limit)
		}
	}
}
