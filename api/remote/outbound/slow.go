package outbound

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// slowTime and slowBytes define a slow transfer: a transfer with fewer than 10 KB a second over 15 seconds.
const (
	slowTime  = 15 * time.Second
	slowBytes = 10_000 * int64(slowTime/time.Second)
)

type whenSlowKey struct{}

// WhenSlow returns a context for requests. If a request is slow, `found` is called in a separate goroutine of this
// request. It may be called many times.
func WhenSlow(ctx context.Context, found func()) context.Context {
	return context.WithValue(ctx, whenSlowKey{}, found)
}

// pace counts the bytes of a request and of its answer, and detects a slow transfer.
type pace struct {
	moved atomic.Int64
	found func()

	mu    sync.Mutex
	timer *time.Timer // timer is nil after the request has ended
}

// startPace starts to watch a request. It returns nil if the context is not from WhenSlow.
func startPace(ctx context.Context) *pace {
	found, ok := ctx.Value(whenSlowKey{}).(func())
	if !ok {
		return nil
	}
	p := &pace{found: found}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(slowTime, p.look)
	return p
}

func (p *pace) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	if p.moved.Swap(0) < slowBytes {
		p.found()
	}
	p.timer.Reset(slowTime)
}

func (p *pace) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// watch returns a body that reports its bytes to the pace. When the body of an answer ends, the watch ends.
func (p *pace) watch(body io.ReadCloser, answer bool) io.ReadCloser {
	if p == nil || body == nil || body == http.NoBody {
		if answer {
			p.end()
		}
		return body
	}
	return &paced{body, p, answer}
}

type paced struct {
	io.ReadCloser
	pace   *pace
	answer bool
}

func (b *paced) Read(data []byte) (int, error) {
	n, err := b.ReadCloser.Read(data)
	b.pace.moved.Add(int64(n))
	if err != nil && b.answer {
		b.pace.end()
	}
	return n, err
}

func (b *paced) Close() error {
	if b.answer {
		b.pace.end()
	}
	return b.ReadCloser.Close()
}
