package query

import (
	"context"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/query/resultcache"
	"github.com/octavo-docs/octavo/query/statecache"
)

// Service answers queries. It is safe for concurrent use.
type Service struct {
	config    Config
	conn      driver.Conn
	metrics   *Metrics
	admission *admission
	sources   *sources
	versions  *versions
	states    *statecache.Cache
	results   *resultcache.Cache[answer]
	live      *resultcache.Cache[answer]
	unshared  *resultcache.Cache[answer]   // shares and caches nothing
	batches   *resultcache.Cache[batchRun] // shares the answers of equal batches
	log       *slog.Logger
	grace     time.Duration
}

// New makes a service that runs its statements on `conn`. `conn` is a native-protocol pool with at least Concurrency
// connections to the database of the events table.
func New(c Config, conn driver.Conn, m *Metrics) *Service {
	log := c.Log
	if log == nil {
		log = slog.Default()
	}
	s := newSources(c, conn, log)
	return &Service{
		config: c, conn: conn, metrics: m, admission: newAdmission(c, m), sources: s, versions: newVersions(s),
		states: newStateCache(c, s), results: newResultCache(c, m), live: newLiveCache(c, m), batches: newBatches(c),
		unshared: resultcache.New(resultcache.Config[answer]{Size: func(answer) int { return 0 }}),
		log:      log, grace: Grace,
	}
}

// answer is the JSON of an answer, and its headers.
type answer struct {
	body    []byte
	headers map[string]string
}

// outcome is the answer to a query of a batch with its headers, or an error. Equal batches share it.
type outcome struct {
	answer  []byte
	headers map[string]string
	err     error
}

// batchRun has the answers of a batch that ran.
type batchRun struct {
	began time.Time // when the time of its queries began
	now   time.Time // when its presets end
	list  []outcome
}

func newResultCache(c Config, m *Metrics) *resultcache.Cache[answer] {
	return resultcache.New(resultcache.Config[answer]{
		MaxAge: c.Keep, SlowAge: c.slowAge(), MaxBytes: c.KeepBytes,
		Size: func(a answer) int { return len(a.body) }, Bytes: m.keptBytes,
	})
}

// newBatches makes the cache that shares the answers of equal batches while they run. It stores nothing. The result
// cache stores the answers of single queries.
func newBatches(c Config) *resultcache.Cache[batchRun] {
	return resultcache.New(resultcache.Config[batchRun]{
		MaxAge: c.Keep, SlowAge: c.slowAge(), Size: func(batchRun) int { return 0 },
	})
}

// slowAge is the longest time for which a slow answer stays cached although its site's events change. It also bounds
// the time for which other nodes still count an erased visitor.
func (c Config) slowAge() time.Duration {
	if c.Keep <= 0 {
		return 0
	}
	return max(c.Keep, time.Minute)
}

// Live answers are reused for liveAge. If an answer took longer to compute, it is reused for as long as it took, up to
// liveSlowAge. liveBytes limits the memory of live answers.
const (
	liveAge     = 2 * time.Second
	liveSlowAge = 10 * time.Second
	liveBytes   = 4 << 20
)

// newLiveCache makes the cache of live answers. Live answers stay cached for a fixed time, even if they took little
// time to compute. So many open boards cost as much as a single open board. All boards share a run until it ends, even
// if it waits for its turn and then takes all of its time.
func newLiveCache(c Config, m *Metrics) *resultcache.Cache[answer] {
	return resultcache.New(resultcache.Config[answer]{
		MaxAge: liveAge, MinAge: liveAge, SlowAge: liveSlowAge, FlightAge: c.QueueWait + c.MaxTime,
		MaxBytes: liveBytes, Bytes: m.keptLive, Size: func(a answer) int { return len(a.body) },
	})
}

// newStateCache makes the cache of aggregate states. Its own statements have the same limits as statements that choose
// a source.
func newStateCache(c Config, s *sources) *statecache.Cache {
	of := statecache.Defaults()
	of.MaxBytes, of.MaxScan = c.StateBytes, c.MaxTime/8
	of.Ask = func(ctx context.Context, sql string, args, targets []any, each func()) error {
		return s.query(ctx, sql, args, targets, each)
	}
	of.Exec = func(ctx context.Context, sql string) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxChoice)
		defer cancel()
		if err := s.conn.Exec(noDeadline{ctx}, sql); err != nil && !noTable(err) {
			return err
		}
		return nil
	}
	return statecache.New(of)
}
