package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/loadgen"
	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/ingest/eventgen"
)

// untilSignalled calls f at the first SIGTERM or SIGINT.
func untilSignalled(f func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() { <-signals; f() }()
}

// loadBodies returns request bodies with events of the last hour. A load sends these bodies again and again.
func (b *bench) loadBodies(events int) [][]byte {
	const eventBytes = 620
	count := max(8, b.bodies<<20/(events*eventBytes))
	generator := eventgen.New(eventgen.Options{
		Seed: uint64(events), Events: count * events, End: time.Now(), Span: time.Hour,
	})
	list := make([][]byte, count)
	for i := range list {
		list[i] = generator.AppendBatch(nil, events)
	}
	return list
}

func requests(bodies [][]byte, address, path, token string) [][]byte {
	list := make([][]byte, len(bodies))
	for i, body := range bodies {
		list[i] = loadgen.Request(http.MethodPost, address, path, token, body)
	}
	return list
}

// Only the role `api` runs. Only the role api runs. In the freshness rows, the sink runs too.
func (b *bench) intakeRows(ctx context.Context) error {
	if err := b.rig.startBare(ctx); err != nil {
		return err
	}
	budgets := map[int]float64{1: 0.6, 10: 0.7, 100: 0.8}
	for _, events := range []int{1, 10, 100} {
		if err := b.intakeRow(ctx, events, budgets[events]); err != nil {
			return fmt.Errorf("%d events per request: %w", events, err)
		}
	}
	return nil
}

func (b *bench) intakeRow(ctx context.Context, events int, atLeast float64) error {
	bodies := b.loadBodies(events)
	path := b.rig.insights() + "/events"
	node := b.rig.nodeProcess()
	side := func(address string, p machine.Process, cost *[]float64) (func() (float64, error), *loadgen.Result) {
		last := new(loadgen.Result)
		load := loadgen.Load{
			Address: address, Requests: requests(bodies, address, path, b.rig.Token),
			Connections: b.connection, Warmup: b.warmup, Duration: b.intake,
		}
		return func() (float64, error) {
			before := p.CPU()
			result, err := loadgen.Run(ctx, load)
			if address == b.rig.Address {
				b.sent += int(result.All[http.StatusNoContent]) * events
			}
			if err == nil {
				err = result.Only(http.StatusNoContent)
			}
			if err != nil {
				return 0, err
			}
			*last = result
			perSecond := result.PerSecond() * float64(events)
			// The CPU time includes the warmup, so divide it by the number of events including the warmup.
			*cost = append(*cost, (p.CPU()-before)*1e6/float64(result.All[http.StatusNoContent])/float64(events))
			return perSecond, nil
		}, last
	}
	var cost, bareCost, brokerCost []float64
	ours, last := side(b.rig.Address, node, &cost)
	if b.rig.engines != nil {
		broker, inner := machine.Process(b.rig.engines.PIDs["kafka"]), ours
		ours = func() (float64, error) {
			before, sent := broker.CPU(), b.sent
			perSecond, err := inner()
			brokerCost = append(brokerCost, (broker.CPU()-before)*1e6/float64(b.sent-sent))
			return perSecond, err
		}
	}
	ceiling, _ := side(b.rig.bareAt, b.rig.bare.process(), &bareCost)
	c, err := interleave(b.rounds, ours, ceiling)
	if err != nil {
		return err
	}
	notes := []string{latencies("closed loop, last round", last)}
	if node != 0 {
		notes = append(notes, fmt.Sprintf("processor time per event: %s µs in the node and %s µs in the log's broker, %s µs in the bare server; bare over node %.2f",
			number(spreadOf(cost).Median), number(spreadOf(brokerCost).Median), number(spreadOf(bareCost).Median), spreadOf(bareCost).Median/spreadOf(cost).Median))
	}
	half := loadgen.Load{
		Address: b.rig.Address, Requests: requests(bodies, b.rig.Address, path, b.rig.Token), Connections: b.connection,
		Rate: math.Max(1, c.ours.Median/float64(events)/2), Warmup: b.warmup, Duration: b.intake,
	}
	paced, err := loadgen.Run(ctx, half)
	b.sent += int(paced.All[http.StatusNoContent]) * events
	if err != nil {
		return err
	}
	notes = append(notes, latencies(fmt.Sprintf("open loop at half of that, %s requests/s", number(half.Rate)), &paced))
	b.report.compare(fmt.Sprintf("durable intake, %d per request", events), "bare fasthttp, sonic into a struct, 204",
		"events/s", c, &budget{AtLeast: atLeast}, notes...)
	return nil
}

// nodeProcess returns the node's process, or 0 if this run did not start it.
func (r *rig) nodeProcess() machine.Process {
	if r.node == nil {
		return 0
	}
	return r.node.process()
}

func latencies(what string, r *loadgen.Result) string {
	var list []string
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
		list = append(list, fmt.Sprintf("p%g %s", q*100, milliseconds(r.Quantile(q))))
	}
	text := fmt.Sprintf("latency, %s: %s, max %s", what, strings.Join(list, ", "), milliseconds(r.Max()))
	if err := r.Only(http.StatusNoContent); err != nil {
		text += "; " + err.Error()
	}
	return text
}

func milliseconds(d time.Duration) string {
	return number(millis(d)) + " ms"
}
