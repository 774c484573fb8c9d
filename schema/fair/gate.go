package fair

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// Room defines the capacity of a gate, and how parties share it.
type Room struct {
	// Slots is the largest number of admitted requests, and Bytes is the largest sum of their bytes. If Bytes is 0, the
	// gate does not count bytes.
	Slots, Bytes int64
	// Waiting bounds the number of waiting requests. 0 means the same number as Slots. WaitingBytes bounds the bytes of
	// waiting requests. 0 means the same number as Bytes.
	Waiting, WaitingBytes int64
	// Wait is the longest time that a request waits.
	Wait time.Duration
	// Headroom limits the room of one party to Headroom times the free room. So a new party always finds free room. If
	// Headroom is 0, there is no such limit. If it is 3, a single party gets at most three quarters of the room, and
	// two parties together get at most six sevenths.
	Headroom int64
	// PartySlots and MemberSlots limit the slots of a party and of a party's member. If a value is 0, there is no
	// limit.
	PartySlots, MemberSlots int64
	// PartyBytes and MemberBytes limit the bytes of a party and of a party's member. If a value is 0, there is no
	// limit. MemberBytes needs MemberSlots.
	PartyBytes, MemberBytes int64
}

func (r Room) waitingBytes() int64 {
	if r.WaitingBytes == 0 {
		return r.Bytes
	}
	return r.WaitingBytes
}

// Verdict is the outcome of Enter.
type Verdict int

// The verdicts.
const (
	// Admitted means that the request is inside, and that the caller must call Leave.
	Admitted Verdict = iota
	// OwnShare means that the party has used up its share.
	OwnShare
	// MemberShare means that the member has used up its share of the party's room. Other members may have room.
	MemberShare
	// Full means that other parties fill the room.
	Full
)

// Observer observes waiting requests. Its methods are called without the gate's
// lock.
type Observer interface {
	Waiting(delta int)
	Waited(time.Duration)
}

// Gate admits requests. A request that finds no room waits for a bounded time. The next request comes from the party
// that uses the smallest share of the room. If parties use equal shares, it comes from the party whose last request was
// admitted first. Within a party, it comes from the member that uses the smallest share. The requests of a member enter
// in the order of their arrival. A request without bytes waits only for a slot, so it may enter before requests that
// wait for bytes.
type Gate struct {
	room     Room
	observer Observer

	mu      sync.Mutex
	inside  load
	outside load // load of the waiting requests
	active  int  // parties with a request inside or waiting
	waiting map[*Party]struct{}
	queue   partyHeap // waiting parties, each with a request that may enter
	turn    uint64    // turn counts admitted requests
	came    uint64    // came counts the parties that have begun to wait
	scan    uint64    // scan counts calls of next
}

// load has a number of requests, the sum of their bytes, and how many of them have no bytes.
type load struct{ slots, bytes, light int64 }

func (l *load) add(bytes int64) { l.change(1, bytes) }
func (l *load) sub(bytes int64) { l.change(-1, -bytes) }

func (l *load) change(slots, bytes int64) {
	l.slots += slots
	l.bytes += bytes
	if bytes == 0 {
		l.light += slots
	}
}

// Party shares the room with other parties. The zero value is ready to use. A Party belongs to one gate, and the gate's
// lock guards it.
type Party struct {
	inside  load
	outside load
	waiting list.List          // waiting has elements of type *waiter, the oldest first
	members map[string]*member // members with a request inside or waiting; used only if MemberSlots is set
	place   int                // index in Gate.queue plus 1; 0 if the party is not in the queue
	share   float64            // sort key of the queue
	turn    uint64             // value of Gate.turn at its last admitted request
	came    uint64             // value of Gate.came when it began to wait
}

type member struct {
	inside  load
	outside int64
	turn    uint64
	scan    uint64 // value of Gate.scan at the last call of next that visited the member
}

type waiter struct {
	party   *Party
	member  string
	weight  int64
	at      *list.Element // at is nil if the waiter no longer waits
	done    chan struct{} // done is closed when the waiter is admitted or refused
	verdict Verdict
}

// New makes a gate.
func New(r Room, o Observer) *Gate {
	if r.Waiting == 0 {
		r.Waiting = r.Slots
	}
	return &Gate{room: r, observer: o, waiting: map[*Party]struct{}{}}
}

