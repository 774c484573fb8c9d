package witness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/bench/loadgen"
)

const (
	// answerLimit is the longest time that a request waits for its response. It is longer than the time for which the
	// intake retries to append the events.
	answerLimit = 20 * time.Second
	// MaxOpen is the largest number of requests that wait for a response. Further requests are counted as unsent.
	MaxOpen     = 2000
	usualEvents = 20
	// largeShare is the share of requests with hundreds of events. pastShare is the share of requests whose events have
	// timestamps of many months, like an import.
	largeShare = 0.005
	pastShare  = 0.05
	pastMonths = 400
	month      = 30 * 24 * time.Hour
	// An event of an import is at least recentlyPast old. So even for a node whose clock is 400 days behind, the event
	// is not in the future.
	recentlyPast = 14 * month
	// EventURL is the beginning of an event's URL. The URL ends with the event's id.
	EventURL = "https://docs.example.com/chaos/"
	// doorShare is the share of requests that are sent as browsers' batches, if the load uses the door.
	doorShare = 1.0 / 3
)

// EventHost is the host of the events' URLs.
const EventHost = "docs.example.com"

// Load sends events to the API nodes in an open loop: it sends at a fixed rate, even if the nodes are slow.
type Load struct {
	rate  float64 // number of events per second
	keyed float64 // share of requests with an Idempotency-Key
	path  string
	token string
	door  string // path of the door for browsers; "" means that the load does not use it
	nodes []*node
	began time.Time     // start of the load, from which the events' timestamps are computed
	rng   *rand.Rand    // only Run uses it
	salt  string        // salt makes the idempotency keys of this run unique
	next  uint64        // number of the next request
	again time.Duration // pause before the first repeat of a request with a key

	open   chan struct{} // open has an element for each request that waits for a response
	conns  []chan *loadgen.Conn
	flying sync.WaitGroup

	mu       sync.Mutex
	requests []Request
	held     int // number of requests that were not sent, because MaxOpen requests were waiting
	retries  int
	statuses map[int]int
	odd      []string // responses that no injected fault can have caused
}

// node is an API node to which the load sends.
type node struct{ address string }

// NewLoad returns a load of `rate` events per second. `keyed` is the share of requests with an Idempotency-Key. Run
// starts the load.
func NewLoad(rate, keyed float64, path, token string, addresses []string, seed uint64) *Load {
	l := &Load{
		began: time.Now().UTC(), rate: rate, keyed: keyed, path: path, token: token, rng: rand.New(rand.NewPCG(seed, 1)), salt: strconv.FormatUint(seed, 36) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36),
		again: 250 * time.Millisecond, open: make(chan struct{}, MaxOpen), statuses: map[int]int{},
	}
	for _, address := range addresses {
		l.nodes = append(l.nodes, &node{address})
		l.conns = append(l.conns, make(chan *loadgen.Conn, MaxOpen))
	}
	return l
}

// Through makes the load send a third of its requests as browsers do. `door` is the path of the operation that
// browsers call. The path has a publishable key.
func (l *Load) Through(door string) { l.door = door }

// Run sends requests until ctx is done. A later call of Run continues the load.
func (l *Load) Run(ctx context.Context) {
	due := time.Now()
	for ; ; l.next++ {
		r := Request{Number: l.next, Events: 1 + l.rng.IntN(usualEvents), Past: l.rng.Float64() < pastShare}
		if l.rng.Float64() < largeShare {
			r.Events = maxEvents/2 + l.rng.IntN(maxEvents/2)
		}
		r.Keyed = l.rng.Float64() < l.keyed
		if l.door != "" && l.rng.Float64() < doorShare {
			// A browser's batch has few and recent events, and an id.
			r.Door, r.Keyed, r.Past, r.Events = true, true, false, min(r.Events, usualEvents)
		}
		at, twin := l.rng.IntN(len(l.nodes)), l.rng.IntN(4) == 0
		timer := time.NewTimer(time.Until(due))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		due = due.Add(time.Duration(float64(r.Events) / l.rate * float64(time.Second)))
		select {
		case l.open <- struct{}{}:
			l.flying.Go(func() {
				defer func() { <-l.open }()
				l.send(r, at, twin)
			})
		default:
			l.mu.Lock()
			l.held++
			l.mu.Unlock()
		}
	}
}

