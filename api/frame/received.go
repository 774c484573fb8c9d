package frame

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/fair"
)

// bodyPieces are the possible sizes of a body's buffer. When the buffer is full, a larger buffer replaces it. The
// larger buffer has bodyLeap times the size, or only the announced length of the body if this is less. The first size
// is not counted. Larger sizes are counted against Config.BodyMemory.
var bodyPieces = [...]int{
	16 << 10,
	64 << 10,
	128 << 10,
	256 << 10,
	512 << 10,
	1 << 20,
	2 << 20,
	4 << 20,
	8 << 20,
	16 << 20,
}

const bodyLeap = 8

const (
	// bodyWait is the longest time for which a body waits for memory. After this time, the request is refused.
	bodyWait = 2 * time.Second
	// The bodies of one token may take 1/bodyShare of the memory, or leastBodyShare if this is more. leastBodyShare has
	// room for one body of the largest size, compressed and decompressed. Without shares, anybody with the key of a
	// site, which is public, could block the large bodies of other callers.
	bodyShare      = 4
	leastBodyShare = 32 << 20
)

// bodyMemory limits the memory of the bodies of all requests in flight, and shares it between tokens. Compressed and
// decompressed bodies are both counted.
type bodyMemory struct {
	gate   *fair.Gate
	pieces [len(bodyPieces)]sync.Pool

	mu      sync.Mutex
	holders map[string]*bodyHolder // holders has, by token, the holders of bodies that use memory or wait for it.
}

// noTokenHolder is the name of the holder of all bodies without a token. All these bodies together may take the memory
// of one token.
const noTokenHolder = "none"

// bodyHolder has the use of the memory by one token. `bodies` is the number of its bodies that use memory or wait for
// it.
type bodyHolder struct {
	fair.Party
	token  string
	bodies int
}

// bodyPiecesMost is the gate's limit on slots. Each larger buffer takes a slot. This limit is so high that the limit on
// bytes is always reached first.
const bodyPiecesMost = 1 << 32

func newBodyMemory(bytes int, wait time.Duration) *bodyMemory {
	m := &bodyMemory{
		gate: fair.New(fair.Room{
			Slots: bodyPiecesMost, Bytes: int64(bytes), PartyBytes: max(int64(bytes)/bodyShare, leastBodyShare), Wait: wait,
		}, unwatched{}),
		holders: map[string]*bodyHolder{},
	}
	for i, size := range bodyPieces {
		m.pieces[i].New = func() any {
			piece := make([]byte, 0, size)
			return &piece
		}
	}
	return m
}

// hold returns the holder of a token. Each call of hold needs a call of drop.
func (m *bodyMemory) hold(token string) *bodyHolder {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.holders[token]
	if h == nil {
		h = &bodyHolder{token: token}
		m.holders[token] = h
	}
	h.bodies++
	return h
}

func (m *bodyMemory) drop(h *bodyHolder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h.bodies--; h.bodies == 0 {
		delete(m.holders, h.token)
	}
}

// unwatched ignores the gate's reports about how many bodies wait and for how long.
type unwatched struct{}

func (unwatched) Waiting(int) {}

func (unwatched) Waited(time.Duration) {}

func (m *bodyMemory) take(class int) *[]byte {
	piece := m.pieces[class].Get().(*[]byte)
	*piece = (*piece)[:0]
	return piece
}

// body is the part of a request's body that has been received or decompressed. It belongs to a call until the call
// ends.
type body struct {
	memory *bodyMemory
	// token is the id of the token against whose share the body is counted. `holder` is set when the body gets a larger
	// buffer than the first one.
	token  string
	holder *bodyHolder
	piece  *[]byte
	class  int
	// announced is the body's length in bytes by its header; it is below 1 if the length is unknown.
	announced int
	// taken has, for each larger buffer that the body got, the number of bytes that were counted for it.
	taken []int64
	probe [1]byte
}

var errBodyTooLarge = errors.New("the body is larger than its limit")

// fill reads `r` to its end, but at most `limit` bytes. It calls `ready` before each read, if `ready` is not nil.
func (b *body) fill(ctx context.Context, r io.Reader, limit int, ready func() error) ([]byte, error) {
	if b.piece == nil {
		b.piece, b.class = b.memory.take(0), 0
	}
	for empty := 0; empty < 100; empty++ {
		have := len(*b.piece)
		room := b.probe[:]
		if have < limit {
			if have == cap(*b.piece) {
				if err := b.grow(ctx, limit); err != nil {
					return nil, err
				}
			}
			room = (*b.piece)[have:min(cap(*b.piece), limit)]
		}
		if ready != nil {
			if err := ready(); err != nil {
				return nil, err
			}
		}
		n, err := r.Read(room)
		if n > 0 && have == limit {
			return nil, errBodyTooLarge
		}
		*b.piece = (*b.piece)[:have+n]
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return *b.piece, err
		}
		if n > 0 {
			empty = 0
		}
	}
	return nil, io.ErrNoProgress
}

