package fair

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

type watched struct{ waiting atomic.Int64 }

func (w *watched) Waiting(delta int)    { w.waiting.Add(int64(delta)) }
func (w *watched) Waited(time.Duration) {}

// crowd sends requests to a gate and records the order of their admission.
type crowd struct {
	t       *testing.T
	gate    *Gate
	watched watched
	parties map[string]*Party
	entered chan string // "party/member"
	refused chan Verdict
	wait    sync.WaitGroup
}

func newCrowd(t *testing.T, r Room) *crowd {
	t.Helper()
	if r.Wait == 0 {
		r.Wait = time.Hour
	}
	c := &crowd{t: t, parties: map[string]*Party{}, entered: make(chan string, 1000), refused: make(chan Verdict, 1000)}
	c.gate = New(r, &c.watched)
	return c
}

func (c *crowd) party(name string) *Party {
	if c.parties[name] == nil {
		c.parties[name] = &Party{}
	}
	return c.parties[name]
}

// come calls Enter in the background. An admitted request stays inside until `leave` is called.
func (c *crowd) come(party, member string) { c.comeWith(party, member, 1) }

func (c *crowd) comeWith(party, member string, bytes int64) {
	p := c.party(party)
	c.wait.Go(func() {
		if v := c.gate.Enter(c.t.Context(), p, member, bytes); v != Admitted {
			c.refused <- v
			return
		}
		c.entered <- party + "/" + member
	})
}

func (c *crowd) leave(party, member string) { c.gate.Leave(c.party(party), member, 1) }

func (c *crowd) wantEntered(want ...string) {
	c.t.Helper()
	left := map[string]int{}
	for _, w := range want {
		left[w]++
	}
	for range want {
		select {
		case got := <-c.entered:
			if left[got]--; left[got] < 0 {
				c.t.Fatalf("%s entered, wanted %v", got, want)
			}
		case <-time.After(eventually.Patience):
			c.t.Fatalf("not all of %v entered", want)
		}
	}
	if len(c.entered) > 0 {
		c.t.Fatalf("%s entered as well", <-c.entered)
	}
}

func (c *crowd) wantRefused(want Verdict) {
	c.t.Helper()
	select {
	case got := <-c.refused:
		if got != want {
			c.t.Fatalf("verdict %d, want %d", got, want)
		}
	case <-time.After(eventually.Patience):
		c.t.Fatal("no request was refused")
	}
}

func (c *crowd) wantWaiting(n int64) {
	c.t.Helper()
	eventually.True(c.t, fmt.Sprint(n, " to wait"), func() bool { return c.watched.waiting.Load() == n })
}

func (c *crowd) wantIdle() {
	c.t.Helper()
	c.wait.Wait()
	g := c.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside != (load{}) || g.outside != (load{}) || g.active != 0 || len(g.queue) != 0 || len(g.waiting) != 0 {
		c.t.Errorf("left: inside %+v, outside %+v, %d active, %d in the queue, %d waiting", g.inside, g.outside, g.active, len(g.queue), len(g.waiting))
	}
	for name, p := range c.parties {
		if !p.idle() || len(p.members) != 0 {
			c.t.Errorf("%s has something left", name)
		}
	}
}

// TestSetSlots reduces the number of slots while requests are inside. When it increases the number again, waiting
// requests enter.
func TestSetSlots(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, Room{Slots: 4, Waiting: 100})
	for range 4 {
		c.come("a", "")
	}
	c.wantEntered("a/", "a/", "a/", "a/")
	c.gate.SetSlots(2)
	c.come("b", "")
	c.wantWaiting(1)
	c.leave("a", "")
	c.leave("a", "")
	c.wantWaiting(1)
	c.leave("a", "")
	c.wantEntered("b/")
	c.come("c", "")
	c.come("c", "")
	c.wantWaiting(2)
	c.gate.SetSlots(4)
	c.wantEntered("c/", "c/")
	for _, party := range []string{"a", "b", "c", "c"} {
		c.leave(party, "")
	}
	c.wantIdle()
}

