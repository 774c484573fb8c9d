package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/bench/loadgen"
)

const (
	freshEvents = 100 // number of events of each request of the load
	// leastConnections is the smallest number of connections. With too few connections, a slow request would delay
	// other requests.
	leastConnections = 8
	probeGap         = 100 * time.Millisecond
	pollGap          = 20 * time.Millisecond
	probeLimit       = 30 * time.Second
	freshBudget      = 2000 // in milliseconds
	stallLimit       = 30 * time.Second
)

// freshRows measures the time from the response 204 until a query finds the event. During the measurement, the node has
// all roles and gets a load. It also measures the node's memory.
func (b *bench) freshRows(ctx context.Context) error {
	bodies := b.loadBodies(freshEvents)
	path := b.rig.insights() + "/events"
	load := loadgen.Load{
		Address: b.rig.Address, Requests: requests(bodies, b.rig.Address, path, b.rig.Token),
		Connections: b.connection, Warmup: b.warmup, Duration: b.fresh,
	}
	var tried []string
	for rate := b.rate; ; rate /= 2 {
		load.Rate = rate / freshEvents
		// Each connection sends about once a second. The node closes a connection that sends nothing for some seconds.
		load.Connections = min(b.connection, max(leastConnections, int(load.Rate)))
		f, err := b.freshness(ctx, load)
		if err != nil {
			return err
		}
		b.sent += f.sent
		refused := f.load.Only(http.StatusNoContent) != nil || f.load.PerSecond() < 0.98*load.Rate
		// Wait until all events are stored. Otherwise the measurement of the next rate would start with a backlog.
		if err := b.drained(ctx, !refused); err != nil {
			return err
		}
		enough := !refused && f.lost == 0 && quantile(f.visible, 0.99) <= freshBudget
		if enough || rate < b.rate/20 {
			b.freshRow(rate, f, tried)
			break
		}
		tried = append(tried, fmt.Sprintf("%s events/s were too many: %s/s taken, %s, %s",
			number(rate), number(f.load.PerSecond()*freshEvents), latencies("of intake", &f.load), f.text()))
		progress("%s", tried[len(tried)-1])
	}
	load.Connections = b.connection
	return b.memoryRow(ctx, load)
}

// drained waits until queries find all acknowledged events. If `exact` is true, every request was answered, and
// `drained` fails if queries find more events than were acknowledged.
func (b *bench) drained(ctx context.Context, exact bool) error {
	err := b.rig.awaitEvents(ctx, b.rig.target, b.sent, stallLimit)
	if err != nil && !exact {
		if n, countErr := b.rig.events(ctx, b.rig.target); countErr == nil && n >= b.sent {
			b.sent = n
			return nil
		}
	}
	return err
}

func (b *bench) freshRow(rate float64, f freshness, tried []string) {
	notes := append([]string{
		f.text(), latencies("of intake at the same time", &f.load),
		fmt.Sprintf("a probe each %s, looked for each %s by an aggregate request, whose own time counts", probeGap, pollGap),
	}, tried...)
	x := row{What: fmt.Sprintf("visible after 204, p99, at %s events/s", number(rate)), Unit: "ms", Notes: notes, Budget: &budget{AtMost: freshBudget}}
	x.Ours = spreadOf([]float64{quantile(f.visible, 0.99)})
	b.report.add(x)
}

// freshness is the result of one load.
type freshness struct {
	load    loadgen.Result
	visible []float64 // milliseconds from a probe's response 204 until a query found the probe
	lost    int       // number of probes that no query found
	sent    int       // number of acknowledged events, including probes
}

func (f freshness) text() string {
	return fmt.Sprintf("visible after p50 %s ms, p90 %s ms, p99 %s ms, max %s ms of %d probes, %d never",
		number(quantile(f.visible, 0.5)), number(quantile(f.visible, 0.9)), number(quantile(f.visible, 0.99)), number(quantile(f.visible, 1)), len(f.visible), f.lost)
}

func (b *bench) freshness(ctx context.Context, load loadgen.Load) (freshness, error) {
	p := &probes{acknowledged: map[string]time.Time{}}
	probing, stop := context.WithTimeout(ctx, load.Warmup+load.Duration)
	defer stop()
	var f freshness
	var loadErr, sendErr, pollErr error
	var wait sync.WaitGroup
	wait.Go(func() { f.load, loadErr = loadgen.Run(ctx, load) })
	wait.Go(func() { sendErr = p.send(probing, b.rig) })
	polling, stopPolling := context.WithTimeout(ctx, load.Warmup+load.Duration+probeLimit)
	defer stopPolling()
	wait.Go(func() { pollErr = p.poll(polling, probing.Done(), b.rig) })
	wait.Wait()
	for _, err := range []error{loadErr, sendErr, pollErr} {
		if err != nil {
			return f, err
		}
	}
	if len(p.visible) == 0 {
		return f, fmt.Errorf("none of %d probes became visible within %s", len(p.acknowledged), probeLimit)
	}
	f.visible, f.lost = p.visible, len(p.acknowledged)
	f.sent = int(f.load.All[http.StatusNoContent])*freshEvents + len(p.visible) + len(p.acknowledged)
	return f, nil
}