// grow replaces the full buffer by a larger one. If there is not enough memory, it waits. `limit` is the largest size
// of the body in bytes.
func (b *body) grow(ctx context.Context, limit int) error {
	if b.class+1 == len(bodyPieces) {
		return errBodyTooLarge
	}
	if b.holder == nil {
		b.holder = b.memory.hold(b.token)
	}
	class := b.nextClass(limit)
	growth := int64(bodyPieces[class])
	if b.class > 0 {
		growth -= int64(bodyPieces[b.class])
	}
	switch b.memory.gate.Enter(ctx, &b.holder.Party, "", growth) {
	case fair.OwnShare, fair.MemberShare:
		return schema.TooManyRequests("too many large bodies of this token are on their way, try again", time.Second)
	case fair.Full:
		return &schema.Error{
			Code: schema.CodeUnavailable, Message: "too many large bodies are on their way, try again", RetryAfter: time.Second, Cause: ctx.Err(),
		}
	case fair.Admitted:
	}
	b.taken = append(b.taken, growth)
	next := b.memory.take(class)
	*next = append(*next, *b.piece...)
	b.memory.pieces[b.class].Put(b.piece)
	b.piece, b.class = next, class
	return nil
}

// nextClass returns the index, in bodyPieces, of the size that follows the full buffer's size.
func (b *body) nextClass(limit int) int {
	want := min(bodyLeap*bodyPieces[b.class], limit)
	if b.announced > 0 {
		want = min(want, b.announced)
	}
	for class := b.class + 1; class < len(bodyPieces); class++ {
		if bodyPieces[class] >= want {
			return class
		}
	}
	return len(bodyPieces) - 1
}

// release returns the body's memory. Code that stored these bytes would now see the data of another request.
func (b *body) release() {
	if b.piece == nil {
		return
	}
	b.memory.pieces[b.class].Put(b.piece)
	if b.holder != nil {
		for _, growth := range b.taken {
			b.memory.gate.Leave(&b.holder.Party, "", growth)
		}
		b.memory.drop(b.holder)
	}
	b.piece, b.holder, b.class, b.taken = nil, nil, 0, b.taken[:0]
}

// chunks reads a chunked body, and limits the bytes of framing between two parts of data. Without this limit, the
// extensions after a chunk's size could be endless, because fasthttp does not limit them.
type chunks struct {
	io.Reader
	conn *edgeConn
}

// chunkPart is the largest number of bytes of data in one read. chunkFraming is the number of further bytes that may be
// read, for framing and because fasthttp reads ahead.
const (
	chunkPart    = 64 << 10
	chunkFraming = 64 << 10
)

func (c chunks) Read(p []byte) (int, error) {
	p = p[:min(len(p), chunkPart)]
	c.conn.mayRead(len(p) + chunkFraming)
	return c.Reader.Read(p)
}

// receive reads the body from the connection. The frame has already admitted the caller.
func (c *call) receive(ctx context.Context, op *Operation) ([]byte, error) {
	request := &c.http.Request
	length := request.Header.ContentLength()
	if length > op.BodyLimit {
		return nil, tooLarge(op)
	}
	stream := request.BodyStream()
	if stream == nil {
		// Without a stream, the body is empty, or a test has set it.
		got := request.Body()
		if c.received = len(got); c.received > op.BodyLimit {
			return nil, tooLarge(op)
		}
		return got, nil
	}
	var ready func() error
	if length < 0 || length > bodyPieces[0] {
		ready = c.awaitProgress
	}
	holder := noTokenHolder
	if c.Principal != nil {
		holder = c.Principal.TokenID
	}
	c.raw.token, c.inflated.token = holder, holder
	c.raw.announced = length
	if conn, ok := c.http.Conn().(*edgeConn); ok && length < 0 {
		stream = chunks{stream, conn}
		defer conn.mayReadAll()
	}
	got, err := c.raw.fill(ctx, stream, op.BodyLimit, ready)
	c.received = len(got)
	if err == nil && (len(got) < length || length < 0 && clientEnded(c.http)) {
		// fasthttp's streams report EOF both at the end of the body and when the connection closes.
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		// The client has not sent the rest of the body yet, so the connection cannot be reused.
		c.http.SetConnectionClose()
		return nil, receiveError(op, err)
	}
	return got, request.CloseBodyStream()
}

// awaitProgress sets the read deadline for the next part of a large body: after bodyStall, but within readTimeout of
// the request's start.
func (c *call) awaitProgress() error {
	deadline := time.Now().Add(c.bodyStall)
	if whole := c.Now.Add(c.readTimeout); whole.Before(deadline) {
		deadline = whole
	}
	return c.http.Conn().SetReadDeadline(deadline)
}

func receiveError(op *Operation, err error) error {
	if errors.Is(err, errBodyTooLarge) {
		return tooLarge(op)
	}
	if refusal, ok := errors.AsType[*schema.Error](err); ok {
		return refusal
	}
	return malformedError(err)
}
