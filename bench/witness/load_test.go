package witness

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fakeNode replaces an API node. It answers with the configured statuses, and stores the events that it acknowledges.
type fakeNode struct {
	mu     sync.Mutex
	rows   map[uint64]Row
	keys   map[string]bool
	n      int
	answer func(n int) int // status of the n-th answer; 0 means store the events and break the connection
	forget bool            // whether the node ignores idempotency keys
	door   int             // number of requests through the door for browsers
}

func (f *fakeNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	var body struct {
		ID     string
		Events []struct {
			URL      string
			Location struct{ URL string }
		}
	}
	token := "Bearer token"
	door := r.URL.Path == testDoor
	if door {
		token = ""
	}
	if json.Unmarshal(text, &body) != nil || r.Header.Get("Authorization") != token || door != (body.ID != "") {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	f.n++
	status := f.answer(f.n)
	key := cmp.Or(r.Header.Get("Idempotency-Key"), body.ID)
	if door {
		f.door++
	}
	if (status == 0 || status == 204) && !(key != "" && f.keys[key] && !f.forget) {
		f.keys[key] = true
		for _, e := range body.Events {
			id, _ := strconv.ParseUint(strings.TrimPrefix(cmp.Or(e.Location.URL, e.URL), EventURL), 10, 64)
			row := f.rows[id]
			row.Rows++
			f.rows[id] = row
		}
	}
	f.mu.Unlock()
	if status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
}

const testDoor = "/e/key"

func forgetsKeys(f *fakeNode) { f.forget = true }

// runLoad sends a load to two nodes that use the same store, until they have received 60 requests.
func runLoad(t *testing.T, keyed float64, answer func(n int) int, options ...func(*fakeNode)) (*Load, *fakeNode) {
	t.Helper()
	fake := &fakeNode{rows: map[uint64]Row{}, keys: map[string]bool{}}
	for _, option := range options {
		option(fake)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	fake.answer = func(n int) int {
		if n == 60 {
			cancel()
		}
		return answer(n)
	}
	var addresses []string
	for range 2 {
		server := httptest.NewServer(fake)
		t.Cleanup(server.Close)
		addresses = append(addresses, strings.TrimPrefix(server.URL, "http://"))
	}
	l := NewLoad(2_000, keyed, "/events", "token", addresses, 1)
	l.again = time.Millisecond
	l.Through(testDoor)
	l.Run(ctx)
	l.Finish()
	// All requests have ended, so no handler writes to the store any more.
	fake.mu.Lock()
	defer fake.mu.Unlock()
	return l, fake
}

// TestLoadKnowsWhatWasAnswered checks that Compare finds no error if the store has the acknowledged events, and finds
// an error if the store loses or doubles events.
func TestLoadKnowsWhatWasAnswered(t *testing.T) {
	t.Parallel()
	statuses := []int{204, 204, 503, 0, 429, 204}
	l, fake := runLoad(t, 0, func(n int) int { return statuses[n%len(statuses)] })
	c := l.Count()
	if c.Acknowledged == 0 || c.Failed == 0 || c.Unknown == 0 || c.Refused == 0 || len(c.Odd) > 0 {
		t.Errorf("got %+v", c)
	}
	if c.Acknowledged+c.Failed+c.Unknown+c.Refused+c.Unsent != c.Events || c.Requests != len(l.requests) {
		t.Errorf("the outcomes do not add up: %+v", c)
	}
	if v := Compare(l.requests, fake.rows); len(v.Examples) > 0 || v.Stored <= c.Acknowledged {
		t.Errorf("got %+v of %+v", v, c)
	}
	i := slices.IndexFunc(l.requests, func(r Request) bool { return r.Outcome == Acknowledged })
	id := EventID(l.requests[i].Number, 0)
	fake.rows[id] = Row{Rows: 2}
	if v := Compare(l.requests, fake.rows); v.Doubled != 1 {
		t.Errorf("a planted duplicate was not found: %+v", v)
	}
	delete(fake.rows, id)
	if v := Compare(l.requests, fake.rows); v.Lost != 1 {
		t.Errorf("a planted loss was not found: %+v", v)
	}
}

// TestLoadRepeatsKeys checks that a request with a key is sent until it is acknowledged, and that Compare detects a
// store that ignores keys.
func TestLoadRepeatsKeys(t *testing.T) {
	t.Parallel()
	statuses := []int{204, 503, 0}
	l, fake := runLoad(t, 1, func(n int) int { return statuses[n%len(statuses)] })
	c := l.Count()
	if c.Acknowledged != c.Events || c.Keyed+c.Door != c.Requests || c.Retries == 0 {
		t.Errorf("got %+v", c)
	}
	if c.Door == 0 || fake.door < c.Door {
		t.Errorf("got %+v", c)
	}
	if v := Compare(l.requests, fake.rows); len(v.Examples) > 0 || v.Stored != c.Events {
		t.Errorf("got %+v of %+v", v, c)
	}
	l, fake = runLoad(t, 1, func(n int) int { return statuses[n%len(statuses)] }, forgetsKeys)
	if v := Compare(l.requests, fake.rows); v.Doubled == 0 || v.Lost > 0 {
		t.Errorf("a store that ignores keys was not detected: %+v", v)
	}
}

func TestLoadKnowsWhenNobodyListens(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	l := NewLoad(1, 0, "/events", "token", []string{address}, 1)
	if got := l.exchange(0, Request{}, []byte("{}")); got != Unsent {
		t.Errorf("got %s", got)
	}
}

// TestOutcomeOfSeveralAttempts checks that a request counts as acknowledged if one of its attempts was acknowledged.
// Otherwise it has the most uncertain outcome of its attempts.
func TestOutcomeOfSeveralAttempts(t *testing.T) {
	t.Parallel()
	for want, attempts := range map[Outcome][]Outcome{
		Acknowledged: {Unknown, Failed, Acknowledged},
		Unknown:      {Unknown, Refused, Unsent},
		Failed:       {Refused, Failed, Unsent},
		Refused:      {Refused, Unsent},
		Unsent:       {Unsent},
	} {
		if got := after(attempts...); got != want {
			t.Errorf("%v ends %s, want %s", attempts, got, want)
		}
	}
}

func TestReconciledIsRead(t *testing.T) {
	t.Parallel()
	sum, err := parseReconciled([]byte(`[{"partition":0,"from":2,"to":4,"events":2,"missing":1,"doubled":0,"unwanted":0}
,{"partition":0,"from":0,"to":9,"messages":9,"repeats":1,"unreadable":0,"events":80,"deadLettered":0,
"rows":79,"otherRows":0,"differences":1}
,{"partition":1,"from":7,"to":8,"messages":1,"repeats":0,"unreadable":0,"events":20,"deadLettered":0,
"rows":20,"otherRows":0,"differences":0}
]
`))
	if err != nil || sum.Messages != 10 || sum.Removed != 7 || sum.Repeats != 1 || sum.Events != 100 || sum.Rows != 99 || sum.Ranges != 1 || len(sum.FirstLines) != 1 {
		t.Errorf("got %+v, %v", sum, err)
	}
	if _, err := parseReconciled([]byte("nothing of the kind")); err == nil {
		t.Error("unreadable output was accepted")
	}
}

// TestLoadResends checks Resend, which repeats acknowledged requests. If a repeated request gets 503, Resend must send
// it again. After any other error status, Resend must fail.
func TestLoadResends(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		later []int
		fails bool
	}{{[]int{503, 503, 204}, false}, {[]int{204}, false}, {[]int{409}, true}, {[]int{503, 429}, true}} {
		var resends atomic.Bool
		var n atomic.Int64
		l, _ := runLoad(t, 1, func(int) int {
			if !resends.Load() {
				return 204
			}
			return c.later[int(n.Add(1)-1)%len(c.later)]
		})
		resends.Store(true)
		if err := l.Resend(3); (err != nil) != c.fails {
			t.Errorf("%v: %v", c.later, err)
		}
	}
}
