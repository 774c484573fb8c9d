package loadgen

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func serve(t *testing.T, handler http.HandlerFunc) (address string) {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestClosedLoopSendsWholeRequests(t *testing.T) {
	var answered, bad atomic.Int64
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.URL.Path != "/x" || r.Header.Get("Authorization") != "Bearer tok" || string(body) != `{"n":1}` && string(body) != `{"n":22}` {
			bad.Add(1)
		}
		answered.Add(1)
		w.WriteHeader(http.StatusNoContent)
	})
	result, err := Run(t.Context(), Load{
		Address: address, Connections: 3, Duration: 100 * time.Millisecond,
		Requests: [][]byte{Request("POST", address, "/x", "tok", []byte(`{"n":1}`)), Request("POST", address, "/x", "tok", []byte(`{"n":22}`))},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Only(204); err != nil {
		t.Error(err)
	}
	if bad.Load() != 0 {
		t.Errorf("%d of %d requests arrived changed", bad.Load(), answered.Load())
	}
	// At most one request per connection ends after the measured time.
	if sent := uint64(answered.Load()); result.All[204] != sent || result.Requests > sent || result.Requests+3 < sent {
		t.Errorf("%d requests counted and %d in total, but the server answered %d", result.Requests, result.All[204], sent)
	}
	if len(result.Latencies) != int(result.Requests) || result.Quantile(0.5) > result.Max() {
		t.Errorf("%d latencies of %d requests, p50 %v, max %v",
			len(result.Latencies), result.Requests, result.Quantile(0.5), result.Max())
	}
}

// TestNumberedRequests checks that each sent request has a different number, and that all numbers have the same length.
func TestNumberedRequests(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen[string(body)]++
		mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	})
	load := Load{
		Address: address, Connections: 4, Duration: 50 * time.Millisecond, Numbered: "00000000",
		Requests: [][]byte{
			Request("POST", address, "/", "", []byte("a00000000")),
			Request("POST", address, "/", "", []byte("b00000000")),
		},
	}
	result, err := Run(t.Context(), load)
	if err == nil {
		err = result.Only(204)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != int(result.All[204]) || len(seen) < 10 {
		t.Errorf("%d different bodies in %d requests", len(seen), result.All[204])
	}
	for body := range seen {
		if len(body) != 9 {
			t.Errorf("a body is %q", body)
		}
	}
	load.Requests = append(load.Requests, Request("POST", address, "/", "", []byte("0000000")))
	if _, err := Run(t.Context(), load); err == nil {
		t.Error("a request without a number was sent")
	}
	for n, want := range map[uint64]string{0: "000", 7: "007", 123: "123", 4567: "567"} {
		digits := []byte("xxx")
		if number(digits, n); string(digits) != want {
			t.Errorf("%d is written as %s, want %s", n, digits, want)
		}
	}
}

