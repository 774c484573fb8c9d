package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/bench/single"
)

// node is the node under attack. `others` is the HTTP client of the well-behaved client, whose requests are measured.
type node struct {
	single.Node
	others *http.Client
}

func (o options) start(ctx context.Context, dir string) (*node, error) {
	started, err := single.Start(ctx, o.Binary, dir, "OCTAVO_OUTBOUND_ALLOW=127.0.0.1")
	if err != nil {
		return nil, err
	}
	return &node{Node: *started, others: &http.Client{Timeout: time.Minute}}, nil
}

// question is a request that the well-behaved client sends repeatedly. Its response times are measured.
type question struct{ method, path, token, body string }

// ask repeats the request for the time `total`. It waits for the time `pause` before each request. Every second request
// uses a new connection. `ask` returns the response times and the node's peak memory in MB.
func (n *node) ask(ctx context.Context, total, pause time.Duration, q question) (times []time.Duration, peak int, err error) {
	for end := time.Now().Add(total); time.Now().Before(end); {
		time.Sleep(pause)
		if len(times)%2 == 0 {
			n.others.CloseIdleConnections()
		}
		if len(times)%100 == 0 {
			peak = max(peak, int(machine.Process(n.PID()).Memory("VmRSS")))
		}
		began := time.Now()
		status, err := n.do(ctx, q)
		if err != nil {
			return nil, 0, fmt.Errorf("the other client got no answer: %w", err)
		}
		if times = append(times, time.Since(began)); status != http.StatusOK {
			return nil, 0, fmt.Errorf("the other client was answered %d", status)
		}
	}
	return times, peak, nil
}

// do makes a request and reads its answer.
func (n *node) do(ctx context.Context, q question) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, q.method, "http://"+n.Client.Address+q.path, strings.NewReader(q.body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+q.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := n.others.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}
