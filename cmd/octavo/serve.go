package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/jobs"
	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/engine/memory"
	"github.com/octavo-docs/octavo/cmd/observe"
	"github.com/octavo-docs/octavo/ingest/erasure"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/intake"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// These are the numbers of connections of a node to the insights store. Each use has a separate pool. So slow queries
// do not delay the sink and /readyz. The sink runs one statement at a time, and does not delay queries. Queries have a
// connection for each statement that may run concurrently (query.Connections).
const (
	sinkConnections = 2 // one connection may still be ending an abandoned statement
	nodeConnections = 2 // migrations and /readyz
)

// ServeCmd runs the server until it is told to stop.
type ServeCmd struct {
	Settings   `embed:""`
	Quickstart bool     `help:"On the first start, also create an organization and a site, and print commands to try."`
	AcceptLoss []string `enum:"postgres,kafka,clickhouse" help:"Embedded engines that start although their folder is empty, damaged, or older than the rest of the data directory. What is missing stays missing: first try to restore the data directory."`
}

// Run starts the parts in order, waits for a signal or a failure, and stops the parts in reverse order.
func (c *ServeCmd) Run() error {
	ctx, stop := untilSignalled()
	defer stop()
	log := c.logger()
	z, err := c.sizes(os.DirFS("/"))
	if err != nil {
		return err
	}
	z.bound()
	z.log(log)
	n := &node{settings: &c.Settings, sizes: z, load: newLoad(log), log: log, acceptLoss: c.AcceptLoss}
	defer n.load.Stop()
	err = n.start(ctx, c.Quickstart)
	if err == nil {
		err = n.wait(ctx)
	}
	stop() // a second signal ends the process immediately
	bounded, cancel := context.WithTimeout(context.Background(), c.StopTimeout)
	defer cancel()
	if stopErr := n.stop(bounded); stopErr != nil {
		err = errors.Join(err, stopErr)
	}
	// A requested stop is a success, even during the start.
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// node is one running process. It starts its parts in the order of the members, and stops them in reverse order.
type node struct {
	settings   *Settings
	sizes      *sizes
	load       *memory.Load // the embedded engines' measured load
	acceptLoss []string     // see ServeCmd
	log        *slog.Logger
	stops      []stopper

	backends *backends
	store    *store.Store
	events   driver.Conn // for migrations and /readyz
	queries  driver.Conn // queries is nil without the role api
	// queryService answers queries; nil without the role api, and until it starts.
	queryService atomic.Pointer[query.Service]
	setup        eventsSetup
	clocks       *clockWatch
	rows         *rowsWatch
	erased       *erasure.List // erased is nil without the role sink
	eventLog     *eventlog.Log // eventLog is nil without the role api
	metrics      *observe.Metrics
	registry     *prometheus.Registry
	checks       []frame.Check
	jobs         *jobs.Runner // jobs is nil without the role jobs
	server       *frame.Server
	admin        *admin // admin is nil if the operators' listener is off
}

type stopper struct {
	part string
	stop func(context.Context) error
}

func (n *node) onStop(part string, stop func(context.Context) error) {
	n.stops = append(n.stops, stopper{part, stop})
}

// background runs a loop until the node stops.
func (n *node) background(part string, run func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	n.onStop(part, func(context.Context) error {
		cancel()
		<-done
		return nil
	})
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
		n.log.Info("Postgres is migrated.", "postgres", migrations)
	}
	if err := n.noteLosses(ctx); err != nil {
		return err
	}
	first, err := bootstrap(ctx, n.settings, n.store, example)
	if err != nil {
		return err
	}
	n.clocks = n.newClockWatch()
	if n.rows, err = n.newRowsWatch(); err != nil {
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
	n.background("watch over clocks", n.clocks.run)
	n.background("notices about stored events", n.rows.follow)
	n.background("watch over stored events", n.rows.run)
	n.background("verification of stored data", n.newVerifyWatch().run)
	if err := n.startJobs(ctx); err != nil {
		return err
	}
	if err := n.startServer(ctx); err != nil {
		return err
	}
	n.background("memory limit", func(ctx context.Context) { n.sizes.follow(ctx, n.use) })
	n.log.Info("Octavo is ready.", "listen", n.server.Addr().String(), "admin", n.admin.address(), "version", buildVersion(), "roles", n.settings.Roles, "seconds", time.Since(began).Seconds())
	if !example {
		return nil
	}
	if first == nil { // the database was set up earlier, without a quickstart
		first = &quickstart{URL: n.settings.publicURL()}
	}
	link, toPerson := "", isTerminal(os.Stdout)
	if toPerson {
		if link, err = first.signInLink(ctx, n.store); err != nil {
			return err
		}
	}
	return first.print(os.Stdout, n.settings, link, toPerson)
}

// use returns the present numbers that determine the node's memory limit.
func (n *node) use() use {
	return use{
		connections: n.server.OpenConnections(),
		git:         n.jobs != nil && n.jobs.Running()[schema.SyncGit{}.Kind()] > 0,
	}
}

// noteLosses writes the losses that the operator accepted for the embedded engines into the audit log.
func (n *node) noteLosses(ctx context.Context) error {
	if n.backends.engines == nil || len(n.backends.engines.Losses()) == 0 {
		return nil
	}
	for engine, loss := range n.backends.engines.Losses() {
		by := postgres.By(ctx, operator("serve --accept-loss "+engine))
		if err := n.store.NoteAcceptedLoss(by, engine, loss); err != nil {
			return fmt.Errorf("cannot note that a loss is accepted: %w", err)
		}
	}
	return n.backends.engines.ForgetLosses()
}

// open creates the metrics, starts the embedded engines, and connects to Postgres and the insights store.
func (n *node) open(ctx context.Context) error {
	n.registry = prometheus.NewRegistry()
	var err error
	if n.metrics, err = observe.New(n.registry); err != nil {
		return err
	}
	if err := observe.Runtime(n.registry); err != nil {
		return err
	}
	n.backends, err = openBackends(ctx, n.settings, embedded.Config{
		Want: embedded.All, AcceptLoss: n.acceptLoss, Logger: n.log, OnRestart: n.metrics.EngineRestarted,
		Memory: n.sizes.engines(), Load: n.load,
	})
	if err != nil {
		return err
	}
	n.onStop("engines", n.backends.stop)
	if n.backends.engines != nil {
		n.metrics.WatchEngines(n.backends.engines.Usage)
	}

	if n.store, err = openStore(ctx, n.settings.postgres(n.backends.postgresURL), n.settings.store()); err != nil {
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

// eventsReady returns nil if the insights store answers and its table is migrated to this version. Otherwise it returns
// an error.
func (n *node) eventsReady(ctx context.Context) error {
	if refused := n.setup.refused.Load(); refused != nil {
		return *refused
	}
	if !n.setup.migrated.Load() {
		return errors.New("the insights store has not answered since this node started")
	}
	have, err := eventsTable(ctx, n.events)
	if err == nil && len(have) == 0 {
		err = errors.New("there is no events table")
	}
	return err
}

// startServer starts the HTTP server and the operators' listener. Without the role api, the HTTP server serves only
// health checks.
func (n *node) startServer(ctx context.Context) error {
	proxies, err := n.settings.proxies()
	if err != nil {
		return err
	}
	origins, err := n.settings.trustedOrigins()
	if err != nil {
		return err
	}
	cfg := frame.Config{
		Listen: n.settings.Listen, BaseURL: n.settings.publicURL(), TrustedProxies: proxies, TrustedOrigins: origins,
		RateLimit: n.settings.RateLimit, EventRateLimit: n.settings.EventRateLimit,
		KeyRateLimit: n.settings.PublishableKeyRateLimit, DrainWait: n.settings.DrainWait,
		PublicRateLimit: n.settings.PublicRateLimit, WrongTokenRateLimit: n.settings.WrongTokenRateLimit,
		MaxConns: n.maxConns(), MaxConnsPerIP: n.settings.MaxConnsPerIP, BodyMemory: int(n.sizes.bodies),
		AnswerMemory: int(n.sizes.answers),
	}
	deps := api.Deps{Store: n.store, Metrics: n.metrics.API, Log: n.log}
	deps.Checks = n.checks
	build := api.NewWithoutOperations
	if n.settings.has("api") {
		build = api.New
		if deps.Outbound, err = n.settings.outbound(); err != nil {
			return err
		}
		if deps.FrontEnds, _, err = openedByName("OCTAVO_FRONT_ENDS", n.settings.FrontEnds); err != nil {
			return err
		}
		if deps.SSO, err = n.settings.sso(); err != nil {
			return err
		}
		events, err := n.newIntake(ctx)
		if err != nil {
			return err
		}
		n.followAgents(events)
		if n.queries, err = n.openEvents("queries", query.Connections(n.sizes.queries)); err != nil {
			return err
		}
		queries := n.settings.queryConfig(n.sizes)
		queries.Log, queries.Halvings = n.log, n.load.Halvings
		known := newQueriedSites(n.store, n.settings.publicURL(), n.log)
		queries.Site = known.of
		queries.Segment, queries.Pages = segmentOf(n.store), n.store.SitePages
		fresh := sink.NewFreshness(n.eventLog, n.settings.sinkGroup(), n.log)
		fresh.Start(ctx)
		n.onStop("freshness", fresh.Stop)
		queries.FreshUntil = func(context.Context, string) (time.Time, bool) { return fresh.Until() }
		deps.Intake = eventIntake{events}
		deps.Balances = eventBalances{
			n.metrics.Balances, time.Now(), n.settings.Roles, n.eventLog, n.settings.sinkGroup(), n.rows.missing,
		}
		queries.Missing, queries.Damaged = n.rows.missing, n.rows.suspect
		if deps.Erasures, err = n.newErasures(ctx); err != nil {
			return err
		}
		service := query.New(queries, n.queries, n.metrics.Query)
		n.queryService.Store(service)
		deps.Insights = insightsQueries{service, known}
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
	return nil
}

// startLog starts the event log's producer. The producer creates the topic, so it starts before the sink, which waits
// for the topic. If Kafka does not answer, the log refuses events and tries to connect in the background.
func (n *node) startLog(ctx context.Context) error {
	if !n.settings.has("api") {
		return nil
	}
	access, err := n.backends.kafkaAccess()
	if err != nil {
		return err
	}
	n.eventLog, err = eventlog.New(eventlog.Config{
		Brokers: n.backends.kafkaBrokers, Access: access, Topic: n.settings.KafkaTopic, Logger: n.log,
		Partitions: n.settings.KafkaPartitions, Replicas: n.settings.KafkaReplicas, MinInSync: n.settings.KafkaMinInSync, Retention: n.settings.KafkaRetention,
		Turn: n.settings.SinkPause,
	}, n.metrics.Log)
	if err != nil {
		return err
	}
	if err := n.eventLog.Start(ctx); err != nil {
		return err
	}
	n.onStop("log", n.eventLog.Stop)
	n.checks = append(n.checks, frame.Check{Name: "kafka", Run: n.logReady})
	return nil
}

// logReady reports to /readyz whether the log accepts events. If the log is full, /readyz shows the word "full".
func (n *node) logReady(ctx context.Context) error {
	err := n.eventLog.Ready(ctx)
	if errors.Is(err, eventlog.ErrFull) {
		return &frame.Condition{Word: "full", Err: err}
	}
	return err
}

func (n *node) newIntake(ctx context.Context) (*intake.Intake, error) {
	cfg := intake.Config{
		Log: n.eventLog, Balances: n.metrics.Balances, Keys: n.store.Sites, MaxFuture: n.settings.EventMaxFuture,
		MaxPast: n.settings.SiteKeyMaxPast, Salts: intake.NewSalts(n.store.Sites, n.log), Logger: n.log,
	}
	cfg.Salts.Start(ctx)
	n.onStop("salts", cfg.Salts.Stop)
	key, err := n.store.InsightsKey(ctx)
	if err != nil {
		return nil, err
	}
	copy(cfg.HashKey[:], key)
	if n.settings.GeoIPMMDB != "" {
		places, err := intake.OpenPlaces(n.settings.GeoIPMMDB)
		if err != nil {
			return nil, fmt.Errorf("OCTAVO_GEOIP_MMDB: %w", err)
		}
		n.onStop("places", func(context.Context) error { return places.Close() })
		cfg.Places = places
	}
	in, err := intake.New(cfg, n.metrics.Intake)
	if err == nil {
		n.onStop("finished keys", in.Stop)
	}
	return in, err
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
	table, err := eventstore.New(eventstore.Config{Conn: conn, Cluster: n.settings.ClickHouseCluster, InsertQuorum: n.settings.ClickHouseInsertQuorum})
	if err != nil {
		return err
	}
	cfg, err := n.settings.sinkConfig(n.backends, table, n.log)
	if err != nil {
		return err
	}
	cfg.Balances = n.metrics.Balances
	n.erased = erasure.NewList(n.store.Sites, 0, n.log)
	if err := n.erased.Start(context.Background()); err != nil {
		return err
	}
	n.onStop("erased visitors", n.erased.Stop)
	cfg.Erased, cfg.Rows, cfg.Damaged = n.erased, n.store.Rows, n.rows.suspect
	cfg.BatchRows, cfg.BatchBytes, cfg.Halvings = n.sizes.batchRows, n.sizes.batchBytes, n.load.Halvings
	events, err := sink.New(cfg, n.metrics.Sink)
	if err != nil {
		return err
	}
	n.setup.sink, n.setup.table = events, table
	n.onStop("sink", events.Stop)
	n.checks = append(n.checks, frame.Check{Name: "sink", Run: events.Ready})
	return nil
}

// sinkConfig returns the settings of this node's sink. `octavo reconcile` reads the log and the table with the same
// settings.
func (s *Settings) sinkConfig(b *backends, table eventstore.Store, log *slog.Logger) (sink.Config, error) {
	access, err := b.kafkaAccess()
	return sink.Config{
		Brokers: b.kafkaBrokers, Access: access, Topic: s.KafkaTopic, Group: s.sinkGroup(),
		Logger: log, Store: table, SessionTimeout: s.SinkSessionTimeout, BatchAge: s.SinkPause,
		MinInSync: s.KafkaMinInSync,
	}, err
}

// sinkGroup returns the name of the consumer group of all sinks.
func (s *Settings) sinkGroup() string { return s.KafkaTopic + ".sink" }

// wait returns nil on a signal to stop. It returns an error if the server or an embedded engine has failed and will not
// recover.
func (n *node) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		n.log.Info("Octavo is stopping.")
		return nil
	case err := <-n.server.Done():
		return fmt.Errorf("the server failed: %w", err)
	case err := <-n.backends.failed():
		return err
	}
}

// stop stops the parts in reverse order. If one part fails to stop, the other parts are still stopped.
func (n *node) stop(ctx context.Context) error {
	var errs []error
	for i := len(n.stops) - 1; i >= 0; i-- {
		if err := n.stops[i].stop(ctx); err != nil {
			errs = append(errs, fmt.Errorf("cannot stop %s: %w", n.stops[i].part, err))
		}
	}
	n.log.Info("Octavo has stopped.")
	return errors.Join(errs...)
}