// TestMemberBound: a member at its limit waits although there is room. Requests of other members of its party enter
// before its requests.
func TestMemberBound(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, Room{Slots: 8, Waiting: 100, PartySlots: 4, MemberSlots: 2})
	for range 80 {
		c.come("a", "greedy")
	}
	c.wantEntered("a/greedy", "a/greedy")
	c.wantWaiting(78)
	c.come("a", "modest")
	c.wantEntered("a/modest")
	c.come("b", "other")
	c.wantEntered("b/other")
	c.leave("a", "greedy")
	c.wantEntered("a/greedy")
	for range 77 {
		c.leave("a", "greedy")
		c.wantEntered("a/greedy")
	}
	for range 2 {
		c.leave("a", "greedy")
	}
	c.leave("a", "modest")
	c.leave("b", "other")
	c.wantIdle()
}

// TestPartyBound: a party cannot use the whole room, even if it has many members.
func TestPartyBound(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, Room{Slots: 8, Waiting: 100, PartySlots: 3, MemberSlots: 2})
	for i := range 3 {
		c.come("a", fmt.Sprint(i))
		c.wantEntered(fmt.Sprint("a/", i))
	}
	c.come("a", "3")
	c.wantWaiting(1)
	c.come("b", "0")
	c.wantEntered("b/0")
	c.leave("a", "0")
	c.wantEntered("a/3")
	for _, m := range []string{"1", "2", "3"} {
		c.leave("a", m)
	}
	c.leave("b", "0")
	c.wantIdle()
}

// TestFullPartyHoldsNobodyUp: a party at its limit of slots waits. Other parties do not have to wait for it, even if
// they use more slots.
func TestFullPartyHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, Room{Slots: 8, Bytes: 12, Waiting: 100, PartySlots: 4})
	for range 4 {
		c.comeWith("light", "", 0)
		c.wantEntered("light/")
	}
	for _, bytes := range []int64{4, 3} {
		c.comeWith("heavy", "", bytes)
		c.wantEntered("heavy/")
	}
	c.comeWith("light", "", 0)
	c.wantWaiting(1)
	c.comeWith("light", "", 1)
	c.wantWaiting(2)
	c.comeWith("heavy", "", 1)
	c.wantEntered("heavy/")
	c.comeWith("heavy", "", 6) // the room has 4 bytes left
	c.wantWaiting(3)
	c.gate.Leave(c.party("heavy"), "", 4)
	c.wantEntered("heavy/")
	c.gate.Leave(c.party("light"), "", 0)
	c.wantEntered("light/")
	c.gate.Leave(c.party("light"), "", 0)
	c.wantEntered("light/")
	for _, bytes := range []int64{0, 0, 0, 1} {
		c.gate.Leave(c.party("light"), "", bytes)
	}
	for _, bytes := range []int64{3, 1, 6} {
		c.gate.Leave(c.party("heavy"), "", bytes)
	}
	c.wantIdle()
}

// TestPartyBytes: a party at its limit of bytes waits although there is room. Other parties do not have to wait for it,
// even if they use equally many bytes.
func TestPartyBytes(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, Room{Slots: 100, Bytes: 8, PartyBytes: 2})
	for range 2 {
		c.come("a", "")
		c.wantEntered("a/")
	}
	for i := range 2 {
		c.come("a", "")
		c.wantWaiting(int64(i + 1))
	}
	for range 2 {
		c.come("b", "")
		c.wantEntered("b/")
	}
	c.leave("a", "")
	c.wantEntered("a/")
	c.wantWaiting(1)
	for _, party := range []string{"b", "b", "a"} {
		c.leave(party, "")
	}
	c.wantEntered("a/")
	if v := c.gate.Enter(cancelled(t), c.party("b"), "", 1000); v != Admitted {
		t.Errorf("a request above the limit, of a party with nothing inside: %d", v)
	}
	if v := c.gate.Enter(cancelled(t), c.party("b"), "", 1); v != OwnShare {
		t.Errorf("a party at its limit: %d", v)
	}
	c.gate.Leave(c.party("b"), "", 1000)
	for range 2 {
		c.leave("a", "")
	}
	c.wantIdle()
}

