package query

import (
	"context"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"golang.org/x/sync/singleflight"

	"github.com/octavo-docs/octavo/schema/insights"
)

// versions knows which stored events of a site answers have: the number of the site's events, the table's first block,
// and how far its mutations are. A merge changes none of them. Each event that is stored, erased or removed by age
// changes one of them.
type versions struct {
	sources *sources
	age     time.Duration // how old a version may be that is used as current

	reads singleflight.Group
	mu    sync.Mutex
	sites map[string]siteVersion
}

type siteVersion struct {
	version string
	read    time.Time // before the engine was asked
}

func newVersions(s *sources) *versions {
	return &versions{sources: s, age: versionAge, sites: map[string]siteVersion{}}
}

// versionAge is short, but the panels of a dashboard share a version.
const versionAge = 250 * time.Millisecond

// versionOf reads a version. The engine reads one column, of the site's rows.
const versionOf = `SELECT toString(tuple(count(),
	(SELECT min(min_block_number) FROM system.parts
		WHERE database = currentDatabase() AND table = {table:String} AND active),
	(SELECT tuple(count(), max(create_time), countIf(is_done), sum(parts_to_do)) FROM system.mutations
		WHERE database = currentDatabase() AND table = {table:String})))
	FROM events WHERE site = {site:String}`

// known returns the site's last known version, of any age, or "".
func (v *versions) known(site string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sites[site].version
}

// current returns the site's present version, or "" if it is unknown.
func (v *versions) current(ctx context.Context, site string) string {
	v.mu.Lock()
	known := v.sites[site]
	v.mu.Unlock()
	now := time.Now()
	if known.version != "" && now.Sub(known.read) < v.age {
		return known.version
	}
	// Callers share a statement that another caller has just sent. It does not end with its caller.
	version, err, _ := v.reads.Do(site, func() (any, error) { return v.read(ctx, site, now) })
	if err != nil {
		v.sources.log.WarnContext(ctx, "An answer is computed again: the version of its events is not known.",
			"site", site, "error", err)
		return ""
	}
	return version.(string)
}

// read reads the site's version at a moment and remembers it.
func (v *versions) read(ctx context.Context, site string, now time.Time) (string, error) {
	var version string
	args := []any{clickhouse.Named("table", insights.Table), clickhouse.Named("site", site)}
	err := v.sources.query(v.sources.config.choosing(ctx), versionOf, args, []any{&version}, func() {})
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.sites) >= maxSites {
		clear(v.sites)
	}
	v.sites[site] = siteVersion{version, now}
	return version, nil
}
