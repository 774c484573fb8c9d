package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema"
)

const (
	allRoles   = "api,sink,jobs"
	startLimit = 2 * time.Minute
	benchTopic = "octavo.bench"
	sinkRoles  = "api,sink"
)

// rig has the measured servers: engines and a node that this run starts with a new data directory, or a node that was
// already running.
type rig struct {
	client
	binary string
	dir    string // folder of data and logs; "" until a server is started
	keep   bool
	// database is the database with the node's events. "" means the engine's default database.
	database string
	// cached gives the node its default cache of answers. Without it, each query reads stored rows.
	cached bool

	engines *enginetest.Running // engines is nil if the node was already running, or if no engine is started yet
	node    *child
	roles   string
	bare    *child
	bareAt  string
	target
}

// target names the site to which events are sent, with its organization and a space.
type target struct{ org, site, space string }

func (t target) insights() string { return product.Insights(t.org, t.site) }

func (c *benchCmd) rig(ctx context.Context) (*rig, error) {
	r := &rig{binary: c.Binary, keep: c.Keep}
	if c.URL != "" {
		base, err := url.Parse(c.URL)
		if err != nil || base.Scheme != "http" || base.Host == "" || c.Token == "" {
			return nil, fmt.Errorf("--url %q must be an address such as http://127.0.0.1:8080, with --token", c.URL)
		}
		// A benchmark sends as much load as it can, which could harm another machine. So --url must name this machine.
		if ip := net.ParseIP(base.Hostname()); base.Hostname() != "localhost" && !ip.IsLoopback() {
			return nil, fmt.Errorf("--url %q is not on this machine", c.URL)
		}
		if base.Port() == "" {
			base.Host += ":80"
		}
		r.client = client{product.Client{Address: base.Host, Token: c.Token}}
	}
	var err error
	if slices.Contains(c.Rows, queryPart) {
		if len(c.Rows) > 1 || c.URL != "" {
			return nil, errors.New("--rows query has data and servers of its own: ask for nothing else with it")
		}
		r.dir, err = c.dataFolder()
		r.keep = true
		return r, err
	}
	if r.dir, err = os.MkdirTemp("", "octavo-bench-"); err != nil {
		return nil, fmt.Errorf("cannot create a data directory: %w", err)
	}
	return r, nil
}

// foreign reports whether the node was already running, and was not started by this run.
func (r *rig) foreign() bool { return r.node == nil && r.engines == nil && r.Address != "" }

// serve makes sure that a node runs with the roles. If `roles` is "", no node is needed.
func (r *rig) serve(ctx context.Context, roles string) error {
	switch {
	case roles == "":
		return nil
	case r.foreign():
	case r.node != nil && r.roles == roles:
		return nil
	default:
		if err := r.restart(ctx, roles); err != nil {
			return err
		}
	}
	if r.site != "" {
		return nil
	}
	return r.create(ctx)
}

func (r *rig) restart(ctx context.Context, roles string) error {
	if r.engines == nil {
		if err := r.startEngines(ctx); err != nil {
			return err
		}
	}
	if err := r.stopNode(); err != nil {
		return err
	}
	if r.Address == "" {
		// The address stays the same after restarts, because prepared requests contain it.
		var err error
		if r.Address, err = enginetest.FreeAddress(); err != nil {
			return err
		}
	}
	node, err := r.start(roles, r.Address)
	if err != nil {
		return err
	}
	r.node, r.roles = node, roles
	return node.await(ctx, startLimit, r.Ready)
}

func (r *rig) stopNode() error {
	node := r.node
	if r.node = nil; node == nil {
		return nil
	}
	return node.stop()
}

// restartAll restarts the engines and the node.
func (r *rig) restartAll(ctx context.Context) error {
	engines := r.engines
	err := errors.Join(r.stopNode(), engines.Stop())
	if r.engines = nil; err != nil {
		return err
	}
	return r.restart(ctx, r.roles)
}

func (r *rig) startEngines(ctx context.Context) (err error) {
	if r.binary == "" {
		r.binary = filepath.Join(r.dir, "octavo")
		if err := product.Build(ctx, r.binary); err != nil {
			return err
		}
	}
	if r.Token == "" {
		r.Token = schema.NewToken()
	}
	r.engines, err = enginetest.Launch{
		Binary: r.binary, Engines: []string{"postgres", "kafka", "clickhouse"}, Dir: filepath.Join(r.dir, "engines"),
		// The engines sync their writes, so that the run measures durable writes.
		Sync: true,
	}.Start(ctx)
	return err
}