// send sends one request. A request without a key is sent once. A request with a key, or a browser's batch, is repeated
// until it is acknowledged. If `twin` is true, each attempt goes to two nodes concurrently.
func (l *Load) send(r Request, at int, twin bool) {
	body := l.body(r)
	if !r.Keyed {
		r.Outcome = l.exchange(at, r, body)
		l.record(r)
		return
	}
	// Before each attempt, wait longer than before the last attempt, as clients should.
	for wait, end := l.again, time.Now().Add(5*time.Minute); ; at, wait = (at+1)%len(l.nodes), min(2*wait, 8*l.again) {
		other := make(chan Outcome, 1)
		if twin {
			go func() { other <- l.exchange((at+1)%len(l.nodes), r, body) }()
		} else {
			other <- Unsent
		}
		one, two := l.exchange(at, r, body), <-other
		r.Outcome = after(r.Outcome, one, two)
		if r.Outcome == Acknowledged || time.Now().After(end) {
			break
		}
		l.mu.Lock()
		l.retries++
		l.mu.Unlock()
		time.Sleep(wait)
	}
	l.record(r)
}

// resendLimit is longer than the lease of an Idempotency-Key (30 s). A node may stop after it has answered and before
// it has recorded that the key is done. The lease then stays until it expires. Until then, repeats of the request get
// 503.
const resendLimit = time.Minute

// Resend repeats at most `most` acknowledged requests with a key, like a client that lost the response. Each request
// must be acknowledged again within resendLimit, and the node must not store its events again. Resend retries a request
// only after a response with status 5xx.
func (l *Load) Resend(most int) error {
	for _, r := range l.Requests() {
		if !r.Keyed || r.Outcome != Acknowledged {
			continue
		}
		if most--; most < 0 {
			break
		}
		got := l.exchange(0, r, l.body(r))
		for end := time.Now().Add(resendLimit); got == Failed && time.Now().Before(end); {
			time.Sleep(8 * l.again)
			got = l.exchange(0, r, l.body(r))
		}
		if got != Acknowledged {
			return fmt.Errorf("request %d was acknowledged first and %s when it was repeated under its Idempotency-Key", r.Number, got)
		}
	}
	return nil
}

// after returns the outcome of a request from the outcomes of its attempts. If one attempt was acknowledged, the
// request is acknowledged. Otherwise the request has the most uncertain outcome, because this attempt may have stored
// the events.
func after(outcomes ...Outcome) Outcome {
	most := Unsent
	for _, o := range outcomes {
		if o == Acknowledged {
			return Acknowledged
		}
		most = max(most, o)
	}
	return most
}

// exchange sends a request once to one node, and returns the outcome of this attempt.
func (l *Load) exchange(at int, r Request, body []byte) Outcome {
	path, token := l.path, l.token
	var headers []string
	switch {
	case r.Door:
		path, token = l.door, ""
	case r.Keyed:
		headers = []string{"Idempotency-Key: " + l.key(r)}
	}
	var conn *loadgen.Conn
	select {
	case conn = <-l.conns[at]:
	default:
		var err error
		if conn, err = loadgen.Dial(l.nodes[at].address, answerLimit); err != nil {
			conn.Close()
			return Unsent // no process listens at the address, so no byte was sent
		}
	}
	request := loadgen.Request(http.MethodPost, l.nodes[at].address, path, token, body, headers...)
	status, answer, err := conn.Exchange(request)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.statuses[0]++
		// The node was perhaps killed, and then its idle connections are broken too. So close them.
		for idle := true; idle; {
			select {
			case old := <-l.conns[at]:
				old.Close()
			default:
				idle = false
			}
		}
		return Unknown // the client cannot know whether the node received the request
	}
	l.statuses[status]++
	said := string(answer[:min(len(answer), 200)])
	select {
	case l.conns[at] <- conn:
	default: // there are enough idle connections
		conn.Close()
	}
	switch {
	case status == http.StatusNoContent:
		return Acknowledged
	case status >= 500:
		return Failed
	case status >= 400:
		if status != http.StatusTooManyRequests && status != http.StatusConflict && len(l.odd) < MaxExamples {
			l.odd = append(l.odd, strconv.Itoa(status)+" "+said)
		}
		return Refused
	default:
		return Unknown
	}
}

