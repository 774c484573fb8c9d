package api

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/octavo-docs/octavo/schema"
)

// bodyPieces are the sizes that a body's buffer goes through. It grows by what has arrived, never by what was announced. The
// first piece is as large as the connection's own buffer and free; the others count against Config.BodyMemory.
var bodyPieces = [...]int{16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20}

const (
	// bodyWait is how long a body waits for memory before its request is refused.
	bodyWait = 2 * time.Second
	// bodyStall is how long a large body may stand still.
	bodyStall = 5 * time.Second
)

// bodyMemory bounds what the bodies of all requests in flight take, as sent and inflated.
type bodyMemory struct {
	budget *semaphore.Weighted
	wait   time.Duration
	pieces [len(bodyPieces)]sync.Pool
}

func newBodyMemory(bytes int) *bodyMemory {
	m := &bodyMemory{budget: semaphore.NewWeighted(int64(bytes)), wait: bodyWait}
	for i, size := range bodyPieces {
		m.pieces[i].New = func() any {
			piece := make([]byte, 0, size)
			return &piece
		}
	}
	return m
}

func (m *bodyMemory) take(class int) *[]byte {
	piece := m.pieces[class].Get().(*[]byte)
	*piece = (*piece)[:0]
	return piece
}

// body is one request's body in memory, as far as it has come. It belongs to a call until the call ends.
type body struct {
	memory *bodyMemory
	piece  *[]byte
	class  int
	probe  [1]byte
}

var errBodyTooLarge = errors.New("the body is larger than its limit")

// fill reads to the end of r, and at most limit bytes. ready is called before each read beyond the first piece.
func (b *body) fill(ctx context.Context, r io.Reader, limit int, ready func() error) ([]byte, error) {
	if b.piece == nil {
		b.piece, b.class = b.memory.take(0), 0
	}
	for empty := 0; empty < 100; empty++ {
		have := len(*b.piece)
		room := b.probe[:]
		if have < limit {
			if have == cap(*b.piece) {
				if err := b.grow(ctx); err != nil {
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

// grow makes room for the next piece, waiting for memory if there is none.
func (b *body) grow(ctx context.Context) error {
	if b.class+1 == len(bodyPieces) {
		return errBodyTooLarge
	}
	more := int64(bodyPieces[b.class+1] - bodyPieces[b.class])
	if b.class == 0 {
		more = int64(bodyPieces[1])
	}
	if !b.memory.budget.TryAcquire(more) {
		bounded, cancel := context.WithTimeout(ctx, b.memory.wait)
		defer cancel()
		if err := b.memory.budget.Acquire(bounded, more); err != nil {
			return &schema.Error{
				Code: schema.CodeUnavailable, Message: "too many large bodies are on their way, try again",
				RetryAfter: time.Second, Cause: err,
			}
		}
	}
	next := b.memory.take(b.class + 1)
	*next = append(*next, *b.piece...)
	b.memory.pieces[b.class].Put(b.piece)
	b.piece, b.class = next, b.class+1
	return nil
}

// release gives the memory back. Whoever kept a part of it sees the next request's data.
func (b *body) release() {
	if b.piece == nil {
		return
	}
	b.memory.pieces[b.class].Put(b.piece)
	if b.class > 0 {
		b.memory.budget.Release(int64(bodyPieces[b.class]))
	}
	b.piece, b.class = nil, 0
}

// receive reads the body off the connection. The frame has admitted the caller before.
func (c *call) receive(ctx context.Context, op *Operation) ([]byte, error) {
	request := &c.http.Request
	length := request.Header.ContentLength()
	if length > op.BodyLimit {
		return nil, tooLarge(op)
	}
	stream := request.BodyStream()
	if stream == nil {
		// There is none, or a test has put it there.
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
	got, err := c.raw.fill(ctx, stream, op.BodyLimit, ready)
	c.received = len(got)
	if err == nil && (len(got) < length || length < 0 && clientEnded(c.http)) {
		// fasthttp's streams end alike with the body and with the connection.
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		// The rest of the body is still to come: the connection cannot go on.
		c.http.SetConnectionClose()
		return nil, receiveError(op, err)
	}
	return got, request.CloseBodyStream()
}

// awaitProgress gives the next part of a large body its time.
func (c *call) awaitProgress() error {
	deadline := time.Now().Add(bodyStall)
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
