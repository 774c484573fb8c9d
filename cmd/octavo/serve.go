package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/term"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/observe"
	"github.com/octavo-docs/octavo/ingest"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/store"
)

// Connections of one node to the insights store. Each use has its own, so that
// none waits for another: slow queries hold up neither the sink nor /readyz,
// and the sink, which does one thing at a time, holds up no query. Queries have
// as many as may run at once (OCTAVO_QUERY_CONCURRENCY).
const (
	sinkConnections = 2 // one may still be busy to end what was given up
	nodeConnections = 2 // migrations and /readyz
)

// ServeCmd runs the server until it is told to stop.
type ServeCmd struct {
	Settings   `embed:""`
	Quickstart bool `help:"On the first start also make an organization and a site, and print commands to try."`
}

// Run starts the parts in order, waits, and stops them in reverse.
func (c *ServeCmd) Run() error {
	ctx, stop := untilSignalled()
	defer stop()
	boundMemory()
	log := c.logger()
	n := &node{settings: &c.Settings, log: log}
	err := n.start(ctx, c.Quickstart)
	if err == nil {
		err = n.wait(ctx)
	}
	stop() // a second signal ends the process at once
	bounded, cancel := context.WithTimeout(context.Background(), c.StopTimeout)
	defer cancel()
	if stopErr := n.stop(bounded); stopErr != nil {
		err = errors.Join(err, stopErr)
	}
	// A stop that was asked for is a success, also in the middle of a start.
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// node is one running process. Its parts are started in the order of the
// members and stopped in reverse.
type node struct {
	settings *Settings
	log      *slog.Logger
	stops    []stopper

	backends *backends
	store    *store.Store
	events   driver.Conn // for migrations and /readyz
	queries  driver.Conn // nil without the role api
	setup    eventsSetup
	eventLog *ingest.Log // nil without the role api
	metrics  *observe.Metrics
	registry *prometheus.Registry
	checks   []frame.Check
	server   *frame.Server
	admin    *admin // nil if it is off
}

type stopper struct {
	part string
	stop func(context.Context) error
}

func (n *node) onStop(part string, stop func(context.Context) error) {
	n.stops = append(n.stops, stopper{part, stop})
}

func (n *node) start(ctx context.Context, example bool) error {
	began := time.Now()
	if err := n.open(ctx); err != nil {
		return err
	}
	migrations, err := n.store.Migrate(ctx)
	if err != nil {
		return err
	}
	if migrations > 0 {
		n.log.Info("migrated", "postgres", migrations)
	}
	first, err := bootstrap(ctx, n.settings, n.store, example)
	if err != nil {
		return err
	}
	if err := n.startLog(ctx); err != nil {
		return err
	}
	if err := n.buildSink(); err != nil {
		return err
	}
	if err := n.startEvents(ctx); err != nil {
		return err
	}
	n.startSweep()
	if err := n.startServer(ctx); err != nil {
		return err
	}
	n.log.Info("ready", "listen", n.server.Addr().String(), "admin", n.admin.address(), "version", buildVersion(), "roles", n.settings.Roles, "seconds", time.Since(began).Seconds())
	if !example {
		return nil
	}
	if first == nil { // the database is somebody's already
		first = &quickstart{URL: n.settings.publicURL()}
	}
	return first.print(os.Stdout, n.settings, term.IsTerminal(int(os.Stdout.Fd())))
}

// open makes the metrics, finds or starts the engines, and connects.
func (n *node) open(ctx context.Context) error {
	n.registry = prometheus.NewRegistry()
	var err error
	if n.metrics, err = observe.New(n.registry); err != nil {
		return err
	}
	if err := observe.Runtime(n.registry); err != nil {
		return err
	}
	n.backends, err = openBackends(ctx, n.settings, embedded.All, n.log, n.metrics.EngineRestarted)
	if err != nil {
		return err
	}
	n.onStop("engines", n.backends.stop)
	if n.backends.engines != nil {
		n.metrics.WatchEngines(n.backends.engines.Usage)
	}

	if n.store, err = openStore(ctx, n.settings.store(n.backends.postgresURL)); err != nil {
		return err
	}
	n.onStop("store", func(context.Context) error { n.store.Stop(); return nil })
	n.checks = append(n.checks, frame.Check{Name: "postgres", Run: n.store.Ready})

	if n.events, err = n.openEvents("insights", nodeConnections); err != nil {
		return err
	}
	n.checks = append(n.checks, frame.Check{Name: "clickhouse", Run: n.eventsReady})
	return nil
}

// openEvents makes a pool of connections to the insights store for one use.
func (n *node) openEvents(use string, connections int) (driver.Conn, error) {
	conn, err := openClickHouse(n.backends.clickHouseURL, n.settings.ClickHouseTLSCA, connections)
	if err != nil {
		return nil, err
	}
	n.onStop(use, func(context.Context) error { return conn.Close() })
	return conn, nil
}

// eventsReady says whether the insights store answers and has its table, as
// this version wants it.
func (n *node) eventsReady(ctx context.Context) error {
	if !n.setup.migrated.Load() {
		return errors.New("the insights store has not been there since the start")
	}
	have, err := eventsTable(ctx, n.events)
	if err == nil && len(have) == 0 {
		err = errors.New("there is no events table")
	}
	return err
}

// startServer starts what answers HTTP: with the role api all of it, else only
// health; and for operators their own listener.
func (n *node) startServer(ctx context.Context) error {
	proxies, err := n.settings.proxies()
	if err != nil {
		return err
	}
	cfg := frame.Config{
		Listen: n.settings.Listen, BaseURL: n.settings.publicURL(), TrustedProxies: proxies,
		RateLimit: n.settings.RateLimit, EventRateLimit: n.settings.EventRateLimit, DrainWait: n.settings.DrainWait,
		PublicRateLimit: n.settings.PublicRateLimit, WrongTokenRateLimit: n.settings.WrongTokenRateLimit,
		MaxConns: n.maxConns(), MaxConnsPerIP: n.settings.MaxConnsPerIP, BodyMemory: n.settings.BodyMemory,
	}
	deps := api.Deps{Store: n.store, Metrics: n.metrics.API, Log: n.log}
	deps.Checks = n.checks
	build := api.NewWithoutOperations
	if n.settings.has("api") {
		build = api.New
		intake, err := n.newIntake(ctx)
		if err != nil {
			return err
		}
		if n.queries, err = n.openEvents("queries", n.settings.QueryConcurrency); err != nil {
			return err
		}
		queries := n.settings.queryConfig()
		queries.Log = n.log
		fresh := ingest.NewFreshness(n.eventLog, n.settings.sinkGroup())
		fresh.Start(ctx)
		n.onStop("freshness", fresh.Stop)
		queries.FreshUntil = func(context.Context, string) (time.Time, bool) { return fresh.Until() }
		deps.Intake = eventIntake{intake}
		deps.Balances = eventBalances{n.metrics.Ingest, time.Now(), n.settings.Roles, n.eventLog, n.settings.sinkGroup()}
		deps.Insights = insightsQueries{query.New(queries, n.queries, n.metrics.Query)}
	}
	if n.server, err = build(cfg, deps); err != nil {
		return err
	}
	if err := n.startAdmin(ctx); err != nil {
		return err
	}
	if err := n.server.Start(ctx); err != nil {
		return fmt.Errorf("%w (OCTAVO_LISTEN names the address)", err)
	}
	n.onStop("api", n.server.Stop)
	go followConnections(ctx, n.server.OpenConnections)
	return nil
}

// startLog starts appending to the event log. It makes the topic, so it comes
// before the sink, which would wait for one. If Kafka is away, the log waits
// for it in the background and refuses events meanwhile.
func (n *node) startLog(ctx context.Context) error {
	if !n.settings.has("api") {
		return nil
	}
	access, err := n.backends.kafkaAccess()
	if err != nil {
		return err
	}
	n.eventLog, err = ingest.NewLog(ingest.LogConfig{
		Brokers: n.backends.kafkaBrokers, Access: access, Topic: n.settings.KafkaTopic, Logger: n.log,
		Partitions: n.settings.KafkaPartitions, Replicas: n.settings.KafkaReplicas, MinInSync: n.settings.KafkaMinInSync, Retention: n.settings.KafkaRetention,
	}, n.metrics.Ingest)
	if err != nil {
		return err
	}
	if err := n.eventLog.Start(ctx); err != nil {
		return err
	}
	n.onStop("log", n.eventLog.Stop)
	n.checks = append(n.checks, frame.Check{Name: "kafka", Run: n.eventLog.Ready})
	return nil
}

func (n *node) newIntake(ctx context.Context) (*ingest.Intake, error) {
	cfg := ingest.IntakeConfig{Log: n.eventLog, Keys: n.store, MaxFuture: n.settings.EventMaxFuture, MaxPast: n.settings.SiteKeyMaxPast}
	key, err := n.store.InsightsKey(ctx)
	if err != nil {
		return nil, err
	}
	copy(cfg.HashKey[:], key)
	if n.settings.GeoIPMMDB != "" {
		places, err := ingest.OpenPlaces(n.settings.GeoIPMMDB)
		if err != nil {
			return nil, fmt.Errorf("OCTAVO_GEOIP_MMDB: %w", err)
		}
		n.onStop("places", func(context.Context) error { return places.Close() })
		cfg.Places = places
	}
	return ingest.New(cfg, n.metrics.Ingest)
}

// buildSink makes the sink; startEvents starts it.
func (n *node) buildSink() error {
	if !n.settings.has("sink") {
		return nil
	}
	conn, err := n.openEvents("sink's store", sinkConnections)
	if err != nil {
		return err
	}
	table, err := ingest.NewClickHouse(ingest.ClickHouseConfig{Conn: conn, Cluster: n.settings.ClickHouseCluster, InsertQuorum: n.settings.ClickHouseInsertQuorum})
	if err != nil {
		return err
	}
	cfg, err := n.settings.sinkConfig(n.backends, table, n.log)
	if err != nil {
		return err
	}
	sink, err := ingest.NewSink(cfg, n.metrics.Ingest)
	if err != nil {
		return err
	}
	n.setup.sink, n.setup.table = sink, table
	n.onStop("sink", sink.Stop)
	n.checks = append(n.checks, frame.Check{Name: "sink", Run: sink.Ready})
	return nil
}

// sinkConfig is how this node's sink works, also for those that look at what
// it did.
func (s *Settings) sinkConfig(b *backends, table ingest.Store, log *slog.Logger) (ingest.SinkConfig, error) {
	access, err := b.kafkaAccess()
	return ingest.SinkConfig{
		Brokers: b.kafkaBrokers, Access: access, Topic: s.KafkaTopic, Group: s.sinkGroup(),
		Logger: log, Store: table, SessionTimeout: s.SinkSessionTimeout, MinInSync: s.KafkaMinInSync,
	}, err
}

// sinkGroup is the consumer group of all sinks.
func (s *Settings) sinkGroup() string { return s.KafkaTopic + ".sink" }

// wait returns when the process is told to stop, or when a part that it cannot
// do without has ended.
func (n *node) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		n.log.Info("stopping")
		return nil
	case err := <-n.server.Done():
		return fmt.Errorf("cannot go on serving: %w", err)
	case err := <-n.backends.failed():
		return err
	}
}

// stop ends the parts in reverse order, all of them, whatever fails.
func (n *node) stop(ctx context.Context) error {
	var errs []error
	for i := len(n.stops) - 1; i >= 0; i-- {
		if err := n.stops[i].stop(ctx); err != nil {
			errs = append(errs, fmt.Errorf("cannot stop %s: %w", n.stops[i].part, err))
		}
	}
	n.log.Info("stopped")
	return errors.Join(errs...)
}
