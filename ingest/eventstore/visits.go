package eventstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema/insights"
)

// visitSums are equal for events and the visits that stand for them.
type visitSums struct{ events, contents, types uint64 }

// CheckVisits compares the projection of visits with the events of one site's day, which
// it draws by chance, and has the engine make the projection anew if they differ or parts
// have none. Queries read events until it is made.
func (l *Layout) CheckVisits(ctx context.Context) error {
	table, err := l.table(ctx, insights.Table)
	switch {
	case err != nil || l.cfg.Topology.Cluster != "":
		return err
	case !slices.Equal(table.visits, []string{insights.VisitsProjection()}): // another version's
		return nil
	case len(l.projections(table)) > 0: // a power cut may have undone the engine's order
		return l.project(ctx)
	case table.bare > 0 || table.projecting:
		return nil
	}
	site, day, err := l.drawDay(ctx)
	if err != nil || site == "" {
		return err
	}
	result, err := l.compareVisits(ctx, site, day)
	l.cfg.Metrics.checked(result)
	if result != "different" {
		return err
	}
	l.cfg.Logger.Error("The projection of visits differs from the events: the engine makes it anew, and queries read events until then.", "site", site, "day", day.Format(time.DateOnly))
	if err := l.cfg.Holds(ctx); err != nil {
		return err
	}
	for _, statement := range insights.DropVisits(insights.VisitsProjection()) {
		if err := l.do(ctx, "drop visits", statement); err != nil {
			return err
		}
	}
	return l.project(ctx)
}

// drawDay draws an event and gives its site and day; site is empty if there is none to
// draw, or its part was merged meanwhile.
func (l *Layout) drawDay(ctx context.Context) (site string, day time.Time, err error) {
	none := func(err error) (string, time.Time, error) {
		if errors.Is(err, sql.ErrNoRows) {
			return "", day, nil
		}
		return "", day, fmt.Errorf("cannot draw an event: %w", err)
	}
	var part string
	var offset uint64
	err = l.cfg.Conn.QueryRow(ctx, `SELECT name, rand64() % rows FROM system.parts WHERE active AND database = currentDatabase() AND table = 'events' AND rows > 0
		ORDER BY pow(rand(1) / 4294967296, 1 / rows) DESC LIMIT 1`).Scan(&part, &offset)
	if err != nil {
		return none(err)
	}
	// Constants: of another condition the engine would not know that it names one granule.
	err = l.cfg.Conn.QueryRow(ctx, "SELECT site, toDateTime(toStartOfDay(time), 'UTC') FROM events WHERE _part = {part:String} AND _part_offset = {offset:UInt64}",
		clickhouse.Named("part", part), clickhouse.Named("offset", offset)).Scan(&site, &day)
	if err != nil {
		return none(err)
	}
	return site, day, nil
}

// compareVisits says how a comparison ends: as "same", "different", "busy" if the events
// changed meanwhile, which says nothing about visits, or "failed".
func (l *Layout) compareVisits(ctx context.Context, site string, day time.Time) (result string, err error) {
	events, visits := l.cfg.check()
	// Events must not be summed up by the projection that they are compared with.
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"optimize_use_projections": 0}))
	var sums [3]visitSums
	for i, statement := range []string{events, visits, events} {
		err := l.cfg.Conn.QueryRow(ctx, statement, clickhouse.Named("site", site), clickhouse.Named("day", day.UTC().Format(time.DateTime))).
			Scan(&sums[i].events, &sums[i].contents, &sums[i].types)
		if err != nil {
			return "failed", fmt.Errorf("cannot compare visits with events: %w", err)
		}
	}
	switch {
	case sums[0] == sums[1]:
		return "same", nil
	case sums[0] != sums[2]:
		return "busy", nil
	}
	return "different", nil
}
