package query

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"golang.org/x/sync/singleflight"

	"github.com/octavo-docs/octavo/schema/insights"
)

// versions reads the versions of sites' events. While a site's version is unchanged, a cached answer includes all of
// the site's events. A version consists of the number of the site's events, and of values that change when rows leave
// the events table: the table's first block, its detached parts and its mutations. A merge changes none of them. On a
// cluster, two statements may read different replicas, and one replica may lag. So versions are unknown on clusters,
// and a cached answer is reused for a short time only.
//
// Counting the events of a busy site takes longer than listing the table's parts. While the table has the same parts,
// no site has other events, so the events are not counted again.
type versions struct {
	sources *sources
	// `age` is the maximum age of a version that `current` returns without reading it again. If a version took long to
	// read, it may be older: up to `rest` times its reading time.
	age  time.Duration
	rest time.Duration
	// pause is the least time between a reading that fails and the next reading.
	pause time.Duration

	reads  singleflight.Group
	mu     sync.Mutex
	engine string // the events table's engine; "" before the first reading
	sites  map[string]siteVersion
}

// siteVersion is a version of a site's events.
type siteVersion struct {
	version    string    // "" if it is unknown
	table      string    // the table's parts, read just before the site's events were counted
	freshUntil string    // the time before which no event is missing from the version; "" if it is unknown
	read       time.Time // the time just before the version was read
	took       time.Duration
	rests      time.Time // until this time, the version is unknown, because reading it has just failed
}

func newVersions(s *sources) *versions {
	return &versions{
		sources: s, age: versionAge, rest: versionRest, pause: versionPause, sites: map[string]siteVersion{},
	}
}

const (
	// versionAge is short. It is long enough for the panels of a dashboard to share a version.
	versionAge = 250 * time.Millisecond
	// versionRest limits the load on ClickHouse for a site with many events. Reading the version of a site with a
	// hundred million events takes half a second.
	versionRest = 10
	// versionPause lets a batch, and the queries of a dashboard's next load, run without waiting.
	versionPause = 2 * time.Second
	// versionedEngine is the name of the table engine that the events table has on a single server. With any other
	// table engine, versions are unknown.
	versionedEngine = "MergeTree"
	engineOf        = `SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = {table:String}`
	// tableOf reads two texts: the values that change when rows leave the table, and these values together with the
	// table's parts. Every mutation has a unique block number. A part's path has the id of its table. A new table uses
	// the same names again.
	tableOf = `SELECT toString(tuple(min(min_block_number),
		(SELECT count() FROM system.detached_parts WHERE database = currentDatabase() AND table = {table:String}),
		(SELECT tuple(count(), max(arrayMax(block_numbers.number)), countIf(is_done), sum(parts_to_do))
			FROM system.mutations WHERE database = currentDatabase() AND table = {table:String}))) AS gone,
		gone || toString(tuple(count(), groupBitXor(sipHash64(path, modification_time))))
		FROM system.parts WHERE database = currentDatabase() AND table = {table:String} AND active`
	// countOf counts the site's rows. ClickHouse reads only one column for it.
	countOf = `SELECT count() FROM events WHERE site = {site:String}`
)

// known returns the site's version that was read last, of any age. It returns "" if no version was read.
func (v *versions) known(site string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sites[site].version
}

// current returns the site's present version. The version is "" if it is unknown.
func (v *versions) current(ctx context.Context, site string) siteVersion {
	v.mu.Lock()
	known, engine := v.sites[site], v.engine
	v.mu.Unlock()
	if engine != "" && engine != versionedEngine {
		return siteVersion{}
	}
	now := time.Now()
	if now.Before(known.rests) {
		return siteVersion{}
	}
	if known.version != "" && now.Sub(known.read) < max(v.age, v.rest*known.took) {
		return known
	}
	// Callers share a statement that another caller has just sent. The statement continues if its caller leaves.
	version, err, _ := v.reads.Do(site, func() (any, error) {
		is, err := v.read(ctx, site, now)
		if err != nil {
			v.failed(site, now)
		}
		return is, err
	})
	if err != nil {
		v.sources.log.WarnContext(ctx, "An answer is computed again: the version of its events is not known.",
			"site", site, "error", err)
		return siteVersion{}
	}
	return version.(siteVersion)
}

// failed records that a reading that began at `now` has failed. Queries wait for a version, so the next reading comes
// after a pause: without it, each query on a busy engine would wait for a reading that fails.
func (v *versions) failed(site string, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	is := v.sites[site] // the version that was read last stays
	is.rests = time.Now().Add(max(v.pause, v.rest*time.Since(now)))
	v.store(site, is)
}

// store stores a site's version, for code that holds the lock.
func (v *versions) store(site string, is siteVersion) {
	if len(v.sites) >= maxSites {
		clear(v.sites)
	}
	v.sites[site] = is
}

// read reads the site's version and stores it. `now` is the time of the reading. read first gets the time up to which
// the site's events are complete. So the version includes all events up to this time.
func (v *versions) read(ctx context.Context, site string, now time.Time) (is siteVersion, err error) {
	is = siteVersion{freshUntil: v.sources.config.freshUntil(ctx, site), read: now}
	of := []any{clickhouse.Named("table", insights.Table)}
	v.mu.Lock()
	engine := v.engine
	v.mu.Unlock()
	if engine == "" {
		if err := v.sources.query(ctx, engineOf, of, []any{&engine}, func() {}); err != nil {
			return siteVersion{}, err
		}
	}
	if engine == versionedEngine {
		if is.version, is.table, err = v.ofTable(ctx, site, of); err != nil {
			return siteVersion{}, err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.engine, is.took = engine, time.Since(now)
	v.store(site, is)
	return is, nil
}

// ofTable reads the site's version from the table with the parameters `of`. It reads the table's parts before it counts
// the events, so a later change of the parts shows that the count may be old.
func (v *versions) ofTable(ctx context.Context, site string, of []any) (version, table string, err error) {
	var gone string
	if err := v.sources.query(ctx, tableOf, of, []any{&gone, &table}, func() {}); err != nil {
		return "", "", err
	}
	v.mu.Lock()
	known := v.sites[site]
	v.mu.Unlock()
	if known.table == table {
		return known.version, table, nil
	}
	var events uint64
	of = []any{clickhouse.Named("site", site)}
	if err := v.sources.query(ctx, countOf, of, []any{&events}, func() {}); err != nil {
		return "", "", err
	}
	return fmt.Sprint(events, gone), table, nil
}
