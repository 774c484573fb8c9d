package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// balancer acts like a load balancer. It sends requests to ready nodes. If a connection is refused, it tries another
// node.
type balancer struct {
	t     *testing.T
	nodes []*instance
	ready []atomic.Bool
	http  *http.Client
	stop  chan struct{}
	wait  sync.WaitGroup

	turn         atomic.Uint64
	acknowledged atomic.Int64
}

func newBalancer(t *testing.T, nodes ...*instance) *balancer {
	b := &balancer{
		t: t, nodes: nodes, ready: make([]atomic.Bool, len(nodes)), stop: make(chan struct{}),
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}, Timeout: eventually.Patience},
	}
	for n := range nodes {
		b.ready[n].Store(true)
		b.wait.Go(func() { b.watch(n) })
	}
	return b
}

// watch polls a node's /readyz.
func (b *balancer) watch(n int) {
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case <-b.stop:
			return
		case <-tick.C:
		}
		res, err := b.http.Get("http://" + b.nodes[n].listen + "/readyz")
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		b.ready[n].Store(err == nil && res.StatusCode == http.StatusOK)
	}
}

// load posts events until `stop` is closed, with a new visitor for each event. Any answer except 204 fails the test.
func (b *balancer) load(path, token string, worker int) {
	for n := 0; ; n++ {
		select {
		case <-b.stop:
			return
		default:
		}
		body := []byte(`{"events":[` + pageView(fmt.Sprintf("%d-%d", worker, n)) + `]}`)
		for try := 0; ; try++ {
			status, text, err := b.send(path, token, body)
			if refused := (*net.OpError)(nil); errors.As(err, &refused) && refused.Op == "dial" && try < 1000 {
				continue // the node did not get the request, so another node may get it
			}
			if err != nil || status != 204 {
				b.t.Errorf("%d %s %v", status, text, err)
			} else {
				b.acknowledged.Add(1)
			}
			break
		}
	}
}

func (b *balancer) send(path, token string, body []byte) (int, string, error) {
	turn := int(b.turn.Add(1))
	at := b.nodes[turn%len(b.nodes)]
	for i := range b.nodes {
		if n := (turn + i) % len(b.nodes); b.ready[n].Load() {
			at = b.nodes[n]
			break
		}
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+at.listen+path, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := b.http.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// TestRollingRestart restarts two API nodes and two sinks one after the other
// under load. Every request is answered 204 and every event is stored once.
func TestRollingRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	engines := sharedEngines(t, 4)
	node := func(role string) *instance { return newInstance(t, append(engines, "OCTAVO_ROLES="+role)...) }
	one := node("api")
	two, three, four := node("api"), node("sink"), node("sink")
	b := newBalancer(t, one, two)
	for worker := range 4 {
		b.wait.Go(func() { b.load(one.insights()+"/events", one.token, worker) })
	}
	progress := func(what string) {
		t.Helper()
		goal := b.acknowledged.Load() + 200
		one.until(what, func() error {
			if now := b.acknowledged.Load(); now < goal {
				return fmt.Errorf("%d of %d acknowledged", now, goal)
			}
			return nil
		})
	}
	progress("load")
	for _, i := range []*instance{three, one, four, two} {
		i.stop()
		progress("load without one node")
		i.start()
		progress("load with it again")
	}
	close(b.stop)
	b.wait.Wait()
	acknowledged := int(b.acknowledged.Load())
	one.wantCounts(acknowledged, acknowledged)
	t.Logf("%d events acknowledged", acknowledged)
}

// TestBrokerKilled kills the broker while requests run. A request is one message, so either all its events are stored
// or none. A request that is not stored must be answered with 503.
func TestBrokerKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	const perRequest = 7
	i := newInstance(t)
	var acknowledged, refused atomic.Int64
	var stop atomic.Bool
	var posters sync.WaitGroup
	for poster := range 6 {
		posters.Go(func() {
			for n := 0; !stop.Load(); n++ {
				events := make([]string, perRequest)
				for e := range events {
					events[e] = pageView(fmt.Sprintf("%d-%d", poster, n))
				}
				status, answer := i.post(i.token, events...)
				switch {
				case status == 204:
					acknowledged.Add(1)
				case status == 503 && strings.Contains(string(answer), `"code":503`):
					refused.Add(1)
				default:
					t.Errorf("%d %s", status, answer)
				}
			}
		})
	}
	for range 2 {
		goal := acknowledged.Load() + 50
		i.until("load", func() error {
			if now := acknowledged.Load(); now < goal {
				return fmt.Errorf("%d of %d acknowledged", now, goal)
			}
			return nil
		})
		pid := i.engine("kafka")
		if pid == 0 { // kill(0) would kill this process's group
			t.Fatal("no broker runs")
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	goal := acknowledged.Load() + 50
	i.until("load again", func() error {
		if now := acknowledged.Load(); now < goal {
			return fmt.Errorf("%d of %d acknowledged", now, goal)
		}
		return nil
	})
	stop.Store(true)
	posters.Wait()
	i.until("all that was acknowledged, in whole requests", func() error {
		got, err := i.aggregate(`{"range":"last24Hours","select":[{"column":"eventsCount"},{"column":"visitorsCount"}]}`)
		if err != nil {
			return err
		}
		events, visitors := int64(got["eventsCount"][0].(float64)), int64(got["visitorsCount"][0].(float64))
		if visitors < acknowledged.Load() || visitors > acknowledged.Load()+refused.Load() || events != perRequest*visitors {
			return fmt.Errorf("%d events of %d requests are stored, %d were acknowledged, %d refused", events, visitors, acknowledged.Load(), refused.Load())
		}
		return nil
	})
}
