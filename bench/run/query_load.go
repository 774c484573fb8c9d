package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/octavo-docs/octavo/bench/loadgen"
)

// crowd has the results of several clients. Each client sends its next query as soon as the previous query is answered.
type crowd struct {
	times  []float64
	failed []error
}

// askTogether runs several clients that query the panels for the duration `span`. All clients use the same shuffled
// order, and each client starts at another panel.
func (b *bench) askTogether(ctx context.Context, panels []panel, span time.Duration) (crowd, error) {
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(panels))
	end := time.Now().Add(span)
	var all crowd
	var mu sync.Mutex
	var wait sync.WaitGroup
	for client := range b.query.clients {
		wait.Go(func() {
			conn, err := loadgen.Dial(b.rig.Address, time.Minute)
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				all.failed = append(all.failed, err)
				return
			}
			defer conn.Close()
			for i := client * len(panels) / b.query.clients; time.Now().Before(end) && ctx.Err() == nil; i++ {
				took, err := panels[order[i%len(panels)]].ask(conn)
				mu.Lock()
				if err != nil {
					all.failed = append(all.failed, err)
				} else {
					all.times = append(all.times, took)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if len(all.times) == 0 {
		return all, errors.Join(append(all.failed, errors.New("no question was answered"))...)
	}
	return all, ctx.Err()
}

// rows adds the clients' results to the report.
func (c crowd) rows(b *bench, s *querySize, what string, span time.Duration) {
	note := fmt.Sprintf("%d answers in %s, p50 %s ms, longest %s ms", len(c.times), span, number(quantile(c.times, 0.5)), number(quantile(c.times, 1)))
	b.report.add(row{What: what + ", p95", Unit: "ms", Ours: spreadOf([]float64{quantile(c.times, 0.95)}), Budget: s.goal(budget{AtMost: 1500}), Notes: []string{note}})
	// AtMost is 0.5, so that one error exceeds the budget. 0 would mean that there is no budget.
	x := row{What: what + ", errors", Unit: "questions", Ours: spreadOf([]float64{float64(len(c.failed))}), Budget: s.goal(budget{AtMost: 0.5})}
	if len(c.failed) > 0 {
		x.Notes = []string{"the first: " + c.failed[0].Error()}
	}
	b.report.add(x)
}

func (b *bench) crowdName(s *querySize) string {
	return fmt.Sprintf("%s events, warm: %d clients, all of it", number(float64(s.events)), b.query.clients)
}

// crowded measures several clients that send queries concurrently.
func (b *bench) crowded(ctx context.Context, s *querySize, panels []panel) error {
	c, err := b.askTogether(ctx, goalsOf(panels), b.crowd)
	if err == nil {
		c.rows(b, s, b.crowdName(s), b.crowd)
	}
	return err
}

func goalsOf(panels []panel) (list []panel) {
	for _, p := range panels {
		if inGoals(p) {
			list = append(list, p)
		}
	}
	return list
}

// besideIntake lets clients send queries while events arrive at half of the highest rate that the node can store. It
// also compares this intake with an intake at the same rate without queries.
func (b *bench) besideIntake(ctx context.Context, s *querySize, panels []panel) (err error) {
	const perRequest = 10
	t := target{org: s.Org}
	if t.site, err = b.rig.newSite(ctx); err != nil {
		return err
	}
	sent := 0
	send := func(load loadgen.Load) (loadgen.Result, error) {
		result, err := loadgen.Run(ctx, load)
		sent += int(result.All[http.StatusNoContent]) * perRequest
		return result, err
	}
	load := loadgen.Load{
		Address: b.rig.Address, Requests: requests(b.loadBodies(perRequest), b.rig.Address, t.insights()+"/events", b.rig.Token),
		Connections: b.connection, Warmup: b.warmup, Duration: b.intake,
	}
	// stored waits until the sink has stored all sent events. Otherwise the sink's remaining work would slow down the
	// next load.
	stored := func() error { return b.rig.awaitEvents(ctx, t, sent, stallLimit) }
	began := time.Now()
	_, err = send(load)
	if err = errors.Join(err, stored()); err != nil {
		return err
	}
	// The highest rate includes the time until all events are stored. The node could accept events at a higher rate,
	// but only until the log is full.
	most := float64(sent) / perRequest / time.Since(began).Seconds()
	load.Rate = math.Max(1, most/2)
	load.Duration = b.crowd / 2
	alone, err := send(load)
	if err = errors.Join(err, stored()); err != nil {
		return err
	}
	var beside loadgen.Result
	var loadErr error
	var wait sync.WaitGroup
	wait.Go(func() { beside, loadErr = send(load) })
	c, err := b.askTogether(ctx, goalsOf(panels), load.Warmup+load.Duration)
	wait.Wait()
	if err = errors.Join(err, loadErr, stored()); err != nil {
		return err
	}
	c.rows(b, s, b.crowdName(s)+", with intake beside", load.Duration)
	p99 := func(r loadgen.Result) []float64 {
		return []float64{millis(r.Quantile(0.99))}
	}
	b.report.compare(fmt.Sprintf("%s events: intake beside %d clients, p99", number(float64(s.events)), b.query.clients), "without them", "ms", paired(p99(beside), p99(alone)), s.goal(budget{AtMost: 2}),
		fmt.Sprintf("%s events/s in requests of %d, half of the %s/s that the same node took and stored just before", number(load.Rate*perRequest), perRequest, number(most*perRequest)),
		latencies("beside", &beside), latencies("alone", &alone))
	return s.forget(ctx)
}

const dropCaches = "/proc/sys/vm/drop_caches"

// cold sends the query of each panel once, with empty caches. It restarts the engines before each site and range, and
// drops the kernel's cached pages before each query.
func (b *bench) cold(ctx context.Context, s *querySize, panels []panel) error {
	note := "engines restarted before each site and range, the kernel's pages dropped before each question; a question finds what the engine keeps of the files that those before it have read"
	panels = panels[:min(len(panels), b.colds)]
	took := make([]float64, len(panels))
	var first []float64
	for i, p := range panels {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		restarted := i == 0 || p.site != panels[i-1].site || p.days != panels[i-1].days
		if restarted {
			if err := b.rig.restartAll(ctx); err != nil {
				return err
			}
		}
		unix.Sync()
		if err := os.WriteFile(dropCaches, []byte("3"), 0); err != nil {
			note = "engines restarted before each site and range; **the kernel's pages were not dropped**: " + err.Error()
		}
		// Connect after the caches are dropped, which takes some time. The node closes a connection on which no request
		// arrives for some time.
		conn, err := loadgen.Dial(b.rig.Address, time.Minute)
		if err != nil {
			return err
		}
		took[i], err = p.ask(conn)
		conn.Close()
		if err != nil {
			return err
		}
		if restarted {
			first = append(first, took[i])
		}
	}
	all := asked{panels: panels, rounds: [][]float64{took}}
	for _, g := range all.groups() {
		b.report.add(row{
			What: fmt.Sprintf("%s events, cold: %s: p95", number(float64(s.events)), g.what), Unit: "ms", Ours: spreadOf(all.of(0.95, g.panel)),
			Notes: []string{fmt.Sprintf("p50 %s ms", number(all.of(0.5, g.panel)[0]))},
		})
	}
	b.report.note(note)
	b.report.note("ms of the first questions after a restart: " + spreadOf(first).text())
	return nil
}