// Enter acquires a slot and room for bytes, for a member of a party. Call Leave with the same arguments to release
// them. A request that is larger than the whole room, or than a limit of its party or member, is counted with the size
// of the limit. So it can enter when no other request is inside.
func (g *Gate) Enter(ctx context.Context, p *Party, name string, bytes int64) Verdict {
	weight := g.Weight(bytes)
	g.mu.Lock()
	if g.fitsMember(p, name, weight) && (g.passes(weight) || g.isNext(p) && !g.overtakes(p, name)) {
		g.take(p, name, weight)
		if p.place > 0 {
			g.sort(p)
		}
		g.mu.Unlock()
		return Admitted
	}
	w, verdict := g.queueUp(p, name, weight)
	g.mu.Unlock()
	if w == nil {
		return verdict
	}
	g.observer.Waiting(1)
	defer g.observer.Waiting(-1)
	began := time.Now()
	timer := time.NewTimer(g.room.Wait)
	defer timer.Stop()
	select {
	case <-w.done:
		verdict = w.verdict
	case <-timer.C:
		verdict = g.giveUp(w)
	case <-ctx.Done():
		verdict = g.giveUp(w)
	}
	g.observer.Waited(time.Since(began))
	return verdict
}

// Leave releases the slot and the bytes that Enter has taken.
func (g *Gate) Leave(p *Party, name string, bytes int64) {
	weight := g.Weight(bytes)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside.sub(weight)
	p.inside.sub(weight)
	if m := p.members[name]; m != nil {
		m.inside.sub(weight)
		p.forget(name, m)
	}
	g.sort(p)
	g.deactivateIfIdle(p)
	g.admit()
}

// SetSlots changes how many requests may be inside. Requests that are inside stay there.
func (g *Gate) SetSlots(slots int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.room.Slots != slots {
		g.room.Slots = slots
		g.admit()
	}
}

// Weight returns the number of bytes that a gate counts for a request of this size: at most the member's limit, the
// party's limit and the whole room.
func (g *Gate) Weight(bytes int64) int64 {
	for _, limit := range []int64{g.room.MemberBytes, g.room.PartyBytes} {
		if limit > 0 {
			bytes = min(bytes, limit)
		}
	}
	return min(bytes, g.room.Bytes)
}

// passes reports whether a request may enter before requests that wait for bytes.
func (g *Gate) passes(weight int64) bool { return g.room.Bytes > 0 && weight == 0 }

// Inside returns the number of bytes that the requests inside take.
func (g *Gate) Inside() (bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside.bytes
}

// Idle reports whether the party has no request inside or waiting.
func (g *Gate) Idle(p *Party) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return p.idle()
}

func (p *Party) idle() bool { return p.inside.slots == 0 && p.outside.slots == 0 }

// shareOf returns the share of the room that a load takes. This is the larger of its share of the slots and its share
// of the bytes.
func (g *Gate) shareOf(l load) float64 {
	share := float64(l.slots) / float64(g.room.Slots)
	if g.room.Bytes > 0 {
		share = max(share, float64(l.bytes)/float64(g.room.Bytes))
	}
	return share
}

// fits reports whether there is enough free room, and whether the limits of the party allow a request.
func (g *Gate) fits(p *Party, weight int64) (room, allowed bool) {
	free := load{slots: g.room.Slots - g.inside.slots, bytes: g.room.Bytes - g.inside.bytes}
	room = free.slots >= 1 && free.bytes >= weight
	allowed = !g.partyFull(p, weight)
	if h := g.room.Headroom; h > 0 {
		allowed = allowed && p.inside.slots+1 <= h*free.slots && p.inside.bytes+weight <= h*free.bytes
	}
	return room, allowed
}

// fitsMember reports whether there is enough free room, and whether the limits of the party and of the member allow a
// request.
func (g *Gate) fitsMember(p *Party, name string, weight int64) bool {
	room, allowed := g.fits(p, weight)
	return room && allowed && !g.memberFull(p, name, weight)
}

// isNext reports whether a new request of the party enters before all waiting requests.
func (g *Gate) isNext(p *Party) bool {
	return len(g.queue) == 0 || p.place == 0 && g.shareOf(p.inside) < g.queue[0].share
}

// overtakes reports whether a new request would enter before an older request. The older request is a waiting request
// of the same member, or of a member whose own limits allow it to enter.
func (g *Gate) overtakes(p *Party, name string) bool {
	for e := p.waiting.Front(); e != nil && g.room.MemberBytes > 0; e = e.Next() {
		if w := e.Value.(*waiter); w.member == name || !g.memberFull(p, w.member, w.weight) {
			return true
		}
	}
	return false
}

