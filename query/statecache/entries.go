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

// Config limits a cache, and gives it the engine.
type Config struct {
	// MaxBytes limits the tables on the engine's disk; 0 caches nothing.
	MaxBytes uint64
	// MaxScan is the longest query of events for which states are built.
	MaxScan time.Duration
	// Asks is how many queries need states before the next one builds them, and itself.
	Asks int
	// MaxGroups limits the rows of a span, and MaxTables the tables.
	MaxGroups int
	MaxTables uint64
	// MinPartAge is how old settled parts are, and ListParts how long their list is used.
	MinPartAge, ListParts time.Duration
	// Cuts are where spans begin and end.
	Cuts

	// Ask runs a short statement of the cache and calls each for every row, scanned into targets.
	Ask func(ctx context.Context, sql string, args, targets []any, each func()) error
	// Exec runs a statement that the cache needs after the query.
	Exec func(ctx context.Context, sql string) error
}

// Defaults suit a busy site. Most queries come once, so the second one builds states.
func Defaults() Config {
	return Config{
		Asks: 2, MaxGroups: 300_000, MaxTables: 200,
		MinPartAge: minPartAge, ListParts: 10 * time.Second, Cuts: MonthsAndDays(),
	}
}

const (
	// minPartAge is how old settled parts are. A deletion or a merge made a younger part, and another may follow.
	minPartAge = 5 * time.Minute
	// maxAge is how long states are used. The engine deletes them an hour later.
	maxAge = 24 * time.Hour
	// maxEntries bounds what a node knows, and maxTableParts the tables.
	maxEntries    = 10_000
	maxTableParts = 5_000
	// retryAfterFull is the pause after a limit of the tables was reached.
	retryAfterFull = 10 * time.Minute
	// retryAsks is how many more queries need states before a query builds them again, after a failure.
	retryAsks = 20
)

// Cache knows the states that this node has built. It is safe for concurrent use.
type Cache struct {
	Config

	mu      sync.Mutex
	parts   Parts
	listed  time.Time // when parts was listed
	entries *simplelru.LRU[string, *known]
	tables  map[string]bool
	full    time.Time // when a limit of the tables was reached
}

// known is what the node knows of an entry.
type known struct {
	asked    int           // by queries that were answered, and read the span as events
	took     time.Duration // the last one, in all
	building bool
	row      string    // of the cached states
	extra    uint64    // rows that are read in addition: of the span's other parts, and of states
	until    time.Time // the end of the states
}

// New makes an empty cache.
func New(c Config) *Cache {
	entries, _ := simplelru.NewLRU[string, *known](maxEntries, nil) // fails for no size only
	return &Cache{Config: c, entries: entries, tables: map[string]bool{}}
}

// Status says whether a query reads the states of an entry.
type Status int

// The statuses of entries.
const (
	Absent Status = iota // read events
	Cached               // read states
	Build                // call Put, then read states
)

// Entry is a span of a query, whose states are cached or not.
type Entry struct {
	Span
	Parts  []Part // from which the states are built
	Key    string // of all that the states depend on
	Status Status
	row    string // of the states in their table
	begun  bool   // whether some states may be written
}

const (
	columnKey  = "key"
	columnMade = "made"
)

// Rows is the condition "the row has states of one of the entries".
func Rows(entries []*Entry) sqltree.Expr { return isOneOf(columnKey, rowsOf(entries)) }

func rowsOf(entries []*Entry) []string {
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = e.row
	}
	return list
}

// Get sets the status of entries. A query has to Put those to build, and to Release them. An entry is absent if no
// earlier query needed it, if its events took too long to read, or if another query builds it. extra is how many rows
// are read in addition to cached states.
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
			// Each try has its own row: a failed one may have written some of it.
			have.building, e.row = true, rand.Text()
		}
	}
	return extra
}

// Expect is Get for an estimate: it sets the status that a query would find.
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

// Answered notes that a query has read absent entries as events, and how long it took. Building their states takes
// longer, of the next query's time.
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

// Release ends the building of entries. An entry that is not built yet has to be asked for again as often.
func (c *Cache) Release(entries []*Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		if have, ok := c.entries.Peek(e.Key); ok && e.Status == Build && have.building {
			have.building, have.asked = false, 0
		}
	}
}

// Postpone notes that states could not be built or read. Many more queries have to need them first.
func (c *Cache) Postpone(entries []*Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		c.entries.Add(e.Key, &known{asked: -retryAsks})
	}
}

// Forget drops entries from what the node knows.
func (c *Cache) Forget(entries []*Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		c.entries.Remove(e.Key)
	}
}

// ForgetTable drops a table that is gone, and the entries that it had.
func (c *Cache) ForgetTable(table string, entries []*Entry) {
	c.Forget(entries)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tables, table)
}

// Pause builds no states for a while.
func (c *Cache) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = time.Now()
}
