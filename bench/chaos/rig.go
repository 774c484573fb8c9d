package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/disk"
	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/witness"
	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/supervise"
	"github.com/octavo-docs/octavo/schema"
)

const (
	apiNodes, sinkNodes = 2, 2
	partitions          = 4
	diskSize            = 8 << 30 // in bytes; the file is sparse
	startLimit          = 2 * time.Minute
	// The supervisor restarts a process within restartAtMost, like a service manager, and never stops trying.
	restartAtMost = time.Second
	neverGiveUp   = 1 << 30
)

// rig has all running processes: the engines, the nodes, and the proxies between the sinks and the insights engine. It
// restarts processes that exit.
type rig struct {
	dir    string
	log    *os.File
	binary string
	disk   *disk.Disk // file system with the engines' data; nil if this process may not mount one

	// former is the binary of an earlier version, or "". isFormer reports which nodes run it.
	former   string
	mu       sync.Mutex
	isFormer map[string]bool

	clocks *clocks // nil means that the clocks always show the correct time

	session time.Duration
	topic   string
	brokers []string
	kafka   string // "embedded", "apache", or "foreign" for a broker that was already running

	engines *embedded.Engines
	nodes   *supervise.Supervisor // nodes runs the nodes and Apache Kafka
	proxies []*proxy
	store   *witness.Table
	apis    []string // addresses of the API nodes
	sinks   []string
	admins  map[string]string // addresses of the operators' listeners, by node

	client    product.Client
	org, site string
	door      string // path of the door for browsers
}

func (r *rig) insights() string { return product.Insights(r.org, r.site) }

// start starts all processes and creates a site. The caller must call `stop` even after an error.
func (r *rig) start(ctx context.Context) error {
	var err error
	if r.log, err = os.OpenFile(filepath.Join(r.dir, "log.txt"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return fmt.Errorf("cannot create a log: %w", err)
	}
	logger := slog.New(slog.NewTextHandler(r.log, nil))
	if r.binary == "" {
		r.binary = filepath.Join(r.dir, "octavo")
		var flags []string
		if r.clocks != nil {
			if flags, err = r.clocks.overlay(ctx); err != nil {
				return err
			}
		}
		if err := product.Build(ctx, r.binary, flags...); err != nil {
			return err
		}
	}
	if r.clocks != nil {
		for name, value := range r.clocks.engineEnv() {
			if err := os.Setenv(name, value); err != nil { // the engines inherit this environment
				return err
			}
		}
	}
	engines := filepath.Join(r.dir, "engines")
	if os.Geteuid() == 0 {
		r.disk = &disk.Disk{Dir: filepath.Join(r.dir, "disk"), Size: diskSize}
		if err := r.disk.Make(ctx); err != nil {
			return err
		}
		engines = filepath.Join(r.disk.Root(), "engines")
	}
	r.engines, err = embedded.Start(ctx, embedded.Config{
		DataDir: engines, Executable: r.binary, Logger: logger,
		Want:       embedded.Set{Postgres: true, ClickHouse: true, Kafka: r.kafka == "embedded"},
		BackoffMax: restartAtMost, GiveUpAfter: neverGiveUp,
	})
	if err != nil {
		return err
	}
	r.nodes = supervise.New(supervise.Config{Logger: logger, BackoffMax: restartAtMost, GiveUpAfter: neverGiveUp})
	switch r.kafka {
	case "embedded":
		r.brokers = r.engines.KafkaBrokers
	case "apache":
		if err := r.startApache(ctx); err != nil {
			return err
		}
	}
	if r.store, err = witness.OpenTable(r.engines.ClickHouseURL); err != nil {
		return err
	}
	r.client.Token = schema.NewToken()
	for i := range apiNodes {
		// Start the nodes one after the other. The first node migrates the stores and creates the topic, and the later
		// nodes need both.
		address, err := r.startNode(ctx, apiName(i), "api,jobs", r.engines.ClickHouseURL)
		if err != nil {
			return err
		}
		r.apis = append(r.apis, address)
	}
	r.client.Address = r.apis[0]
	for i := range sinkNodes {
		if err := r.startSink(ctx, i); err != nil {
			return err
		}
	}
	return r.create(ctx)
}

func apiName(i int) string  { return "api-" + strconv.Itoa(i+1) }
func sinkName(i int) string { return "sink-" + strconv.Itoa(i+1) }

// startSink starts a sink that reaches the insights engine through a proxy.
func (r *rig) startSink(ctx context.Context, i int) error {
	behind, err := url.Parse(r.engines.ClickHouseURL)
	if err != nil {
		return fmt.Errorf("cannot read the insights engine's address: %w", err)
	}
	at, err := enginetest.FreeAddress()
	if err != nil {
		return err
	}
	p, err := startProxy(ctx, at, behind.Host, r.store.Settle)
	if err != nil {
		return err
	}
	r.proxies = append(r.proxies, p)
	behind.Host = p.address()
	address, err := r.startNode(ctx, sinkName(i), "sink", behind.String())
	r.sinks = append(r.sinks, address)
	return err
}

// create creates the organization and the site that receive the events.
func (r *rig) create(ctx context.Context) (err error) {
	if r.org, err = r.client.Create(ctx, "/v1/orgs", "Chaos"); err != nil {
		return err
	}
	r.site, err = r.client.Create(ctx, "/v1/orgs/"+url.PathEscape(r.org)+"/sites", "Chaos")
	if err != nil {
		return err
	}
	r.door, err = r.client.Door(ctx, r.org, r.site, witness.EventHost)
	return err
}

// ready waits until every node is ready.
func (r *rig) ready(ctx context.Context) error {
	for _, address := range append(append([]string{}, r.apis...), r.sinks...) {
		if err := witness.Await(ctx, product.Client{Address: address}.Ready); err != nil {
			return fmt.Errorf("the node at %s is not ready: %w", address, err)
		}
	}
	return nil
}

// state returns the supervisor's state of a process by name.
func (r *rig) state(name string) supervise.State {
	for _, s := range append(r.engines.State(), r.nodes.State()...) {
		if s.Name == name {
			return s
		}
	}
	return supervise.State{}
}

// signal sends a signal to a running process, and returns the process's state before the signal.
func (r *rig) signal(name string, signal syscall.Signal) (before supervise.State, err error) {
	before = r.state(name)
	if before.Status != supervise.StatusRunning || before.PID == 0 {
		return before, fmt.Errorf("%s is not running", name)
	}
	return before, syscall.Kill(before.PID, signal)
}

// restarted waits until a killed process has been restarted and answers.
func (r *rig) restarted(ctx context.Context, before supervise.State) error {
	return witness.Await(ctx, func(context.Context) error {
		if now := r.state(before.Name); now.Status != supervise.StatusRunning || now.PID == before.PID {
			return fmt.Errorf("%s is %s", before.Name, now.Status)
		}
		return nil
	})
}

// stop stops all processes and kills processes that do not exit. If `keep` is true, the engines' data stays on the
// disk.
func (r *rig) stop(keep bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	if r.nodes != nil {
		errs = append(errs, r.nodes.Stop(ctx))
	}
	for _, p := range r.proxies {
		p.stop()
	}
	if r.store != nil {
		errs = append(errs, r.store.Close())
	}
	if r.engines != nil {
		errs = append(errs, r.engines.Stop(ctx))
	}
	if r.disk != nil && keep {
		errs = append(errs, r.disk.Unmount())
	} else if r.disk != nil {
		errs = append(errs, r.disk.Close())
	}
	if r.log != nil {
		errs = append(errs, r.log.Close())
	}
	return errors.Join(errs...)
}
