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
	"github.com/octavo-docs/octavo/bench/single"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema"
)

// keyedShare is the share of requests with an Idempotency-Key.
const keyedShare = 0.3

type command struct {
	Cuts    int           `default:"21" help:"Number of power cuts. Each installation has one cut at each kind of moment; then a new one is created."`
	Rate    float64       `default:"1000" help:"Events per second."`
	Seed    uint64        `help:"Seed of the load. 0: a random one, which is printed. The moments are always random."`
	Size    int64         `default:"3072" help:"Size of the disk in MiB. The image is sparse."`
	Binary  string        `type:"path" help:"Path of an octavo binary. Default: build one from the module."`
	Catchup time.Duration `default:"3m" help:"How long the node may take to store the rest after a cut."`
	Record  bool          `help:"Keep the result in bench/results."`
	Keep    bool          `help:"Keep the log. It is always kept after a failure."`
}

func main() {
	var c command
	ctx := kong.Parse(&c, kong.Name("powercut"), kong.Description("Cuts the power under load and checks that everything acknowledged is stored afterwards, once."))
	ctx.FatalIfErrorf(ctx.Run())
}

// errBroken is the error of a run in which the node broke a promise, for example by losing an acknowledged event.
var errBroken = errors.New("a promise was broken")

// Run cuts the power, compares the acknowledged events with the stored events, and prints a report.
func (c *command) Run() (err error) {
	if os.Geteuid() != 0 {
		// Without root, Run returns nil, so that `make test-all` also succeeds for an ordinary user.
		fmt.Println("powercut: NOT RUN: only root can mount the disk whose power is cut")
		return nil
	}
	if c.Cuts < 1 || c.Rate <= 0 || c.Size < 512 {
		return errors.New("--cuts, --rate or --size is out of its range")
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64() >> 32
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := adoptOrphans(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "octavo-powercut-")
	if err != nil {
		return fmt.Errorf("cannot create a directory: %w", err)
	}
	r := &result{Seed: c.Seed, Rate: c.Rate, Wanted: c.Cuts}
	if r.Run, err = machine.Begin(ctx, "./bench/powercut"); err != nil {
		return err
	}
	tell := r.Tell
	tell("seed %d, %d cuts, %g events/s", c.Seed, c.Cuts, c.Rate)
	runErr := c.live(ctx, dir, r, tell)
	r.End()
	fmt.Print("\n", r.text())
	if c.Record && runErr == nil {
		_, runErr = r.Save("", "-powercut", map[string][]byte{".md": []byte(r.text())})
	}
	if problems := r.problems(); len(problems) > 0 && runErr == nil {
		runErr = fmt.Errorf("%w: %s", errBroken, strings.Join(problems, "; "))
	}
	if runErr != nil || c.Keep {
		fmt.Fprintln(os.Stderr, "the node's log is kept in", dir)
		return runErr
	}
	return os.RemoveAll(dir)
}

// live runs one installation after the other, each until its last power cut.
func (c *command) live(ctx context.Context, dir string, r *result, tell func(string, ...any)) (err error) {
	binary := c.Binary
	if binary == "" {
		binary = filepath.Join(dir, "octavo")
		if err := product.Build(ctx, binary); err != nil {
			return err
		}
	}
	log, err := os.OpenFile(filepath.Join(dir, "log.txt"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("cannot create a log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for len(r.Cuts) < c.Cuts && err == nil {
		err = c.oneLife(ctx, dir, binary, log, r, tell)
	}
	return err
}

func (c *command) oneLife(ctx context.Context, dir, binary string, log *os.File, r *result, tell func(string, ...any)) (err error) {
	address, err := enginetest.FreeAddress()
	if err != nil {
		return err
	}
	n := &node{single.Node{
		Binary: binary, Client: product.Client{Address: address, Token: schema.NewToken()}, Log: log,
		More: append([]string{
			"OCTAVO_RATE_LIMIT=0", "OCTAVO_MAX_CONNS_PER_IP=0", "OCTAVO_SINK_SESSION_TIMEOUT=6s",
		}, product.DoorSettings...),
	}}
	l := &life{dir: dir, picture: filepath.Join(dir, "picture.img"), size: c.Size << 20, node: n, catchup: c.Catchup, endLoad: func() {}}
	defer func() { err = errors.Join(err, l.end()) }()
	if err := l.begin(ctx); err != nil {
		return err
	}
	r.Lives++
	if err := l.prepare(ctx, c.Rate, c.Seed+uint64(r.Lives)); err != nil {
		return err
	}
	for _, m := range moments {
		if len(r.Cuts) == c.Cuts {
			break
		}
		cut, err := l.through(ctx, m)
		if err != nil {
			return err
		}
		r.Cuts = append(r.Cuts, cut)
		tell("cut %d, %s: %d events acknowledged, %d kept, %d stored; %d spaces, %d dead letters; ready after %s", len(r.Cuts), m.name, cut.Acknowledged, cut.Kept, cut.Stored,
			cut.Spaces, cut.DeadLetters, cut.ReadyAfter)
		for _, problem := range cut.Problems {
			tell("  %s", problem)
		}
	}
	r.last(l)
	return nil
}
