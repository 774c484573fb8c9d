package fair

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// Room is how much may be inside of a gate, and how it is shared.
type Room struct {
	// Slots and Bytes bound what is inside. Bytes of 0 are not counted.
	Slots, Bytes int64
	// Waiting bounds who waits; 0 is as many as Slots. Their bytes are bounded
	// by Bytes.
	Waiting int64
	// Wait bounds how long.
	Wait time.Duration
	// Headroom is how many times the room that is still free one party may
	// use, so that a party that comes anew finds room at once; 0 sets no bound.
	// With 3, a party alone stops at three quarters of the room, two at six
	// sevenths together.
	Headroom int64
	// PartySlots and MemberSlots bound the slots of one party, and of one
	// member of a party; 0 sets no bound.
	PartySlots, MemberSlots int64
	// PartyBytes bounds the bytes of one party; 0 sets no bound. Only a gate
	// without bounds for members has it.
	PartyBytes int64
}

// Verdict is the outcome of Enter.
type Verdict int

// The verdicts.
const (
	// Admitted: the caller is inside and has to leave.
	Admitted Verdict = iota
	// OwnShare: the party, or the member, has used its share up.
	OwnShare
	// Full: others fill the room.
	Full
)

// Observer watches who waits. Its methods are called without the gate's lock.
type Observer interface {
	Waiting(delta int)
	Waited(time.Duration)
}

// Gate lets requests in. Who finds no room waits a bounded time. The next to
// enter is of the party that uses least, of equals the one whose last turn was
// the longest ago; within a party it is the member that uses least, and within
// a member first come first served.
type Gate struct {
	room     Room
	observer Observer

	mu      sync.Mutex
	inside  load
	outside load // waiting
	active  int  // parties with anything inside or outside
	waiting map[*Party]struct{}
	queue   partyHeap // waiting parties of which somebody may enter
	turn    uint64    // counts what entered
	came    uint64    // counts who began to wait
}

// load is a number of requests and their bytes.
type load struct{ slots, bytes int64 }

func (l *load) add(bytes int64) { l.slots++; l.bytes += bytes }
func (l *load) sub(bytes int64) { l.slots--; l.bytes -= bytes }

// Party is one that shares the room with others. The zero value is ready; it
// belongs to one gate, whose lock guards it.
type Party struct {
	inside  load
	outside load
	waiting list.List          // of *waiter, the oldest first
	members map[string]*member // those with anything inside or waiting, if members are bounded
	place   int                // in Gate.queue plus 1; 0 is not there
	share   float64            // as of its place in the queue
	turn    uint64             // when one of it entered last
	came    uint64             // when it began to wait
}

type member struct {
	inside, outside int64
	turn            uint64
}

type waiter struct {
	party   *Party
	member  string
	weight  int64
	at      *list.Element // nil once it waits no more
	done    chan struct{} // closed when it was let in or sent away
	verdict Verdict
}

// New makes a gate.
func New(r Room, o Observer) *Gate {
	if r.Waiting == 0 {
		r.Waiting = r.Slots
	}
	return &Gate{room: r, observer: o, waiting: map[*Party]struct{}{}}
}

