package main

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// MigrateCmd brings both databases to this binary's schema. `serve` does the
// same when it starts.
type MigrateCmd struct {
	Settings `embed:""`
}

// Run migrates the stores and prints the changes.
func (c *MigrateCmd) Run() (err error) {
	ctx, stop := untilSignalled()
	defer stop()
	b, err := attach(ctx, &c.Settings, embedded.Set{Postgres: true, ClickHouse: true}, true)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, b.stop(context.WithoutCancel(ctx))) }()
	return b.withInsights(ctx, &c.Settings, func(b *backends, events driver.Conn) error {
		return c.migrate(ctx, b, events)
	})
}

func (c *MigrateCmd) migrate(ctx context.Context, b *backends, events driver.Conn) error {
	st, err := openStore(ctx, postgres.Config{URL: b.postgresURL}, store.Config{})
	if err != nil {
		return err
	}
	defer st.Stop()
	done, err := migrate(ctx, &c.Settings, st, events)
	if err != nil {
		return err
	}
	fmt.Printf("%d migrations applied to Postgres, %d statements to ClickHouse\n", done.postgres, done.clickHouse)
	return nil
}

type migrated struct{ postgres, clickHouse int }

// migrate migrates both databases. Several nodes may run it concurrently, because the Postgres migrations use a lock,
// and the ClickHouse statements can be repeated.
func migrate(ctx context.Context, s *Settings, st *store.Store, events driver.Conn) (done migrated, err error) {
	if done.postgres, err = st.Migrate(ctx); err != nil {
		return done, err
	}
	done.clickHouse, err = migrateEvents(ctx, s, events)
	return done, err
}

// migrateEvents migrates the insights store and returns the number of statements that it ran. If the store has another
// baseline, it fails and changes nothing.
func migrateEvents(ctx context.Context, s *Settings, events driver.Conn) (done int, err error) {
	if err := eventstore.CheckBaseline(ctx, events); err != nil {
		return done, err
	}
	topology, err := eventstore.TopologyOf(ctx, events, s.ClickHouseCluster)
	if err != nil {
		return done, err
	}
	have, err := eventsTable(ctx, events)
	if err != nil {
		return done, err
	}
	statements := insights.CreateStatements(topology)
	if len(have) > 0 {
		engine, visits, err := eventsEngine(ctx, events, topology)
		if err != nil {
			return done, err
		}
		statements = append(insights.UpgradeStatements(topology, have, visits), insights.SettingStatements(topology, engine)...)
	}
	for _, statement := range statements {
		if err := events.Exec(ctx, statement); err != nil {
			return done, fmt.Errorf("cannot migrate ClickHouse: %w (statement: %s)", err, statement)
		}
		done++
	}
	return done, nil
}

// eventsTable reads the columns of the events table and their types. If there is no events table, it returns an empty
// map.
func eventsTable(ctx context.Context, events driver.Conn) (map[string]string, error) {
	rows, err := events.Query(ctx,
		"SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String}",
		driver.NamedValue{Name: "table", Value: insights.Table})
	if err != nil {
		return nil, fmt.Errorf("cannot read the events table's columns: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	have := map[string]string{}
	for rows.Next() {
		var name, typ string
		if err := rows.Scan(&name, &typ); err != nil {
			return nil, fmt.Errorf("cannot read the events table's columns: %w", err)
		}
		have[name] = typ
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("cannot read the events table's columns: %w", err)
	}
	return have, nil
}

// eventsEngine reads the engine and the settings of the table that stores the events, and its projections of visits. On
// a cluster, this table is the local table.
func eventsEngine(ctx context.Context, events driver.Conn, t insights.Topology) (engine string, visits []string, err error) {
	err = events.QueryRow(ctx, "SELECT engine_full, "+insights.VisitsOf+" FROM system.tables WHERE database = currentDatabase() AND name = {table:String}",
		driver.NamedValue{Name: "table", Value: t.LocalTable()}).Scan(&engine, &visits)
	if err != nil {
		return "", nil, fmt.Errorf("cannot read the events table's settings: %w", err)
	}
	return engine, visits, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
