package main

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/intake"
)

// nowhere is a log that discards messages. With this log, decodeRow measures only the work of the intake before the
// append.
type nowhere struct{}

func (nowhere) Append(context.Context, string, int, []byte) error { return nil }

// decodeRow compares two functions on one core. The first decodes, validates, enriches and encodes a body. The second
// is the ceiling: it decodes the same body into a plain struct.
func (b *bench) decodeRow(ctx context.Context) error {
	const events = 100
	registry := prometheus.NewRegistry()
	intakeOnly, err := intake.New(intake.Config{Log: nowhere{}, Balances: balance.NewSites(registry), HashKey: [16]byte{1}}, intake.NewMetrics(registry))
	if err != nil {
		return err
	}
	// These bodies repeat a few user agents, like real clients. All bodies together fit into the CPU caches. With more
	// bodies, the row would measure the speed of the memory.
	bodies := b.loadBodies(events)[:min(64, b.bodies*8)]
	client := intake.Client{IP: netip.MustParseAddr("127.0.0.1"), Now: time.Now()}
	accept := func(body []byte) error {
		return intakeOnly.Accept(ctx, intake.Site{ID: "site_benchmark"}, body, client)
	}
	plain := func(body []byte) error {
		n, err := decodePlain(body)
		if err == nil && n != events {
			err = fmt.Errorf("decoded %d of %d events", n, events)
		}
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var allocations, plainAllocations float64
	c, err := interleave(b.rounds,
		func() (float64, error) { return oneCore(b.decode, bodies, events, &allocations, accept) },
		func() (float64, error) { return oneCore(b.decode, bodies, events, &plainAllocations, plain) })
	if err != nil {
		return err
	}
	b.report.compare("decode + validate + enrich + encode, one core", "sonic into a struct alone", "events/s", c, &budget{AtLeast: 0.7},
		fmt.Sprintf("allocations per event: %.3f, budget 0; the ceiling's %.1f", allocations, plainAllocations))
	return nil
}

// oneCore calls f for each body in turn, for the duration d. It returns the events per second of CPU time.
func oneCore(d time.Duration, bodies [][]byte, events int, allocations *float64, f func([]byte) error) (float64, error) {
	// The first calls warm up caches, pools and sonic's compiler.
	for _, body := range bodies {
		if err := f(body); err != nil {
			return 0, err
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, cpu := time.Now(), ownCPU()
	calls := 0
	for time.Since(began) < d {
		if err := f(bodies[calls%len(bodies)]); err != nil {
			return 0, err
		}
		calls++
	}
	// Measure CPU time, because other programs on the machine do not change it. It includes the garbage collector.
	took := ownCPU() - cpu
	runtime.ReadMemStats(&after)
	*allocations = float64(after.Mallocs-before.Mallocs) / float64(calls*events)
	return float64(calls*events) / took.Seconds(), nil
}