func (g *Gate) partyFull(p *Party, weight int64) bool {
	return g.room.PartySlots > 0 && p.inside.slots >= g.room.PartySlots ||
		g.room.PartyBytes > 0 && p.inside.bytes+weight > g.room.PartyBytes
}

func (g *Gate) memberFull(p *Party, name string, weight int64) bool {
	m := p.members[name]
	return m != nil && (m.inside.slots >= g.room.MemberSlots || g.room.MemberBytes > 0 && m.inside.bytes+weight > g.room.MemberBytes)
}

// memberShare returns the fraction of its limits that a member takes.
func (g *Gate) memberShare(m *member) float64 {
	share := float64(m.inside.slots) / float64(g.room.MemberSlots)
	if g.room.MemberBytes > 0 {
		share = max(share, float64(m.inside.bytes)/float64(g.room.MemberBytes))
	}
	return share
}

// member finds or creates a party's member. It returns nil if MemberSlots is 0.
func (g *Gate) member(p *Party, name string) *member {
	if g.room.MemberSlots == 0 {
		return nil
	}
	m := p.members[name]
	if m == nil {
		if p.members == nil {
			p.members = map[string]*member{}
		}
		m = &member{}
		p.members[name] = m
	}
	return m
}

func (p *Party) forget(name string, m *member) {
	if m.inside.slots == 0 && m.outside == 0 {
		delete(p.members, name)
	}
}

// take counts a request as inside, with its slot and its bytes.
func (g *Gate) take(p *Party, name string, weight int64) {
	if p.idle() {
		g.active++
	}
	g.turn++
	p.turn = g.turn
	g.inside.add(weight)
	p.inside.add(weight)
	if m := g.member(p, name); m != nil {
		m.inside.add(weight)
		m.turn = g.turn
	}
}

// deactivateIfIdle decrements the number of active parties if the party has no request left.
func (g *Gate) deactivateIfIdle(p *Party) {
	if p.idle() {
		g.active--
	}
}

// next returns the party's request that enters next. It is nil if no request waits. It is also nil if the party has
// used up its share, or if each of its waiting members has.
func (g *Gate) next(p *Party) *waiter {
	var best *waiter
	var least *member
	g.scan++
	for e := p.waiting.Front(); e != nil; e = e.Next() {
		w := e.Value.(*waiter)
		if g.room.MemberSlots == 0 {
			best = w
			break
		}
		m := p.members[w.member]
		if m.scan == g.scan {
			continue // an earlier request of the member enters first
		}
		if m.scan = g.scan; g.memberFull(p, w.member, w.weight) {
			continue
		}
		share, leastShare := g.memberShare(m), 0.
		if least != nil {
			leastShare = g.memberShare(least)
		}
		if least == nil || share < leastShare || share == leastShare && m.turn < least.turn {
			best, least = w, m
		}
	}
	if best != nil && g.partyFull(p, best.weight) {
		// A party at its limit must not block parties that are below their limits.
		return nil
	}
	return best
}

// admit admits waiting requests as long as the next request fits. If it does not fit, only requests without bytes may
// enter before it. Otherwise smaller requests would take all free room, and a large request would wait forever.
func (g *Gate) admit() {
	for len(g.queue) > 0 {
		p := g.queue[0]
		w := g.next(p)
		if room, allowed := g.fits(p, w.weight); !room || !allowed {
			break
		}
		g.admitWaiter(w)
	}
	for w := g.nextPassing(); w != nil; w = g.nextPassing() {
		g.admitWaiter(w)
	}
}

func (g *Gate) admitWaiter(w *waiter) {
	// Take the room before the request leaves the queue, so that the party stays active.
	g.take(w.party, w.member, w.weight)
	g.dequeue(w)
	close(w.done)
}

// nextPassing returns a waiting request without bytes that may now enter before requests that wait for bytes. It
// chooses the party with the smallest share of the room in use, and returns the oldest such request of this party. It
// returns nil if there is no such request.
func (g *Gate) nextPassing() (best *waiter) {
	if g.outside.light == 0 || !g.passes(0) || g.inside.slots >= g.room.Slots {
		return nil
	}
	for p := range g.waiting {
		if p.outside.light == 0 {
			continue
		}
		p.share = g.shareOf(p.inside)
		if best != nil && !p.before(best.party) {
			continue
		}
		for e := p.waiting.Front(); e != nil; e = e.Next() {
			if w := e.Value.(*waiter); w.weight == 0 && g.fitsMember(p, w.member, 0) {
				best = w
				break
			}
		}
	}
	return best
}
