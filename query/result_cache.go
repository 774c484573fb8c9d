package query

import (
	"context"
	"crypto/sha256"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// headerAge is how many seconds ago an answer was made that another query got first.
const headerAge = "Age"

// origin is where an answer came from, for metrics: a closed set.
type origin string

// The origins of answers.
const (
	fromRun    origin = "run"
	fromShared origin = "shared" // an equal query was running
	fromKept   origin = "kept"   // an equal query had run
)

func origins() []origin { return []origin{fromRun, fromShared, fromKept} }

// answers lets equal queries have one answer, as long as it is not too old: those
// that are asked while one of them runs, and those that come soon after.
//
// Each caller waits for a turn of its own, so nobody waits behind another's share; the
// first whose turn comes runs the query, and the others give up their places. Who
// gets an answer in this way is charged nothing: it costs nothing.
type resultCache struct {
	keep    time.Duration // 0: no answers are shared
	bytes   int
	now     func() time.Time
	metrics *Metrics

	mu   sync.Mutex
	kept *simplelru.LRU[cacheKey, *cachedAnswer]
	size int // bytes of the kept answers
	runs map[cacheKey]*sharedRun
}

// cacheKey is a query: its site, and a hash of its kind and its plan.
type cacheKey struct {
	site string
	plan [sha256.Size]byte
}

// cachedAnswer is an answer that nobody changes.
type cachedAnswer struct {
	body        []byte
	headers     map[string]string
	made, until time.Time // made is when the query was asked
}

// keptOverhead is what a kept answer takes beside its body, about.
const keptOverhead = 1 << 10

func (k *cachedAnswer) size() int { return len(k.body) + keptOverhead }

// keptTimes is how many times as long an answer is kept as its caller waited for it. What
// is quick is made again soon, so that users see their own events at once.
const keptTimes = 10

// sharedRun is a query that waits or runs, for all its callers.
type sharedRun struct {
	asked   time.Time          // by the first caller, or by the caller that reruns it
	callers int                // the number of callers that still need it
	turn    context.Context    // ends when the turn of a caller has come
	begin   context.CancelFunc // ends it
	begun   bool

	done   chan struct{}
	answer *cachedAnswer
	err    error
	class  class // of err
	again  bool  // it ended for a reason of the caller that ran it
}

func newResultCache(c Config, m *Metrics) *resultCache {
	a := &resultCache{keep: c.Keep, bytes: c.KeepBytes, now: time.Now, metrics: m, runs: map[cacheKey]*sharedRun{}}
	// The bytes bound it, and each answer has some.
	a.kept, _ = simplelru.NewLRU(1+c.KeepBytes/keptOverhead, func(_ cacheKey, k *cachedAnswer) { a.size -= k.size() })
	return a
}

// shared answers a query: with an answer that is young enough, together with equal
// queries that are being asked, or by making it. Queries of a kind and a site with
// equal keys have the same answer, but for what now is.
func (q *query) shared(ctx context.Context, key string, answer answerFunc) ([]byte, map[string]string, error) {
	a := q.service.cache
	id := cacheKey{q.site, sha256.Sum256([]byte(string(q.kind) + "\n" + key))}
	asked := a.now() // about when the work's time ends
	for now := asked; ; now = a.now() {
		kept, f := a.find(id, asked, now, q.who.Fresh)
		if kept != nil {
			return a.reuse(q, kept, fromKept)
		}
		leave, err := q.turn(ctx, id, f)
		if err != nil {
			return nil, nil, q.failed(ctx, err)
		}
		if leave != nil {
			defer leave()
			return a.run(ctx, q, id, f, answer)
		}
		select {
		case <-f.done:
			err = nil
		case <-ctx.Done():
			err = ctx.Err()
		}
		a.forsake(id, f)
		switch {
		case err != nil:
			return nil, nil, q.failed(ctx, err)
		case f.again:
		case f.err != nil:
			a.metrics.errors[q.kind][f.class].Inc()
			return nil, nil, f.err
		default:
			return a.reuse(q, f.answer, fromShared)
		}
	}
}

// turn waits for the query's turn. Without leave, another caller's came first.
func (q *query) turn(ctx context.Context, id cacheKey, f *sharedRun) (leave func(), err error) {
	a := q.service.cache
	if f.turn.Err() != nil {
		return nil, nil
	}
	waiting, stop := context.WithCancel(f.turn)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	leave, err = q.service.admission.enter(waiting, q.who, q.cost)
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.begun {
		if err == nil {
			leave()
		}
		return nil, nil
	}
	if err != nil {
		a.drop(id, f)
		return nil, err
	}
	f.begun = true
	f.begin()
	return leave, nil
}

// run makes the answer for all who ask for it.
func (
	a *resultCache,
) run(ctx context.Context, q *query, id cacheKey, f *sharedRun, answer answerFunc) ([]byte, map[string]string, error) {
	f.again = true // should it panic
	defer a.end(id, f)
	body, headers, err := q.admitted(ctx, answer)
	f.again = err != nil && ctx.Err() != nil
	if err != nil {
		f.err, f.class = err, q.class
		return nil, nil, err
	}
	took := a.now().Sub(f.asked)
	f.answer = &cachedAnswer{
		body: body, headers: maps.Clone(headers), made: f.asked, until: f.asked.Add(min(a.keep, keptTimes*took)),
	}
	return body, headers, nil
}

// end lets the others have what a run came to, and keeps it for those who come later,
// unless a younger run has its place, or the site was changed: see Forget.
func (a *resultCache) end(id cacheKey, f *sharedRun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.answer != nil && a.runs[id] == f {
		a.put(id, f.answer)
	}
	if a.drop(id, f); a.runs[id] == f {
		delete(a.runs, id)
	}
	close(f.done)
}

// find returns a kept answer, or the run to take part in, for who asked then and looks
// now. Who has to make an answer again, after the one who ran it left, asked a while ago,
// and does so about the time up to then: later ones must not take it for young. A fresh
// answer is that of a run that nobody asked for before; it takes the place of older ones.
func (a *resultCache) find(id cacheKey, asked, now time.Time, fresh bool) (*cachedAnswer, *sharedRun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k, ok := a.kept.Get(id); ok && now.Before(k.until) && !fresh {
		return k, nil
	}
	old := a.keep
	if fresh {
		old = 0
	}
	f := a.runs[id]
	if f == nil || asked.Sub(f.asked) > old {
		f = &sharedRun{asked: asked, done: make(chan struct{})}
		f.turn, f.begin = context.WithCancel(context.Background())
		if a.keep > 0 {
			a.runs[id] = f
		}
	}
	f.callers++
	return nil, f
}

// forsake takes no part in a run any more.
func (a *resultCache) forsake(id cacheKey, f *sharedRun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(id, f)
}

// drop is forsake for callers that hold the lock. Without callers, nobody will run it.
func (a *resultCache) drop(id cacheKey, f *sharedRun) {
	if f.callers--; f.callers > 0 {
		return
	}
	f.begin()
	if a.runs[id] == f && !f.begun {
		delete(a.runs, id)
	}
}

// put keeps an answer in place of an older one. The caller holds the lock.
func (a *resultCache) put(id cacheKey, k *cachedAnswer) {
	defer func() { a.metrics.keptBytes.Set(float64(a.size)) }()
	a.kept.Remove(id)
	if k.size() > a.bytes/8 || !a.now().Before(k.until) {
		return
	}
	a.size += k.size()
	a.kept.Add(id, k)
	for a.size > a.bytes {
		a.kept.RemoveOldest()
	}
	for { // what is too old, as far as it is among the oldest
		id, old, ok := a.kept.GetOldest()
		if !ok || a.now().Before(old.until) {
			break
		}
		a.kept.Remove(id)
	}
}

// reuse answers a query with an answer that was made for another.
func (a *resultCache) reuse(q *query, k *cachedAnswer, from origin) ([]byte, map[string]string, error) {
	headers := maps.Clone(k.headers)
	headers[headerAge] = strconv.Itoa(int(max(0, a.now().Sub(k.made)) / time.Second))
	q.answered(from)
	return k.body, headers, nil
}

// Forget drops what is kept of a site, whose events were changed: no query that is
// asked after it gets an answer that was made before, from this node.
func (s *Service) Forget(site string) {
	a := s.cache
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range a.kept.Keys() {
		if id.site == site {
			a.kept.Remove(id)
		}
	}
	for id := range a.runs {
		if id.site == site {
			delete(a.runs, id)
		}
	}
	a.metrics.keptBytes.Set(float64(a.size))
}
