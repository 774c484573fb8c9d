package statecache

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// Config limits a cache and connects it to the engine.
type Config struct {
	// MaxBytes limits the tables on the engine's disk; 0 caches nothing.
	MaxBytes uint64
	// MaxScan is the longest time that the last reading of the events may have taken. If it took longer, no states are
	// built.
	MaxScan time.Duration
	// Asks is the number of queries after which states are built. The last of these queries builds them.
	Asks int
	// MaxGroups limits the rows of one span's states. MaxTables limits the number of tables with states.
	MaxGroups int
	MaxTables uint64
	// MinPartAge is the least age of settled parts. ListParts is the time for which the list of the parts is used.
	MinPartAge, ListParts time.Duration
	// Cuts are the boundaries of spans.
	Cuts

	// Ask runs a short statement of the cache, scans every row into `targets`, and then calls `each`.
	Ask func(ctx context.Context, sql string, args, targets []any, each func()) error
	// Exec runs a statement of the cache even if the query has already ended.
	Exec func(ctx context.Context, sql string) error
}

// Defaults returns the configuration for a busy site. Most queries occur only once, so a query builds states when it
// occurs for the second time.
func Defaults() Config {
	return Config{
		Asks: 2, MaxGroups: 300_000, MaxTables: 200,
		MinPartAge: minPartAge, ListParts: 10 * time.Second, Cuts: MonthsAndDays(),
	}
}

const (
	// minPartAge is the least age of settled parts. A younger part comes from a deletion or a merge, and another part
	// may soon replace it.
	minPartAge = 5 * time.Minute
	// maxAge is the age up to which states are used. The engine deletes them an hour later.
	maxAge = 24 * time.Hour
	// maxEntries is the largest number of entries that a node has in memory. maxTableParts is the largest number of
	// parts in all tables with states together.
	maxEntries    = 10_000
	maxTableParts = 5_000
	// retryAfterFull is the time for which no states are built after a limit of the tables was reached.
	retryAfterFull = 10 * time.Minute
	// retryAsks is a number of queries. After a failed build, this many further queries must need the states before the
	// states are built again.
	retryAsks = 20
)

// Cache has the states that this node has built. It is safe for concurrent use.
type Cache struct {
	Config

	mu      sync.Mutex
	parts   Parts
	listed  time.Time // when parts was listed
	entries *simplelru.LRU[string, *known]
	tables  map[string]bool
	full    time.Time // when a limit of the tables was reached
}

// known is the node's record of an entry.
type known struct {
	asked    int           // number of answered queries that read the span as events
	took     time.Duration // total time of the last such query
	building bool
	row      string    // name of the cached states' rows
	extra    uint64    // additionally read rows: the span's other parts, and states
	until    time.Time // when the states expire
}

// New makes an empty cache.
func New(c Config) *Cache {
	entries, _ := simplelru.NewLRU[string, *known](maxEntries, nil) // NewLRU fails only for a size of 0
	return &Cache{Config: c, entries: entries, tables: map[string]bool{}}
}

// Status is the state of an entry, from which a query decides whether it reads the entry's states.
type Status int

// These are the statuses of entries.
const (
	Absent Status = iota // the query must read events
	Cached               // the query must read states
	Build                // the query must call Put, then read states
)

// Entry is a span of a query, with or without cached states.
type Entry struct {
	Span
	Parts  []Part // the parts from which the states are built
	Key    string // Key identifies everything that the states depend on
	Status Status
	row    string // value of columnKey in the rows of the span's states
	begun  bool   // whether some states may have been written
}

const (
	columnKey  = "key"
	columnMade = "made"
)

// Rows returns the condition that a row of a table of states belongs to one of the entries.
func Rows(entries []*Entry) sqltree.Expr { return isOneOf(columnKey, rowsOf(entries)) }

func rowsOf(entries []*Entry) []string {
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = e.row
	}
	return list
}

// Get sets the status of entries. A query must call Put for each entry with the status Build, and then Release for all
// entries. An entry is absent in three cases: no earlier query needed it, its events took too long to read, or another
// query is building it. `extra` is the number of rows that must be read in addition to cached states.
func (c *Cache) Get(entries []*Entry) (extra uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		have, ok := c.entries.Get(e.Key)
		if !ok {
			have = &known{}
			c.entries.Add(e.Key, have)
		}
		if e.Status = c.status(have); e.Status == Cached {
			extra += have.extra
		}
		e.row = have.row
		if e.Status == Build {
			// Each attempt has a separate row name, because a failed attempt may have written some rows.
			have.building, e.row = true, rand.Text()
		}
	}
	return extra
}

// Expect sets the status of entries as Get would, but begins no build. Estimates use it.
func (c *Cache) Expect(entries []*Entry) (extra uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		have, ok := c.entries.Peek(e.Key)
		if !ok {
			e.Status = Absent
			continue
		}
		if e.Status = c.status(have); e.Status == Cached {
			extra += have.extra
		}
	}
	return extra
}

func (c *Cache) status(have *known) Status {
	switch {
	case time.Now().Before(have.until):
		return Cached
	case !have.building && have.asked+1 >= c.Asks && have.took <= c.MaxScan && time.Since(c.full) >= retryAfterFull:
		return Build
	}
	return Absent
}

// Answered records that a query read absent entries as events, and the time that this took. The next query builds the
// states only if `took` is at most MaxScan, because building takes longer than reading.
func (c *Cache) Answered(keys []string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if have, ok := c.entries.Peek(key); ok {
			have.asked, have.took = have.asked+1, took
		}
	}
}

// Release ends the building of entries. If an entry was not built, its number of queries begins again at 0.
func (c *Cache) Release(entries []*Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		if have, ok := c.entries.Peek(e.Key); ok && e.Status == Build && have.building {
			have.building, have.asked = false, 0
		}
	}
}

// Postpone records that states could not be built or read. Many more queries must need them before the next attempt.
func (c *Cache) Postpone(entries []*Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		c.entries.Add(e.Key, &known{asked: -retryAsks})
	}
}

// Forget drops the node's records of entries.
func (c *Cache) Forget(entries []*Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		c.entries.Remove(e.Key)
	}
}

// ForgetTable drops the records of a table that no longer exists, and of its entries.
func (c *Cache) ForgetTable(table string, entries []*Entry) {
	c.Forget(entries)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tables, table)
}

// Pause stops the building of states for a while.
func (c *Cache) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = time.Now()
}
