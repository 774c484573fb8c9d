package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/witness"
)

type command struct {
	Faults   int           `default:"300" help:"Number of faults to inject."`
	Duration time.Duration `default:"18m" help:"Time over which faults are spread. It may take up to four times as long if targets recover slowly."`
	Seed     uint64        `help:"Seed of everything random. 0: a random one, which is printed."`
	Rate     float64       `default:"1000" help:"Events per second."`
	Keyed    float64       `default:"${keyed}" help:"Share of requests with an Idempotency-Key, which are sent until they are acknowledged, some to two nodes at once."`
	Session  time.Duration `default:"6s" help:"The sinks' session timeout, after which a paused sink loses its partitions. Apache Kafka allows no less than 6s."`
	Kafka    string        `default:"embedded" enum:"embedded,apache" help:"Broker to start. OCTAVO_TEST_KAFKA_BROKERS names a running one instead, which is not killed."`
	Brokers  []string      `env:"OCTAVO_TEST_KAFKA_BROKERS" help:"Addresses of running brokers."`
	Binary   string        `type:"path" help:"Path of an octavo binary. Default: build one from the module."`
	Former   string        `help:"Earlier commit of the same baseline, for rolling upgrades. Default: none."`
	Clocks   bool          `help:"Step clocks, too. The build takes minutes. Engines need Debian's libfaketime."`
	Catchup  time.Duration `default:"5m" help:"How long the sinks may take to store the rest after the faults."`
	Record   bool          `help:"Keep the result in bench/results."`
	Keep     bool          `help:"Keep data and logs. They are always kept after a failure."`
}

// keyedByDefault is the share of requests with an Idempotency-Key.
const keyedByDefault = "0.3"

func main() {
	var c command
	ctx := kong.Parse(&c, kong.Name("chaos"), kong.Description("Checks that everything acknowledged is stored once, through faults of every process."),
		kong.Vars{"keyed": keyedByDefault})
	ctx.FatalIfErrorf(ctx.Run())
}

// errBroken is the error of a run in which the node broke a promise, for example by losing an acknowledged event.
var errBroken = errors.New("a promise was broken")

// Run injects faults under load, compares the acknowledged events with the stored rows, and prints a report.
func (c *command) Run() (err error) {
	if c.Faults < 0 || c.Duration <= 0 || c.Rate <= 0 || c.Keyed < 0 || c.Keyed > 1 || c.Session < 3*time.Second {
		return errors.New("--faults, --duration, --rate, --keyed or --session is out of its range")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if c.Seed == 0 {
		c.Seed = rand.Uint64() >> 32
	}
	dir, err := os.MkdirTemp("", "octavo-chaos-")
	if err != nil {
		return fmt.Errorf("cannot create a data directory: %w", err)
	}
	result := &result{Seed: c.Seed, Rate: c.Rate, Wanted: c.Faults}
	if result.Run, err = machine.Begin(ctx, "./bench/chaos"); err != nil {
		return err
	}
	tell := result.Tell
	tell("seed %d, %d faults over %s, %g events/s", c.Seed, c.Faults, c.Duration, c.Rate)
	r := &rig{dir: dir, binary: c.Binary, session: c.Session, kafka: c.Kafka, topic: fmt.Sprintf("octavo.chaos.%d", time.Now().UnixNano())}
	if c.Former != "" && product.Shallow(ctx) {
		tell("NOT RUN: nodes are not switched to commit %s, which this shallow clone lacks", c.Former)
		c.Former = ""
	}
	if c.Former != "" {
		r.former, r.isFormer = filepath.Join(dir, "octavo-"+c.Former), map[string]bool{}
		if err := product.BuildCommit(ctx, c.Former, r.former); err != nil {
			return err
		}
	}
	if c.Clocks {
		if c.Binary != "" || c.Former != "" {
			return errors.New("--clocks builds the binary itself: give no --binary or --former")
		}
		room, err := os.MkdirTemp("", "octavo-chaos-clocks-")
		if err != nil {
			return fmt.Errorf("cannot create a folder for clocks: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(room)) }()
		if r.clocks, err = newClocks(room, faketimeGlob); err != nil {
			return err
		}
		if r.clocks.faketime == "" {
			tell("NOT STEPPED: the clocks of Postgres and ClickHouse, without Debian's package libfaketime")
		}
	}
	if len(c.Brokers) > 0 {
		r.kafka, r.brokers = "foreign", c.Brokers
	}
	result.Broker = r.kafka
	defer func() {
		err = errors.Join(err, r.stop(err != nil || c.Keep))
		if err != nil || c.Keep {
			fmt.Fprintln(os.Stderr, "data and logs are kept in", dir)
		} else {
			err = os.RemoveAll(dir)
		}
	}()
	if err := c.shake(ctx, r, result, tell); err != nil {
		return err
	}
	result.End()
	fmt.Print("\n", result.text())
	if c.Record {
		if err := result.save(); err != nil {
			return err
		}
	}
	if problems := result.problems(); len(problems) > 0 {
		return fmt.Errorf("%w: %s", errBroken, strings.Join(problems, "; "))
	}
	return nil
}

// shake starts the rig, sends load, injects faults and compares.
func (c *command) shake(ctx context.Context, r *rig, result *result, tell func(string, ...any)) error {
	if err := r.start(ctx); err != nil {
		return err
	}
	tell("everything is running: %d API nodes, %d sinks, the %s broker", apiNodes, sinkNodes, r.kafka)
	l := witness.NewLoad(c.Rate, c.Keyed, r.insights()+"/events", r.client.Token, r.apis, c.Seed)
	if c.Former == "" { // a former version may not have the door
		l.Through(r.door)
	}
	loading, endLoad := context.WithCancel(ctx)
	defer endLoad()
	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		l.Run(loading)
	}()
	in := newInjector(r.kinds(), c.Seed, tell)
	bounded, cancel := context.WithTimeout(ctx, 4*c.Duration)
	in.run(bounded, c.Faults, c.Duration)
	cancel()
	result.Faults = in.done
	endLoad()
	<-loaded
	tell("the load ends")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	settling, cancel := context.WithTimeout(ctx, c.Catchup)
	defer cancel()
	if err := r.ready(settling); err != nil {
		return err
	}
	l.Finish()
	result.Sent = l.Count()
	tell("every node is ready, every request was answered or given up: %d events acknowledged", result.Sent.Acknowledged)
	result.requests = l.Requests()
	began := time.Now()
	if err := r.caughtUp(settling); err != nil {
		result.Stuck = err.Error()
	}
	result.Catchup = time.Since(began).Round(time.Millisecond).String()
	tell("the sinks have caught up after %s", result.Catchup)
	rows, err := r.store.Read(ctx, r.site)
	if err != nil {
		return err
	}
	result.Verdict = witness.Compare(result.requests, rows)
	result.Log, err = r.reconcile(ctx)
	return err
}
