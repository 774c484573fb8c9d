package fair

import "container/heap"

// queueUp puts a request at the end of its party's queue. If too many requests are waiting, it removes the newest
// request of the party with the most waiting requests. The removed request may be the new request itself. It returns
// the waiter. If the new request is removed, it returns nil and the verdict.
func (g *Gate) queueUp(p *Party, name string, weight int64) (*waiter, Verdict) {
	for g.outside.slots >= g.room.Waiting || g.outside.bytes+weight > g.room.waitingBytes() {
		most := p
		share := g.shareOf(load{slots: p.outside.slots + 1, bytes: p.outside.bytes + weight})
		for other := range g.waiting {
			if s := g.shareOf(other.outside); other != p && s > share {
				most, share = other, s
			}
		}
		w := most.newest(name, most == p)
		if w == nil {
			return nil, g.verdict(p, name, weight)
		}
		w.verdict = g.verdict(w.party, w.member, w.weight)
		g.dequeue(w)
		g.deactivateIfIdle(w.party)
		close(w.done)
	}
	w := &waiter{party: p, member: name, weight: weight, done: make(chan struct{})}
	if p.idle() {
		g.active++
	}
	g.outside.add(weight)
	p.outside.add(weight)
	if m := g.member(p, name); m != nil {
		m.outside++
	}
	w.at = p.waiting.PushBack(w)
	if p.waiting.Len() == 1 {
		g.came++
		p.came = g.came
		g.waiting[p] = struct{}{}
	}
	g.sort(p)
	g.admit()
	return w, Admitted
}

// newest returns the request that must leave the party's queue: the newest request of the member with the most waiting
// requests. If `own` is set, a new request of the member `comes` is also counted as waiting. `newest` returns nil if
// the new request itself must leave.
func (p *Party) newest(comes string, own bool) *waiter {
	most, count := "", int64(0)
	if own {
		if most, count = comes, 1; p.members[comes] != nil {
			count += p.members[comes].outside
		}
	}
	for name, m := range p.members {
		if m.outside > count || m.outside == count && !own && name < most {
			most, count = name, m.outside
		}
	}
	if own && most == comes {
		return nil
	}
	for e := p.waiting.Back(); e != nil; e = e.Prev() {
		if w := e.Value.(*waiter); p.members == nil || w.member == most {
			return w
		}
	}
	return nil
}

// dequeue removes a waiter from its party's queue.
func (g *Gate) dequeue(w *waiter) {
	p := w.party
	p.waiting.Remove(w.at)
	w.at = nil
	g.outside.sub(w.weight)
	p.outside.sub(w.weight)
	if m := p.members[w.member]; m != nil {
		m.outside--
		p.forget(w.member, m)
	}
	if p.waiting.Len() == 0 {
		delete(g.waiting, p)
	}
	g.sort(p)
}

// sort moves a party to its place in the queue, by its present use. If no request of the party may enter, `sort`
// removes the party.
func (g *Gate) sort(p *Party) {
	if g.next(p) == nil {
		if p.place > 0 {
			heap.Remove(&g.queue, p.place-1)
		}
		return
	}
	p.share = g.shareOf(p.inside)
	if p.place > 0 {
		heap.Fix(&g.queue, p.place-1)
	} else {
		heap.Push(&g.queue, p)
	}
}

// giveUp removes a waiter that timed out. If the waiter was admitted or refused in the meantime, giveUp returns that
// verdict.
func (g *Gate) giveUp(w *waiter) Verdict {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.at == nil {
		return w.verdict
	}
	verdict := g.verdict(w.party, w.member, w.weight)
	g.dequeue(w)
	g.deactivateIfIdle(w.party)
	g.admit() // the next request may need less room
	return verdict
}

// verdict returns the reason why there is no room. OwnShare means that the party is at its limit, or that the party
// uses more than an equal share of the room. OwnShare also means that there is free room, but Headroom does not allow
// the party to use it. MemberShare means that only the member is at its limit. Full means any other reason.
func (g *Gate) verdict(p *Party, name string, weight int64) Verdict {
	room, allowed := g.fits(p, weight)
	switch {
	case g.partyFull(p, weight) || room && !allowed || g.shareOf(p.inside)*float64(max(g.active, 1)) > 1:
		return OwnShare
	case g.memberFull(p, name, weight):
		return MemberShare
	}
	return Full
}
