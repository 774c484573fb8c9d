// Command abuse measures how much clients that use many resources slow down other clients. The node has no other load.
//
// Attackers without a token hold ten thousand connections. Some connections announce a body of 8 MiB and send none of
// it, from one address and from fifty addresses of 127.0.0.0/8. Other connections send nothing, or nothing after a
// first request. The attackers reopen connections that the node closes. The node's memory must not exceed --memory. The
// 99th percentile of its response times to other clients must not exceed twice the time on an idle node plus 5 ms.
//
// 1,500 connections that do not read large answers must not add more than 60 MB to the node's memory. A merge with a
// rule that computes large values must not take more than 2 s and 64 MB.
//
// The jobs of one user connect to hosts that send one byte every four seconds. During this time, a job of another user
// must be done within 30 s, and an import of 200 MB within five minutes.
//
// Five hundred addresses send a thousand requests a second to the operation for browsers: with made-up keys, with one
// key, with one repeated batch, and for other hosts. The 99th percentile of the response times to other clients must
// not exceed twice the time on an idle node plus 5 ms.
//
// An attacker with a token repeatedly runs eighty concurrent heavy queries. The 99th percentile of the times of light
// queries with another token must not exceed three times the time on an idle node plus 5 ms.
//
//	go run ./bench/abuse           # about ten minutes
//	go run ./bench/abuse --connections 1000 --hold 3s --rounds 1
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

type options struct {
	Connections int           `default:"10000" help:"Number of connections to hold."`
	Queries     int           `default:"80" help:"Number of concurrent heavy queries."`
	Events      int           `default:"500000" help:"Number of events that are queried."`
	Hold        time.Duration `default:"15s" help:"Duration of each attack."`
	Rounds      int           `default:"3" help:"Rounds of all attacks."`
	Pause       time.Duration `default:"5ms" help:"Pause between requests of the other client."`
	Memory      int           `default:"300" help:"Memory that the node may use under connections, in MB."`
	Rows        []string      `help:"The rows to run: unread, bombs, tarpits, connections, door, queries. Default: all."`
	Binary      string        `help:"Path of an octavo binary. Default: build one."`
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

// attack is a kind of attack on the node, with the measurements that a well-behaved client made during the attack.
type attack struct {
	name      string
	addresses int
	request   string

	opened atomic.Int64    // number of opened connections, or of sent requests
	times  []time.Duration // response times of the other client
	peak   int             // peak memory of the node, in MB
}

// look measures requests of a well-behaved client, and adds the results to the attack `a`.
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
	var failed []error
	for _, row := range []struct {
		name string
		run  func() error
	}{
		{"unread", func() error { return o.unread(ctx, node) }},
		{"bombs", func() error { return o.bombs(ctx, node) }},
		{"tarpits", func() error { return o.tarpits(ctx, node, filepath.Join(dir, "repositories")) }},
		{"connections", func() error { return o.connections(ctx, node) }},
		{"door", func() error { return o.door(ctx, node) }},
		{"queries", func() error { return o.queries(ctx, node) }},
	} {
		if len(o.Rows) == 0 || slices.Contains(o.Rows, row.name) {
			failed = append(failed, row.run())
		}
	}
	return errors.Join(failed...)
}

// series runs all attacks, one after the other, for several rounds. Before each attack, it also measures the idle node,
// because the longest response times of an idle node vary on a shared machine.
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

// judge prints the measurements and returns an error for each exceeded limit.
func judge(idle *attack, attacks []*attack, memory int, times float64) error {
	fmt.Printf("%-44s %8s %8s %8s %8s %8s\n", "", "peak MB", "p50 ms", "p99 ms", "asked", "attacks")
	var failed []error
	for _, a := range append([]*attack{idle}, attacks...) {
		fmt.Printf("%-44s %8d %8.2f %8.2f %8d %8d\n", a.name, a.peak, ms(a.times, 50), ms(a.times, 99), len(a.times), a.opened.Load())
		if memory > 0 && a.peak > memory {
			failed = append(failed, fmt.Errorf("%s: the node used %d MB", a.name, a.peak))
		}
		if bound := times*ms(idle.times, 99) + 5; ms(a.times, 99) > bound {
			failed = append(failed, fmt.Errorf("%s: others waited %.2f ms at the 99th percentile, %.2f ms when idle", a.name, ms(a.times, 99), ms(idle.times, 99)))
		}
	}
	return errors.Join(failed...)
}

// ms returns a percentile of times, in milliseconds.
func ms(times []time.Duration, percentile int) float64 {
	sorted := slices.Sorted(slices.Values(times))
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[min(len(sorted)-1, len(sorted)*percentile/100)]) / float64(time.Millisecond)
}
