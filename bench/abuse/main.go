// Command abuse measures what callers who take all they can cost the others, on
// a node that is otherwise idle.
//
// Without a token, ten thousand connections: they announce a body of 8 MiB and
// send none of it, from one address and from fifty of 127.0.0.0/8; they send
// nothing, or nothing after a first request. They are opened anew when they are
// closed. The node may take --memory, and answer others at the 99th percentile
// in twice the idle time (and 5 ms).
//
// With a token, eighty heavy queries at once, again and again: another token's
// light ones may take three times as long at the 99th percentile (and 5 ms).
//
//	go run ./bench/abuse           # some ten minutes
//	go run ./bench/abuse --connections 1000 --hold 3s --rounds 1
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

type options struct {
	Connections int           `default:"10000" help:"How many are held."`
	Queries     int           `default:"80" help:"How many heavy ones are asked at once."`
	Events      int           `default:"500000" help:"How many events they are asked of."`
	Hold        time.Duration `default:"15s" help:"How long an attack goes on."`
	Rounds      int           `default:"3" help:"Of all attacks."`
	Pause       time.Duration `default:"5ms" help:"Between two requests of somebody else."`
	Memory      int           `default:"300" help:"Most that the node may take under connections, in MB."`
	Binary      string        `help:"An octavo that is built; default: build one."`
}

func main() {
	var o options
	kong.Parse(&o)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := o.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// attack is what is done to the node, and how somebody else fares meanwhile.
type attack struct {
	name      string
	addresses int
	request   string

	opened atomic.Int64    // connections, or queries
	times  []time.Duration // of somebody else
	peak   int             // of the node's memory, in MB
}

// look asks as somebody else for as long as an attack goes on.
func (a *attack) look(ctx context.Context, node *node, o options, ask question) error {
	times, peak, err := node.ask(ctx, o.Hold, o.Pause, ask)
	a.times, a.peak = append(a.times, times...), max(a.peak, peak)
	return err
}

func (o options) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "octavo-abuse-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	node, err := o.start(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Stop()) }()
	return errors.Join(o.connections(ctx, node), o.queries(ctx, node))
}

// series does each attack in turn, some rounds of all. On a shared machine the
// idle node's tail moves as well: it is looked at before each attack.
func (o options) series(ctx context.Context, node *node, ask question, attacks []*attack, do func(*attack) error) (idle *attack, err error) {
	idle = &attack{name: "idle"}
	for range o.Rounds {
		for _, a := range attacks {
			if err := idle.look(ctx, node, o, ask); err != nil {
				return nil, err
			}
			if err := do(a); err != nil {
				return nil, fmt.Errorf("%s: %w", a.name, err)
			}
		}
	}
	return idle, nil
}

// judge prints what was seen and says what is beyond its bound.
func judge(idle *attack, attacks []*attack, memory int, times float64) error {
	fmt.Printf("%-44s %8s %8s %8s %8s %8s\n", "", "peak MB", "p50 ms", "p99 ms", "asked", "attacks")
	var failed []error
	for _, a := range append([]*attack{idle}, attacks...) {
		fmt.Printf("%-44s %8d %8.2f %8.2f %8d %8d\n", a.name, a.peak, ms(a.times, 50), ms(a.times, 99), len(a.times), a.opened.Load())
		if memory > 0 && a.peak > memory {
			failed = append(failed, fmt.Errorf("%s: the node took %d MB", a.name, a.peak))
		}
		if bound := times*ms(idle.times, 99) + 5; ms(a.times, 99) > bound {
			failed = append(failed, fmt.Errorf("%s: others waited %.2f ms at the 99th percentile, else %.2f", a.name, ms(a.times, 99), ms(idle.times, 99)))
		}
	}
	return errors.Join(failed...)
}

// ms is a percentile in milliseconds.
func ms(times []time.Duration, percentile int) float64 {
	sorted := slices.Sorted(slices.Values(times))
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[min(len(sorted)-1, len(sorted)*percentile/100)]) / float64(time.Millisecond)
}
