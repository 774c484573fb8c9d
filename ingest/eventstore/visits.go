package eventstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema/insights"
)

// VisitsConfig configures Visits.
type VisitsConfig struct {
	Conn     driver.Conn // Conn is required. The caller closes it.
	Topology insights.Topology
	// Holds returns an error as soon as another process may also change the events table. It is required.
	Holds   func(context.Context) error
	Metrics *Metrics     // if Metrics is nil, nothing is counted
	Logger  *slog.Logger // if Logger is nil, nothing is logged

	check func() (events, visits string) // insights.VisitsCheck
}

// Visits creates, checks and repairs the events table's projection of visits (schema/insights/visits.go). It does
// nothing on a cluster, because a cluster's table has no projection.
type Visits struct{ cfg VisitsConfig }

// NewVisits builds a Visits. It starts nothing.
func NewVisits(cfg VisitsConfig) (*Visits, error) {
	if cfg.Holds == nil {
		return nil, errors.New("cannot maintain the projection of visits: VisitsConfig.Holds is nil")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.check == nil {
		cfg.check = insights.VisitsCheck
	}
	return &Visits{cfg}, nil
}

// projections is the state of the events table's projections of visits.
type projections struct {
	rows       uint64
	names      []string // projections of visits
	bare       uint64   // parts without the current projection of visits
	projecting bool     // whether ClickHouse is building the projection
}

// projections reads the state from the engine.
func (v *Visits) projections(ctx context.Context) (p projections, err error) {
	err = v.cfg.Conn.QueryRow(ctx, `SELECT ifNull(total_rows, 0), `+insights.VisitsOf+`,
		(SELECT count() FROM system.parts
			WHERE database = currentDatabase() AND table = {name:String} AND active AND rows > 0
			AND (NOT has(projections, {visits:String}) OR name IN (SELECT parent_name FROM system.projection_parts
				WHERE database = currentDatabase() AND table = {name:String}
				AND name = {visits:String} AND active AND is_broken))),
		(SELECT count() FROM system.mutations WHERE database = currentDatabase() AND table = {name:String}
			AND NOT is_done AND position(command, {visits:String}) > 0) > 0
		FROM system.tables WHERE database = currentDatabase() AND name = {name:String}`,
		clickhouse.Named("name", insights.Table), clickhouse.Named("visits", insights.VisitsProjection())).
		Scan(&p.rows, &p.names, &p.bare, &p.projecting)
	if err != nil {
		return p, fmt.Errorf("cannot read the state of the projection of visits: %w", err)
	}
	return p, nil
}

// statements returns the statements that create or build the current projection.
func (v *Visits) statements(p projections) []string {
	return insights.VisitsStatements(v.cfg.Topology, p.names, p.bare > 0 && !p.projecting)
}

// Kept reports whether the events table has the current projection of visits, so that Keep has nothing to do.
func (v *Visits) Kept(ctx context.Context) (bool, error) {
	if v.cfg.Topology.Cluster != "" {
		return true, nil
	}
	p, err := v.projections(ctx)
	return err == nil && len(v.statements(p)) == 0, err
}

// Keep makes the engine create and build the current projection of visits. ClickHouse builds the projection part by
// part. Queries read events until every part has the projection. The caller may call Keep again after any error.
func (v *Visits) Keep(ctx context.Context) error {
	if v.cfg.Topology.Cluster != "" {
		return nil
	}
	p, err := v.projections(ctx)
	if err != nil {
		return err
	}
	statements := v.statements(p)
	if err := v.run(ctx, statements); err != nil {
		return err
	}
	if len(statements) > 0 {
		v.cfg.Logger.Info("The events table has a new projection of visits. "+
			"The engine builds it for old rows while inserts and queries continue.", "rows", p.rows)
	}
	return nil
}

// run runs statements that change the events table.
func (v *Visits) run(ctx context.Context, statements []string) error {
	// Without a deadline, the driver waits only five minutes for an answer.
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	for _, statement := range statements {
		if err := v.cfg.Holds(ctx); err != nil {
			return err
		}
		if err := v.cfg.Conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("cannot maintain the projection of visits: %w (statement: %s)", err, statement)
		}
	}
	return nil
}