// probes has the probes of a load. A probe is a request with one event, which is sent during the load. Its event has a
// unique search query, by which `poll` finds it.
type probes struct {
	mu           sync.Mutex
	acknowledged map[string]time.Time // times of the responses to the probes that no query has found yet, by name
	visible      []float64
}

func (p *probes) send(ctx context.Context, r *rig) error {
	tick := time.NewTicker(probeGap)
	defer tick.Stop()
	run := time.Now().UnixNano()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		name := fmt.Sprintf("probe-%d-%d", run, n)
		body := []byte(`{"events":[{"type":"search_type_query","query":"` + name +
			`","session":{"visitorId":"probe","sessionId":"probe"},"location":{"url":"https://docs.example.com/"}}]}`)
		// Wait for the response to a probe even if ctx is done. Otherwise the node might store an event that `send`
		// does not count.
		err := r.Call(context.WithoutCancel(ctx), http.MethodPost, r.insights()+"/events", body, http.StatusNoContent, nil)
		if err != nil {
			return fmt.Errorf("cannot send a probe: %w", err)
		}
		p.mu.Lock()
		p.acknowledged[name] = time.Now()
		p.mu.Unlock()
	}
}

func (p *probes) missing() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]string, 0, len(p.acknowledged))
	for name := range p.acknowledged {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// poll sends queries for the probes that were sent, until the last probe was sent and all probes are found.
func (p *probes) poll(ctx context.Context, sent <-chan struct{}, r *rig) error {
	from := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	to := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for {
		list := p.missing()
		if len(list) == 0 {
			select {
			case <-sent:
				return nil
			default:
			}
		} else {
			body := `{"range":{"from":"` + from + `","to":"` + to + `"},"select":[{"column":"eventSearchQuery"}],"groupBy":[{"column":"eventSearchQuery"}],` +
				`"where":[{"column":"eventSearchQuery","operator":"in","values":["` + strings.Join(list, `","`) + `"]}]}`
			a, err := r.aggregate(ctx, r.target, []byte(body))
			switch {
			case ctx.Err() != nil:
				return nil //nolint:nilerr // probes that were not found count as lost
			case err != nil:
				return fmt.Errorf("cannot look for the probes: %w", err)
			case len(a.Columns) == 0:
				return fmt.Errorf("the search for probes returned no columns")
			}
			p.found(a.Columns[0].Values, time.Now())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollGap):
		}
	}
}

func (p *probes) found(names []jsontext.Value, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, raw := range names {
		var name string
		if json.Unmarshal(raw, &name) != nil {
			continue
		}
		if at, ok := p.acknowledged[name]; ok {
			p.visible = append(p.visible, millis(now.Sub(at)))
			delete(p.acknowledged, name)
		}
	}
}

// memoryRow sends a load at full speed, and samples the memory of the node's process. It does not include the engines,
// which are separate processes.
func (b *bench) memoryRow(ctx context.Context, load loadgen.Load) error {
	p := b.rig.nodeProcess()
	if p == 0 {
		b.report.skip("memory", "needs a server that the benchmark starts itself")
		return nil
	}
	load.Rate, load.Duration = 0, 2*b.intake
	sampling, stop := context.WithCancel(ctx)
	var samples []float64
	var wait sync.WaitGroup
	wait.Go(func() {
		for sampling.Err() == nil {
			samples = append(samples, p.Memory("VmRSS"))
			time.Sleep(20 * time.Millisecond)
		}
	})
	result, err := loadgen.Run(ctx, load)
	stop()
	wait.Wait()
	if err != nil {
		return err
	}
	b.sent += int(result.All[http.StatusNoContent]) * freshEvents
	refused := result.Only(http.StatusNoContent)
	if err := b.drained(ctx, refused == nil); err != nil {
		return err
	}
	notes := []string{
		fmt.Sprintf("flooded by %d connections, %d events per request: %s events/s taken with all roles on one node; %s",
			b.connection, freshEvents, number(result.PerSecond()*freshEvents), latencies("closed loop", &result)),
		fmt.Sprintf("peak of the whole run %s MB", number(p.Memory("VmHWM"))),
	}
	x := row{What: "memory of the node at full load", Unit: "MB RSS", Budget: &budget{AtMost: 256}, Notes: notes}
	x.Ours = spreadOf(samples)
	// The budget is compared with the median. It must limit the peak memory, so set the median to the peak.
	x.Ours.Median = x.Ours.Max
	b.report.add(x)
	return nil
}