// TestOpenLoopCountsTheWaitOfRequestsNotSent uses a server that does not answer for some time. The only connection has
// one request in flight. The latency of each request that was due in this time must include the wait.
//
// The stall uses real time, because requests are due by the clock, and only real time makes them late. The test does
// not depend on the exact length of the stall, because a slower machine only makes the stall longer.
func TestOpenLoopCountsTheWaitOfRequestsNotSent(t *testing.T) {
	const stall = 300 * time.Millisecond
	var n atomic.Int64
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 5 {
			select {
			case <-time.After(stall):
			case <-r.Context().Done(): // the client has disconnected
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
	result, err := Run(t.Context(), Load{
		Address: address, Connections: 1, Rate: 200, Duration: 500 * time.Millisecond,
		Requests: [][]byte{Request("GET", address, "/", "", nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Only(204); err != nil {
		t.Fatal(err)
	}
	if result.Requests != 100 {
		t.Errorf("%d requests, want 200/s for half a second", result.Requests)
	}
	// 60 requests were due during the stall. Half of them waited for more than half of the stall.
	waited := 0
	for _, latency := range result.Latencies {
		if latency >= stall/2 {
			waited++
		}
	}
	if waited < 25 {
		t.Errorf("%d requests show the stall, want about 30", waited)
	}
}

// TestClosedLoopOutlastsAStall uses a server that sends no answer in the measured time. The closed loop must continue
// until the first answer, and compute its rate from the longer time. The measured time is real time, so the server
// waits in real time too.
func TestClosedLoopOutlastsAStall(t *testing.T) {
	for name, warmup := range map[string]time.Duration{"": 0, "begun in the warmup": 20 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			const window = 50 * time.Millisecond
			// The server's wait begins with the first request, which is later than the start of Run.
			began := sync.OnceValue(time.Now)
			address := serve(t, func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-time.After(time.Until(began().Add(warmup + 3*window))):
				case <-r.Context().Done(): // the client has disconnected
				}
				w.WriteHeader(http.StatusNoContent)
			})
			result, err := Run(t.Context(), Load{
				Address: address, Connections: 3, Warmup: warmup, Duration: window,
				Requests: [][]byte{Request("GET", address, "/", "", nil)},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := result.Only(204); err != nil {
				t.Fatal(err)
			}
			if result.Elapsed <= window || result.PerSecond() <= 0 {
				t.Errorf("%d requests in %s, want some in more than %s", result.Requests, result.Elapsed, window)
			}
		})
	}
}

func TestOpenLoopReportsUnsentRequests(t *testing.T) {
	ended := make(chan struct{})
	address := serve(t, func(http.ResponseWriter, *http.Request) { <-ended }) // the server never answers
	defer close(ended)
	result, err := Run(t.Context(), Load{
		Address: address, Connections: 1, Rate: 1000, Duration: 200 * time.Millisecond, Timeout: 300 * time.Millisecond,
		Requests: [][]byte{Request("GET", address, "/", "", nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if result.Unsent < 100 || result.Only(204) == nil {
		t.Errorf("%d requests were not sent and %d answered; want most of 200 unsent", result.Unsent, result.Requests)
	}
}

func TestWarmupIsNotCounted(t *testing.T) {
	var n atomic.Int64
	address := serve(t, func(http.ResponseWriter, *http.Request) { n.Add(1) })
	result, err := Run(t.Context(), Load{
		Address: address, Connections: 1, Rate: 100, Warmup: 200 * time.Millisecond, Duration: 200 * time.Millisecond,
		Requests: [][]byte{Request("GET", address, "/", "", nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n.Load() != 40 || result.Requests != 20 || result.All[200] != 40 {
		t.Errorf("%d sent, %d counted and %d in total, want 40, 20 and 40", n.Load(), result.Requests, result.All[200])
	}
}

func TestStatusesAndErrorsAreCounted(t *testing.T) {
	var n atomic.Int64
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		switch n.Add(1) % 3 {
		case 0:
			panic(http.ErrAbortHandler)
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	result, err := Run(t.Context(), Load{
		Address: address, Connections: 1, Rate: 300, Duration: 100 * time.Millisecond,
		Requests: [][]byte{Request("GET", address, "/", "", nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if result.Statuses[200] != 10 || result.Statuses[503] != 10 || result.Errors != 10 || result.LastError == nil {
		t.Errorf("statuses %v and %d errors, want 10 each of 200, 503 and errors", result.Statuses, result.Errors)
	}
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), Load{Address: address, Connections: 1, Duration: time.Second, Requests: [][]byte{{}}}); err == nil {
		t.Error("a load without a server is no error")
	}
}

func TestStopsWhenCancelled(t *testing.T) {
	address := serve(t, func(http.ResponseWriter, *http.Request) {})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	for _, rate := range []float64{0, 100} {
		if _, err := Run(ctx, Load{Address: address, Connections: 2, Rate: rate, Duration: time.Hour, Requests: [][]byte{Request("GET", address, "/", "", nil)}}); err == nil {
			t.Error("a cancelled load is no error")
		}
	}
}