func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestEqualTurns: waiting requests enter party by party, not in the order of
// arrival.
func TestEqualTurns(t *testing.T) {
	t.Parallel()
	for name, room := range map[string]Room{"slots": {Slots: 1, Bytes: 1000}, "bytes": {Slots: 1000, Bytes: 1}, "members": {Slots: 1, MemberSlots: 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			room.Waiting = 100
			c := newCrowd(t, room)
			c.come("first", "")
			c.wantEntered("first/")
			// Bytes also bounds the bytes of waiting requests. Increase it while the requests wait, and fill the room.
			c.gate.mu.Lock()
			bytes := c.gate.room.Bytes
			if bytes == 1 {
				c.gate.room.Bytes, c.gate.inside.bytes = 1000, 1000
			}
			c.gate.mu.Unlock()
			for i, party := range []string{"a", "a", "a", "a", "b", "b", "c"} {
				c.come(party, "")
				c.wantWaiting(int64(i + 1))
			}
			c.gate.mu.Lock()
			if bytes == 1 {
				c.gate.room.Bytes, c.gate.inside.bytes = 1, 1
			}
			c.gate.mu.Unlock()
			c.leave("first", "")
			for _, party := range []string{"a", "b", "c", "a", "b", "a", "a"} {
				c.wantEntered(party + "/")
				c.leave(party, "")
			}
			c.wantIdle()
		})
	}
}

// TestVerdicts: a party at its own limit gets OwnShare. A party below its limit gets Full if other parties fill the
// room.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, Room{Slots: 4, PartySlots: 2, MemberSlots: 1, Wait: time.Millisecond})
	for _, who := range [][2]string{{"a", "1"}, {"a", "2"}, {"b", "1"}, {"c", "1"}} {
		c.come(who[0], who[1])
		c.wantEntered(who[0] + "/" + who[1])
	}
	for _, x := range []struct {
		party, member string
		want          Verdict
	}{{"a", "3", OwnShare}, {"b", "1", MemberShare}, {"b", "2", Full}, {"d", "1", Full}} {
		c.come(x.party, x.member)
		c.wantRefused(x.want)
	}
	for _, who := range [][2]string{{"a", "1"}, {"a", "2"}, {"b", "1"}, {"c", "1"}} {
		c.leave(who[0], who[1])
	}
	c.wantIdle()
}

// TestWhoGivesUpItsPlace: if too many requests are waiting, the member with the most waiting requests loses its newest
// request. The new request of another member stays.
func TestWhoGivesUpItsPlace(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, Room{Slots: 2, Waiting: 4, PartySlots: 2, MemberSlots: 1})
	c.come("a", "greedy")
	c.come("b", "1")
	c.wantEntered("a/greedy", "b/1")
	for i := range 3 {
		c.come("a", "greedy")
		c.wantWaiting(int64(i + 1))
	}
	c.come("a", "modest")
	c.wantWaiting(4)
	c.come("a", "modest") // greedy loses a request: it has three waiting requests, and modest would have two
	c.wantRefused(MemberShare)
	c.wantWaiting(4)
	c.come("c", "1")
	c.wantRefused(MemberShare)
	c.wantWaiting(4)
	c.come("a", "greedy") // this request is refused: greedy would have two waiting requests, and modest already has two
	c.wantRefused(OwnShare)
	c.leave("b", "1")
	c.wantEntered("c/1")
	c.leave("c", "1")
	c.wantEntered("a/modest")
	c.leave("a", "modest")
	c.wantEntered("a/modest")
	c.leave("a", "modest")
	c.leave("a", "greedy")
	c.wantEntered("a/greedy")
	c.leave("a", "greedy")
	c.wantIdle()
}