// Enter takes a slot, and room for so many bytes, for a member of a party.
// Leave with the same arguments gives it back. A weight above all the room, or
// above a party's bound, counts as all of it: it enters when it is alone.
func (g *Gate) Enter(ctx context.Context, p *Party, name string, bytes int64) Verdict {
	weight := g.Weight(bytes)
	g.mu.Lock()
	if room, allowed := g.fits(p, weight); room && allowed && !g.memberFull(p, name) && g.isNext(p) {
		g.take(p, name, weight)
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

// Leave gives back what Enter took.
func (g *Gate) Leave(p *Party, name string, bytes int64) {
	weight := g.Weight(bytes)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside.sub(weight)
	p.inside.sub(weight)
	if m := p.members[name]; m != nil {
		m.inside--
		p.forget(name, m)
	}
	g.sort(p)
	g.rested(p)
	g.admit()
}

// Weight is what so many bytes count for.
func (g *Gate) Weight(bytes int64) int64 {
	if g.room.PartyBytes > 0 {
		bytes = min(bytes, g.room.PartyBytes)
	}
	return min(bytes, g.room.Bytes)
}

// Idle reports whether nobody of a party is inside or waits.
func (g *Gate) Idle(p *Party) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return p.idle()
}

func (p *Party) idle() bool { return p.inside.slots == 0 && p.outside.slots == 0 }

// shareOf is how much of the room a load takes, by what it takes most of.
func (g *Gate) shareOf(l load) float64 {
	share := float64(l.slots) / float64(g.room.Slots)
	if g.room.Bytes > 0 {
		share = max(share, float64(l.bytes)/float64(g.room.Bytes))
	}
	return share
}

// fits tells whether there is room at all, and whether the party may use it.
func (g *Gate) fits(p *Party, weight int64) (room, allowed bool) {
	free := load{g.room.Slots - g.inside.slots, g.room.Bytes - g.inside.bytes}
	room = free.slots >= 1 && free.bytes >= weight
	allowed = !g.partyFull(p, weight)
	if h := g.room.Headroom; h > 0 {
		allowed = allowed && p.inside.slots+1 <= h*free.slots && p.inside.bytes+weight <= h*free.bytes
	}
	return room, allowed
}

// isNext tells whether nobody who waits would enter before somebody who comes.
func (g *Gate) isNext(p *Party) bool {
	return len(g.queue) == 0 || p.place == 0 && g.shareOf(p.inside) < g.queue[0].share
}

func (g *Gate) partyFull(p *Party, weight int64) bool {
	return g.room.PartySlots > 0 && p.inside.slots >= g.room.PartySlots || g.overBytes(p, weight)
}

func (g *Gate) overBytes(p *Party, weight int64) bool {
	return g.room.PartyBytes > 0 && p.inside.bytes+weight > g.room.PartyBytes
}

func (g *Gate) memberFull(p *Party, name string) bool {
	m := p.members[name]
	return m != nil && m.inside >= g.room.MemberSlots
}

// member finds or makes a party's member; nil if members are not bounded.
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
	if m.inside == 0 && m.outside == 0 {
		delete(p.members, name)
	}
}

// take lets a request in.
func (g *Gate) take(p *Party, name string, weight int64) {
	if p.idle() {
		g.active++
	}
	g.turn++
	p.turn = g.turn
	g.inside.add(weight)
	p.inside.add(weight)
	if m := g.member(p, name); m != nil {
		m.inside++
		m.turn = g.turn
	}
}

// rested counts a party out that has nothing here any more.
func (g *Gate) rested(p *Party) {
	if p.idle() {
		g.active--
	}
}

// next is who of a party enters next, nil if the party, or every member that
// waits, has its share already.
func (g *Gate) next(p *Party) *waiter {
	front := p.waiting.Front()
	if front == nil {
		return nil
	}
	if g.room.MemberSlots == 0 {
		w := front.Value.(*waiter)
		if g.overBytes(p, w.weight) {
			return nil // it must not keep those back who have not
		}
		return w
	}
	var best *waiter
	var least *member
	for e := front; e != nil; e = e.Next() {
		w := e.Value.(*waiter)
		m := p.members[w.member]
		if m == least || m.inside >= g.room.MemberSlots {
			continue
		}
		if least == nil || m.inside < least.inside || m.inside == least.inside && m.turn < least.turn {
			best, least = w, m
		}
	}
	return best
}

// admit lets in who waits, as long as the next one fits. It does not look
// behind that one: a large body would wait for ever.
func (g *Gate) admit() {
	for len(g.queue) > 0 {
		p := g.queue[0]
		w := g.next(p)
		if room, allowed := g.fits(p, w.weight); !room || !allowed {
			return
		}
		g.take(p, w.member, w.weight) // before it leaves the queue, so that the party stays active
		g.dequeue(w)
		close(w.done)
	}
}