// visitSums are sums over events, or sums over the visits that the projection has for the same events. The two kinds of
// sums must be equal.
type visitSums struct{ events, contents, types, sessions uint64 }

// Check compares the projection of visits with the events of a randomly chosen site and day. If the projection and the
// events differ, or if parts lack the projection, the engine builds the projection again. Queries read events until the
// projection is built.
func (v *Visits) Check(ctx context.Context) error {
	if v.cfg.Topology.Cluster != "" {
		return nil
	}
	p, err := v.projections(ctx)
	switch {
	case err != nil:
		return err
	case len(p.names) > 0 && !slices.Equal(p.names, []string{insights.VisitsProjection()}):
		return nil // another version of Octavo created the projection
	case len(v.statements(p)) > 0:
		// A power cut may have cancelled the mutation that builds the projection. An earlier Check may have dropped the
		// projection, and then failed.
		return v.Keep(ctx)
	case p.bare > 0 || p.projecting:
		return nil
	}
	site, day, err := v.drawDay(ctx)
	if err != nil || site == "" {
		return err
	}
	result, err := v.compare(ctx, site, day)
	v.cfg.Metrics.checked(result)
	if result != "different" {
		return err
	}
	v.cfg.Logger.Error("The projection of visits differs from the events. "+
		"The engine builds the projection again. Queries read events until it is built.",
		"site", site, "day", day.Format(time.DateOnly))
	if err := v.run(ctx, insights.DropVisits(insights.VisitsProjection())); err != nil {
		return err
	}
	return v.Keep(ctx)
}

// drawDay returns the site and day of a randomly chosen event. `site` is empty if the events table is empty, or if a
// merge has replaced the part of the event meanwhile.
func (v *Visits) drawDay(ctx context.Context) (site string, day time.Time, err error) {
	none := func(err error) (string, time.Time, error) {
		if errors.Is(err, sql.ErrNoRows) {
			return "", day, nil
		}
		return "", day, fmt.Errorf("cannot draw an event: %w", err)
	}
	var part string
	var offset uint64
	err = v.cfg.Conn.QueryRow(ctx, `SELECT name, rand64() % rows FROM system.parts
		WHERE active AND database = currentDatabase() AND table = 'events' AND rows > 0
		ORDER BY pow(rand(1) / 4294967296, 1 / rows) DESC LIMIT 1`).Scan(&part, &offset)
	if err != nil {
		return none(err)
	}
	// The condition compares with constants, so ClickHouse reads only one granule.
	err = v.cfg.Conn.QueryRow(ctx, `SELECT site, toDateTime(toStartOfDay(time), 'UTC') FROM events
		WHERE _part = {part:String} AND _part_offset = {offset:UInt64}`,
		clickhouse.Named("part", part), clickhouse.Named("offset", offset)).Scan(&site, &day)
	if err != nil {
		return none(err)
	}
	return site, day, nil
}

// compare returns the result of a comparison: "same", "different", "busy" or "failed". "busy" means that the events
// changed during the comparison, so its result is unknown.
func (v *Visits) compare(ctx context.Context, site string, day time.Time) (result string, err error) {
	events, visits := v.cfg.check()
	// The sums of events must not come from the projection under test.
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"optimize_use_projections": 0}))
	var sums [3]visitSums
	ofSite, ofDay := clickhouse.Named("site", site), clickhouse.Named("day", day.UTC().Format(time.DateTime))
	for i, statement := range []string{events, visits, events} {
		err := v.cfg.Conn.QueryRow(ctx, statement, ofSite, ofDay).
			Scan(&sums[i].events, &sums[i].contents, &sums[i].types, &sums[i].sessions)
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
