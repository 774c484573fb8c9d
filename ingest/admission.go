package ingest

import (
	"container/heap"
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// siteHeadroom is how many times the room that is still free one site may use.
// One site alone stops at three quarters of the node, two at six sevenths, and
// so on: however many are busy, a site that comes anew finds room at once.
const siteHeadroom = 3

// admission bounds what is in flight: requests, and the bytes of their bodies.
// Who finds no room waits a bounded time. The next to enter is of the site that
// uses least, so that a busy one cannot keep the others out; within a site it
// is first come first served. What waits is bounded as what is in flight is.
type admission struct {
	maxRequests int64
	maxBytes    int64
	wait        time.Duration
	metrics     *Metrics

	mu      sync.Mutex
	inside  load
	outside load     // waiting
	active  int      // sites with anything inside or outside
	queue   siteHeap // sites with somebody waiting
	turn    uint64   // counts what entered
}

// load is a number of requests and their bytes.
type load struct{ requests, bytes int64 }

func (l *load) add(bytes int64) { l.requests++; l.bytes += bytes }
func (l *load) sub(bytes int64) { l.requests--; l.bytes -= bytes }

// siteUse is one site's part of it. All of it is guarded by admission.mu.
type siteUse struct {
	inside  load
	outside load
	waiting list.List // of *waiter, the oldest first
	place   int       // in admission.queue while somebody waits
	share   float64   // as of its place in the queue
	turn    uint64    // when one of it entered last
}

type waiter struct {
	use     *siteUse
	weight  int64
	at      *list.Element // nil once it waits no more
	done    chan struct{} // closed when it was let in or sent away
	refusal *Error
}

func newAdmission(cfg *IntakeConfig, m *Metrics) *admission {
	return &admission{maxRequests: int64(cfg.MaxInFlight), maxBytes: cfg.MaxBytesInFlight, wait: cfg.AdmitWait, metrics: m}
}

// weight is what a body counts for. One that is larger than all the room may
// enter when it is alone.
func (a *admission) weight(size int) int64 { return min(int64(size), a.maxBytes) }

// shareOf is how much of the room a load takes, by what it takes most of.
func (a *admission) shareOf(l load) float64 {
	return max(float64(l.requests)/float64(a.maxRequests), float64(l.bytes)/float64(a.maxBytes))
}

// fits tells whether there is room at all, and whether the site may use it.
func (a *admission) fits(u *siteUse, weight int64) (room, allowed bool) {
	free := load{a.maxRequests - a.inside.requests, a.maxBytes - a.inside.bytes}
	room = free.requests >= 1 && free.bytes >= weight
	allowed = u.inside.requests+1 <= siteHeadroom*free.requests && u.inside.bytes+weight <= siteHeadroom*free.bytes
	return room, allowed
}

// enter takes room for a body of so many bytes; leave gives it back.
func (a *admission) enter(ctx context.Context, u *siteUse, size int) *Error {
	weight := a.weight(size)
	a.mu.Lock()
	if room, allowed := a.fits(u, weight); room && allowed && a.queue.Len() == 0 {
		a.take(u, weight)
		a.mu.Unlock()
		a.metrics.requestsInFlight.Inc()
		a.metrics.bytesInFlight.Add(float64(weight))
		return nil
	}
	w, refusal := a.queueUp(u, weight)
	a.mu.Unlock()
	if refusal != nil {
		return refusal
	}
	a.metrics.requestsWaiting.Inc()
	defer a.metrics.requestsWaiting.Dec()
	began := time.Now()
	timer := time.NewTimer(a.wait)
	defer timer.Stop()
	select {
	case <-w.done:
		refusal = w.refusal
	case <-timer.C:
		refusal = a.giveUp(w)
	case <-ctx.Done():
		refusal = a.giveUp(w)
	}
	a.metrics.admitSeconds.Observe(time.Since(began).Seconds())
	if refusal == nil {
		a.metrics.requestsInFlight.Inc()
		a.metrics.bytesInFlight.Add(float64(weight))
	}
	return refusal
}

func (a *admission) leave(u *siteUse, size int) {
	weight := a.weight(size)
	a.metrics.requestsInFlight.Dec()
	a.metrics.bytesInFlight.Sub(float64(weight))
	a.mu.Lock()
	a.inside.sub(weight)
	u.inside.sub(weight)
	a.resort(u)
	a.rested(u)
	a.admit()
	a.mu.Unlock()
}

// take lets a request in.
func (a *admission) take(u *siteUse, weight int64) {
	if u.inside.requests == 0 && u.outside.requests == 0 {
		a.active++
	}
	a.turn++
	u.turn = a.turn
	a.inside.add(weight)
	u.inside.add(weight)
}

// rested counts a site out that has nothing here any more.
func (a *admission) rested(u *siteUse) {
	if u.inside.requests == 0 && u.outside.requests == 0 {
		a.active--
	}
}

// admit lets in who waits, as long as the next one fits. It does not look
// behind that one: a large body would wait for ever.
func (a *admission) admit() {
	for a.queue.Len() > 0 {
		u := a.queue[0]
		w := u.waiting.Front().Value.(*waiter)
		if room, allowed := a.fits(u, w.weight); !room || !allowed {
			return
		}
		a.take(u, w.weight) // before it leaves the queue, so that the site stays active
		a.dequeue(w)
		close(w.done)
	}
}

// queueUp puts a request at the end of its site's queue. If the waiting room
// is full, the newest of the site that fills it most has to go, which may be
// this one.
func (a *admission) queueUp(u *siteUse, weight int64) (*waiter, *Error) {
	for a.outside.requests >= a.maxRequests || a.outside.bytes+weight > a.maxBytes {
		most := u
		mine := load{u.outside.requests + 1, u.outside.bytes + weight}
		share := a.shareOf(mine)
		for _, other := range a.queue {
			if s := a.shareOf(other.outside); other != u && s > share {
				most, share = other, s
			}
		}
		if most == u {
			return nil, a.refusal(u, weight)
		}
		w := most.waiting.Back().Value.(*waiter)
		w.refusal = a.refusal(most, w.weight)
		a.dequeue(w)
		a.rested(most)
		close(w.done)
	}
	w := &waiter{use: u, weight: weight, done: make(chan struct{})}
	if u.inside.requests == 0 && u.outside.requests == 0 {
		a.active++
	}
	a.outside.add(weight)
	u.outside.add(weight)
	w.at = u.waiting.PushBack(w)
	if u.waiting.Len() == 1 {
		u.share = a.shareOf(u.inside)
		heap.Push(&a.queue, u)
	}
	a.admit()
	return w, nil
}

// dequeue takes a waiter out of its site's queue.
func (a *admission) dequeue(w *waiter) {
	u := w.use
	u.waiting.Remove(w.at)
	w.at = nil
	a.outside.sub(w.weight)
	u.outside.sub(w.weight)
	if u.waiting.Len() == 0 {
		heap.Remove(&a.queue, u.place)
		return
	}
	a.resort(u)
}

// resort puts a site where what it uses now belongs.
func (a *admission) resort(u *siteUse) {
	if u.waiting.Len() > 0 {
		u.share = a.shareOf(u.inside)
		heap.Fix(&a.queue, u.place)
	}
}

// giveUp ends a wait that was in vain, unless it was not at the last moment.
func (a *admission) giveUp(w *waiter) *Error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w.at == nil {
		return w.refusal
	}
	refusal := a.refusal(w.use, w.weight)
	a.dequeue(w)
	a.rested(w.use)
	a.admit() // the next may need less room
	return refusal
}

// refusal says whose fault it is that there is no room: the site's, if it has
// more than an equal part of the room or is held back while others find room;
// else the node is full.
func (a *admission) refusal(u *siteUse, weight int64) *Error {
	room, allowed := a.fits(u, weight)
	if room && !allowed || a.shareOf(u.inside)*float64(max(a.active, 1)) > 1 {
		return refuse(insights.SiteOverloaded, "", "too many events of this site are in flight, try again")
	}
	return refuse(insights.Overloaded, "", "too many events are in flight, try again")
}

// siteHeap has the site that uses least first; of equals, the one whose last
// turn was the longest ago.
type siteHeap []*siteUse

func (h siteHeap) Len() int { return len(h) }

func (h siteHeap) Less(i, j int) bool {
	if h[i].share != h[j].share {
		return h[i].share < h[j].share
	}
	return h[i].turn < h[j].turn
}

func (h siteHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *siteHeap) Push(x any) {
	u := x.(*siteUse)
	u.place = len(*h)
	*h = append(*h, u)
}

// Pop implements heap.Interface.
func (h *siteHeap) Pop() any {
	last := len(*h) - 1
	u := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return u
}
