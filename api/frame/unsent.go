package frame

import (
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
)

const (
	// freeAnswer is the largest size of an answer that is not counted. Such an answer fits into the buffer that each
	// connection has anyway.
	freeAnswer = writeBuffer
	// streamedAnswer is the number of bytes that are counted for an answer that is read piece by piece. See
	// edgeConn.ReadFrom.
	streamedAnswer = leastPiece
	// The answers to one address may take 1/unsentShare of the memory.
	unsentShare = 4
	// unsentRetry is the pause after which a caller may try again.
	unsentRetry = time.Second
)

// unsent limits the memory of answers that clients have not read yet, in total and for each address. A trusted proxy
// forwards requests of many clients, so only the total limit applies to it.
type unsent struct {
	most    int64
	trusted []netip.Prefix
	observe func(bytes int64)

	mu  sync.Mutex
	all ledger
	of  map[netip.Addr]*ledger
}

// ledger counts the bytes of answers. Bytes that several answers share are counted once.
type ledger struct {
	bytes  int64
	shared map[string]int
}

// unsentAnswer is an answer that is counted.
type unsentAnswer struct {
	address netip.Addr
	bytes   int64
	// shared is the shared answer whose bytes are sent; it is nil if the answer has its own bytes.
	shared *sharedAnswer
}

func newUnsent(cfg Config, observe func(bytes int64)) *unsent {
	return &unsent{
		most: int64(cfg.AnswerMemory), trusted: cfg.TrustedProxies, observe: observe,
		all: ledger{shared: map[string]int{}}, of: map[netip.Addr]*ledger{},
	}
}

// cost returns the number of bytes that the ledger would count in addition if an answer were added to it.
func (l *ledger) cost(a *unsentAnswer) int64 {
	if a.shared != nil && l.shared[a.shared.name] > 0 {
		return 0
	}
	return a.bytes
}

func (l *ledger) add(a *unsentAnswer) {
	l.bytes += l.cost(a)
	if a.shared != nil {
		l.shared[a.shared.name]++
	}
}

func (l *ledger) remove(a *unsentAnswer) {
	if a.shared != nil {
		if l.shared[a.shared.name]--; l.shared[a.shared.name] > 0 {
			return
		}
		delete(l.shared, a.shared.name)
	}
	l.bytes -= a.bytes
}

// take counts an answer, or returns an error if the answer must not be sent. An answer to a change is always sent,
// because the change is done and a retry would repeat it. `admit` limits changes before they are made.
func (u *unsent) take(a *unsentAnswer, changed bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	own := u.of[a.address]
	if own == nil {
		own = &ledger{shared: map[string]int{}}
	}
	if err := u.refusal(own, a); err != nil && !changed {
		return err
	}
	u.of[a.address] = own
	own.add(a)
	u.all.add(a)
	u.observe(u.all.bytes)
	return nil
}

// refusal returns an error if an answer must not be sent. The answers to an address may take its share of the memory,
// if there is enough free memory. If an address has no unread answer, its share is not checked, because a single answer
// may be larger than the share.
func (u *unsent) refusal(own *ledger, a *unsentAnswer) error {
	free := u.most - u.all.bytes
	if cost := own.cost(a); cost > 0 && own.bytes > 0 && !access.Trusted(a.address, u.trusted) &&
		own.bytes+cost > min(u.most/unsentShare, free) {
		return schema.TooManyRequests("this address has not read its answers yet, try again", unsentRetry)
	}
	if cost := u.all.cost(a); cost > 0 && u.all.bytes > 0 && cost > free {
		return schema.Unavailable(errors.New("too many answers are not read yet"), unsentRetry)
	}
	return nil
}

// admit returns an error for a change if the unread answers of the caller's address already take the address's share of
// the memory.
func (u *unsent) admit(ip netip.Addr) error {
	a := &unsentAnswer{address: access.Network(ip), bytes: 1}
	u.mu.Lock()
	defer u.mu.Unlock()
	if own := u.of[a.address]; own != nil {
		return u.refusal(own, a)
	}
	return nil
}

// leave stops counting an answer that has been sent, or will never be sent.
func (u *unsent) leave(a *unsentAnswer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	own := u.of[a.address]
	own.remove(a)
	if own.bytes == 0 && len(own.shared) == 0 {
		delete(u.of, a.address)
	}
	u.all.remove(a)
	u.observe(u.all.bytes)
}

// keep counts a call's response as unread until the connection has sent it. It returns an error if the response must
// not be sent. A small response with its own bytes is not counted. A response without a connection is not counted
// either; only tests make such responses.
func (f *frame) keep(c *call, rt *route) error {
	response := &c.http.Response
	bytes := int64(streamedAnswer)
	if c.shared != nil {
		bytes = int64(len(c.shared.answer.Body))
	} else if !response.IsBodyStream() {
		body := response.Body()
		// The buffer is from an earlier, larger answer, and all of it would be counted.
		if cap(body) > 2*len(body)+freeAnswer {
			response.SetBodyRaw(slices.Clone(body))
			body = response.Body()
		}
		bytes = int64(cap(body))
	}
	conn, ok := c.http.Conn().(*edgeConn)
	if !ok || c.shared == nil && bytes <= freeAnswer {
		return nil
	}
	answer := &unsentAnswer{address: access.Network(c.IP), bytes: bytes, shared: c.shared}
	if err := f.unsent.take(answer, rt.changes); err != nil {
		return err
	}
	c.shared = nil // The connection releases the shared answer when the answer has been sent.
	conn.unsent.Store(answer)
	return nil
}

// sent stops counting a connection's answer.
func (f *frame) sent(conn *edgeConn) {
	answer := conn.unsent.Swap(nil)
	if answer == nil {
		return
	}
	f.unsent.leave(answer)
	if answer.shared != nil {
		f.shared.leave(answer.shared)
	}
}