// TestMemberBytes: requests of a member or a party at its limit of bytes wait, and enter in the order of their arrival.
// A request without bytes enters before requests that wait for bytes, if its party and its member have free slots.
func TestMemberBytes(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, Room{Slots: 6, Bytes: 8, WaitingBytes: 1000, Waiting: 100, PartySlots: 4, MemberSlots: 3, PartyBytes: 6, MemberBytes: 4})
	c.comeWith("a", "heavy", 3)
	c.wantEntered("a/heavy")
	c.comeWith("a", "heavy", 2) // this request has to wait for the member's first request
	c.wantWaiting(1)
	c.comeWith("a", "heavy", 1) // this request waits for the second request, although it would fit
	c.wantWaiting(2)
	c.comeWith("a", "other", 1000) // the request counts as 4 bytes, but the party has only 3 bytes left
	c.wantWaiting(3)
	c.comeWith("a", "third", 1) // the requests of this member would fit, but an earlier member waits
	c.wantWaiting(4)
	for range 2 {
		c.comeWith("a", "heavy", 0)
		c.wantEntered("a/heavy")
	}
	c.comeWith("a", "heavy", 0) // the member already has three slots
	c.wantWaiting(5)
	c.comeWith("b", "1", 4)
	c.wantEntered("b/1")
	c.comeWith("c", "1", 4) // the room has only one byte left
	c.wantWaiting(6)
	c.comeWith("d", "1", 0)
	c.wantEntered("d/1")
	c.gate.Leave(c.party("a"), "heavy", 0)
	c.wantEntered("a/heavy")
	c.gate.Leave(c.party("b"), "1", 4)
	c.wantEntered("c/1") // c enters first, because its party uses no bytes
	for range 2 {
		c.gate.Leave(c.party("a"), "heavy", 0)
	}
	c.gate.Leave(c.party("d"), "1", 0)
	c.gate.Leave(c.party("a"), "heavy", 3)
	c.wantEntered("a/other")
	c.gate.Leave(c.party("c"), "1", 4)
	c.wantEntered("a/third")
	c.gate.Leave(c.party("a"), "third", 1)
	c.wantEntered("a/heavy")
	c.gate.Leave(c.party("a"), "other", 1000)
	c.wantEntered("a/heavy")
	for _, weight := range []int64{2, 1} {
		c.gate.Leave(c.party("a"), "heavy", weight)
	}
	c.wantIdle()
}

// TestBooks: requests enter and leave at random times. The gate never exceeds a limit, and at the end it is empty.
func TestBooks(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, Room{Slots: 10, Bytes: 1000, PartySlots: 6, MemberSlots: 3, PartyBytes: 900, MemberBytes: 600, Headroom: 3, Wait: 50 * time.Microsecond})
	for i := range 5 {
		c.party(fmt.Sprint(i))
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	g := c.gate
	for worker := range 64 {
		c.wait.Go(func() {
			random := rand.New(rand.NewPCG(uint64(worker), 1))
			for range 300 {
				p, member, size := c.parties[fmt.Sprint(random.IntN(5))], fmt.Sprint(random.IntN(3)), max(0, random.Int64N(800)-100)
				ctx := t.Context()
				if random.IntN(4) == 0 {
					ctx = cancelled
				}
				if g.Enter(ctx, p, member, size) != Admitted {
					continue
				}
				g.mu.Lock()
				if g.inside.slots > 10 || g.inside.bytes > 1000 || g.outside.slots > 10 || g.outside.bytes > 1000 || g.active > 5 ||
					p.inside.slots > 6 || p.inside.bytes > 900 || p.members[member].inside.slots > 3 || p.members[member].inside.bytes > 600 {
					t.Errorf("inside %+v, outside %+v, %d active, party %+v, member %+v", g.inside, g.outside, g.active, p.inside, p.members[member])
				}
				for i, q := range g.queue {
					if q.place != i+1 || g.next(q) == nil || q.share != g.shareOf(q.inside) {
						t.Error("the queue is not in heap order")
					}
				}
				g.mu.Unlock()
				g.Leave(p, member, size)
			}
		})
	}
	c.wantIdle()
}
