package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/witness"
	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/cmd/engine/supervise"
)

// kind is a kind of fault. Its name appears in the output.
type kind struct {
	name    string
	weight  int      // how many times a shuffled list of faults has this kind (injector.shuffled)
	targets []string // processes that can have the fault; each has at most one fault at a time
	// inject injects the fault and returns after the target has recovered or ctx is done. It returns errNotInjected if
	// the fault was not possible at this time.
	inject func(ctx context.Context, target string, variant int) error
}

var errNotInjected = errors.New("not injected")

const (
	// recoverLimit is the longest time that a fault waits until its target has recovered. Other faults are injected
	// during this wait.
	recoverLimit = 30 * time.Second
	// insertLimit is the longest time that a fault waits for an insert.
	insertLimit = 10 * time.Second
)

// kinds returns all kinds of faults that the rig supports.
func (r *rig) kinds() []kind {
	var apis, sinks []string
	for i := range apiNodes {
		apis = append(apis, apiName(i))
	}
	for i := range sinkNodes {
		sinks = append(sinks, sinkName(i))
	}
	list := []kind{
		{"api killed", 1, apis, r.kill},
		{"sink killed", 2, sinks, r.kill},
		{"insights engine killed", 1, []string{embedded.ClickHouse}, r.kill},
		{"postgres killed", 1, []string{embedded.Postgres}, r.kill},
		{"sink paused across a rebalance", 2, sinks, r.pause},
		{"insert cut before its answer", 2, sinks, r.cut},
	}
	if r.former != "" {
		list = append(list, kind{nodeExchanged, 2, slices.Concat(apis, sinks), r.exchange})
	}
	if r.clocks != nil {
		list = append(list, kind{clockStepped, 2, slices.Concat(apis, sinks, []string{machineClock}), r.stepClock})
	}
	if r.disk != nil {
		list = append(list, kind{"disk full", 1, []string{diskTarget}, r.fillDisk})
	}
	if r.kafka != "foreign" {
		list = append(list,
			kind{"broker killed", 1, []string{embedded.Kafka}, r.kill},
			kind{brokerPaused, 1, []string{embedded.Kafka}, r.pauseBroker})
	}
	return list
}

// kill sends SIGKILL to a process, and waits until the process has been restarted.
func (r *rig) kill(ctx context.Context, target string, _ int) error {
	before, err := r.signal(target, syscall.SIGKILL)
	if err != nil {
		return errNotInjected
	}
	return r.restarted(ctx, before)
}

// nodeExchanged is a fault: a step of a rolling upgrade or downgrade.
const nodeExchanged = "node exchanged for the other version"

// exchange stops a node with SIGTERM, as an operator does, and restarts it with the binary of the other version.
func (r *rig) exchange(ctx context.Context, target string, _ int) error {
	r.mu.Lock()
	r.isFormer[target] = !r.isFormer[target]
	r.mu.Unlock()
	before, err := r.signal(target, syscall.SIGTERM)
	if err != nil {
		return errNotInjected // the process is still starting, with the old or the new version
	}
	return r.restarted(ctx, before)
}

// diskTarget is the target of a fault of the file system with the engines' data.
const diskTarget = "disk"

// fillDisk fills the engines' disk for a few seconds, so that the engines have no free space.
func (r *rig) fillDisk(ctx context.Context, _ string, variant int) error {
	free, err := r.disk.Fill(ctx)
	if err != nil {
		return errNotInjected
	}
	time.Sleep(2*time.Second + time.Duration(variant%6)*time.Second)
	if err := free(); err != nil {
		return err
	}
	return r.ready(ctx)
}