// key returns the Idempotency-Key of a request, or the id of a browser's batch.
func (l *Load) key(r Request) string { return l.salt + "-" + strconv.FormatUint(r.Number, 10) }

func (l *Load) record(r Request) {
	l.mu.Lock()
	l.requests = append(l.requests, r)
	l.mu.Unlock()
}

// Finish waits for the outstanding responses, and closes all connections.
func (l *Load) Finish() {
	l.flying.Wait()
	for _, conns := range l.conns {
		for len(conns) > 0 {
			(<-conns).Close()
		}
	}
}

// body returns the body of a request. Several events have the same visitor, but each event has a different URL.
func (l *Load) body(r Request) []byte {
	if r.Door {
		return l.batch(r)
	}
	b := []byte(`{"events":[`)
	for place := range r.Events {
		if place > 0 {
			b = append(b, ',')
		}
		id := EventID(r.Number, place)
		b = append(b, `{"type":"page_view","session":{"visitorId":"v`...)
		b = strconv.AppendUint(b, id%997, 10)
		b = append(b, `","sessionId":"s`...)
		b = strconv.AppendUint(b, id%4999, 10)
		b = append(b, `"},"location":{"url":"`+EventURL...)
		b = strconv.AppendUint(b, id, 10)
		b = append(b, `"}`...)
		if r.Past {
			b = append(b, `,"timestamp":"`...)
			age := recentlyPast + time.Duration(id%pastMonths)*month
			b = l.began.Add(-age).AppendFormat(b, time.RFC3339)
			b = append(b, '"')
		}
		b = append(b, '}')
	}
	return append(b, "]}"...)
}

// batch returns the body of a request in the format of browsers.
func (l *Load) batch(r Request) []byte {
	b := []byte(`{"id":"` + l.key(r) + `","events":[`)
	for place := range r.Events {
		if place > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"page_view","url":"`+EventURL...)
		b = strconv.AppendUint(b, EventID(r.Number, place), 10)
		b = append(b, `"}`...)
	}
	return append(b, "]}"...)
}

// Count returns the numbers of requests and events, by outcome.
func (l *Load) Count() (sum Counts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum = Counts{Requests: len(l.requests), Held: l.held, Retries: l.retries, Odd: l.odd, Statuses: map[string]int{}}
	for status, n := range l.statuses {
		name := strconv.Itoa(status)
		if status == 0 {
			name = "none"
		}
		sum.Statuses[name] = n
	}
	for _, r := range l.requests {
		sum.Events += r.Events
		switch {
		case r.Door:
			sum.Door++
		case r.Keyed:
			sum.Keyed++
		}
		switch r.Outcome {
		case Acknowledged:
			sum.Acknowledged += r.Events
		case Refused:
			sum.Refused += r.Events
		case Failed:
			sum.Failed += r.Events
		case Unsent:
			sum.Unsent += r.Events
		case Unknown:
			sum.Unknown += r.Events
		}
	}
	return sum
}

// Counts has the counts of a load. Requests, Keyed, Door, Retries, Held and Statuses count requests. The other numbers
// count events.
type Counts struct {
	Requests     int
	Keyed        int // requests with an Idempotency-Key or through the door
	Door         int // requests through the door for browsers
	Retries      int
	Held         int // requests that were not sent, because MaxOpen requests were waiting
	Events       int
	Acknowledged int
	Refused      int // events of requests with the status 4xx
	Failed       int // events of requests with the status 5xx
	Unsent       int // events of requests for which no process listened at the address
	Unknown      int
	Statuses     map[string]int
	Odd          []string
}

// Requests returns the requests that have ended so far.
func (l *Load) Requests() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.requests)
}