// clickHouse returns the URL of the database with the node's events.
func (r *rig) clickHouse() string {
	at, err := url.Parse(r.engines.ClickHouseURL)
	if err != nil || r.database == "" {
		return r.engines.ClickHouseURL
	}
	at.Path = r.database
	return at.String()
}

// start starts a node on the engines.
func (r *rig) start(roles, address string) (*child, error) {
	settings := append(slices.Clone(product.DoorSettings),
		"OCTAVO_LOG_LEVEL=warn", "OCTAVO_OUTBOUND_ALLOW=127.0.0.1")
	if !r.cached {
		settings = append(settings, "OCTAVO_QUERY_CACHE=0")
	}
	return startChild("octavo serve --roles="+roles, filepath.Join(r.dir, "serve.log"), product.Node{
		Address: address, Roles: roles, Dir: filepath.Join(r.dir, "node"), Token: r.Token,
		Postgres: r.engines.PostgresURL, ClickHouse: r.clickHouse(), Brokers: r.engines.KafkaBrokers, Topic: benchTopic,
		KafkaUser: r.engines.KafkaLogin.User, KafkaPassword: r.engines.KafkaLogin.Password,
	}.Environment(settings...),
		nil, r.binary, "serve")
}

// startSink starts a second node, which drains the log and also answers queries. It returns the process and a client of
// the node.
func (r *rig) startSink(ctx context.Context) (*child, client, error) {
	address, err := enginetest.FreeAddress()
	if err != nil {
		return nil, client{}, err
	}
	at := client{product.Client{Address: address, Token: r.Token}}
	sink, err := r.start(sinkRoles, address)
	if err != nil {
		return nil, client{}, err
	}
	if err := sink.await(ctx, startLimit, at.Ready); err != nil {
		return nil, client{}, errors.Join(err, sink.stop())
	}
	return sink, at, nil
}

// startBare starts the bare server, the ceiling of the intake. The server is a separate process like the node, so that
// both sides run under equal conditions.
func (r *rig) startBare(ctx context.Context) error {
	if r.bare != nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot start the bare server: %w", err)
	}
	first := make(chan string, 1)
	if r.bare, err = startChild("the bare server", filepath.Join(r.dir, "bare.log"), nil, first, self, "bare"); err != nil {
		return err
	}
	select {
	case r.bareAt = <-first:
	case <-time.After(startLimit):
	case <-ctx.Done():
		return ctx.Err()
	}
	if _, _, err := net.SplitHostPort(r.bareAt); err != nil {
		return fmt.Errorf("the bare server did not print its address: %w\n%s", err, r.bare.tail())
	}
	return nil
}

// create creates the organization, site and space that the rows use.
func (r *rig) create(ctx context.Context) (err error) {
	if err = r.Call(ctx, http.MethodGet, "/v1/user", nil, http.StatusOK, nil); err != nil {
		return err
	}
	if r.org, err = r.Create(ctx, "/v1/orgs", "Benchmark"); err != nil {
		return err
	}
	if r.space, err = r.newSpace(ctx); err != nil {
		return err
	}
	r.site, err = r.newSite(ctx)
	return err
}

func (r *rig) newSpace(ctx context.Context) (string, error) {
	return r.Create(ctx, "/v1/orgs/"+url.PathEscape(r.org)+"/spaces", "Benchmark")
}

// newSite creates a site that has no events.
func (r *rig) newSite(ctx context.Context) (string, error) {
	return r.Create(ctx, "/v1/orgs/"+url.PathEscape(r.org)+"/sites", "Benchmark")
}

// stop stops all processes that this run started. It removes their data, unless `keep` is true.
func (r *rig) stop() error {
	var errs []error
	for _, c := range []*child{r.node, r.bare} {
		if c != nil {
			errs = append(errs, c.stop())
		}
	}
	if r.engines != nil {
		errs = append(errs, r.engines.Stop())
	}
	if r.keep {
		fmt.Fprintln(os.Stderr, "data and logs are kept in", r.dir)
	} else {
		errs = append(errs, os.RemoveAll(r.dir))
	}
	return errors.Join(errs...)
}