// pause stops a sink for longer than its session timeout and then wakes it. It stops the sink at a random time, or when
// the sink begins an insert. In the second case, the sink continues the insert after another sink has taken over the
// partition.
func (r *rig) pause(ctx context.Context, target string, variant int) error {
	paused, err := r.state(target), error(nil)
	stop := func() { paused, err = r.signal(target, syscall.SIGSTOP) }
	if variant%3 == 0 {
		stop()
	} else {
		waiting, cancel := context.WithTimeout(ctx, insertLimit)
		defer cancel()
		if !r.proxyOf(target).atInsert(waiting, stop) {
			return errNotInjected
		}
	}
	if err != nil {
		return errNotInjected
	}
	if variant%4 == 0 {
		return r.wake(paused, r.session) // the sink continues at about the time at which it loses its partitions
	}
	time.Sleep(r.session)
	moved := witness.Await(ctx, func(ctx context.Context) error { return r.othersHaveAll(ctx, target) })
	if err := r.wake(paused, 0); err != nil {
		return err
	}
	if moved != nil {
		return errNotInjected // the other sink was not running, so there was no rebalance
	}
	return nil
}

// stalledSeries is a metric that a sink exports for each of its partitions.
const stalledSeries = "octavo_sink_stalled_seconds{"

// othersHaveAll returns nil if all partitions are assigned to sinks other than `but`.
func (r *rig) othersHaveAll(ctx context.Context, but string) error {
	have := 0
	for i := range r.sinks {
		if sinkName(i) == but {
			continue
		}
		metrics, err := product.Client{Address: r.admins[sinkName(i)]}.Read(ctx, "/metrics")
		if err != nil {
			return err
		}
		have += strings.Count(string(metrics), "\n"+stalledSeries)
	}
	if have != partitions {
		return fmt.Errorf("the others have %d of %d partitions", have, partitions)
	}
	return nil
}

const brokerPaused = "broker paused past a produce"

// produceLimit is longer than the time that the intake allows for one attempt to append.
const produceLimit = 5500 * time.Millisecond

// pauseBroker stops the broker until the intake has retried an append. When the broker continues, it receives both
// attempts, and must store the messages only once.
func (r *rig) pauseBroker(ctx context.Context, target string, variant int) error {
	before := r.failedProduces(ctx)
	paused, err := r.signal(target, syscall.SIGSTOP)
	if err != nil {
		return errNotInjected
	}
	if err := r.wake(paused, produceLimit+time.Duration(variant%4)*500*time.Millisecond); err != nil {
		return err
	}
	for api, n := range r.failedProduces(ctx) {
		if n != cmp.Or(before[api], "0") { // a node without an earlier value has just started, so it counted from 0
			return nil
		}
	}
	return errNotInjected // at this time, no API node was waiting for an append
}

// failedProduces returns the number of failed attempts to produce of each API node that answers.
func (r *rig) failedProduces(ctx context.Context) map[string]string {
	const series = "\noctavo_log_produce_errors_total "
	found := map[string]string{}
	for i := range r.apis {
		metrics, err := product.Client{Address: r.admins[apiName(i)]}.Read(ctx, "/metrics")
		if err != nil {
			continue
		}
		if _, rest, ok := strings.Cut(string(metrics), series); ok {
			found[apiName(i)], _, _ = strings.Cut(rest, "\n")
		}
	}
	return found
}

// wake continues a stopped process after a delay. The delay is part of the fault, so it cannot be interrupted.
func (r *rig) wake(paused supervise.State, after time.Duration) error {
	time.Sleep(after)
	if now := r.state(paused.Name); now.PID != paused.PID {
		return nil // the process exited during the pause
	}
	return syscall.Kill(paused.PID, syscall.SIGCONT)
}

// cut closes a sink's connection after ClickHouse has stored the rows of an insert and before the sink receives the
// response.
func (r *rig) cut(ctx context.Context, target string, _ int) error {
	waiting, cancel := context.WithTimeout(ctx, insertLimit)
	defer cancel()
	// If ClickHouse refused the insert, or no insert got a response in time, no fault was injected.
	if applied, cut := r.proxyOf(target).cutNext(waiting); !cut || !applied {
		return errNotInjected
	}
	return nil
}

func (r *rig) proxyOf(sink string) *proxy {
	for i, p := range r.proxies {
		if sinkName(i) == sink {
			return p
		}
	}
	panic("BUG: no proxy of " + sink)
}
