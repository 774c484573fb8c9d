package frame

import (
	"context"
	"sync/atomic"
	"time"
)

// statusClientGone is the status in metrics for a request whose client disconnected before the answer. The client never
// sees this status.
const statusClientGone = 499

// watched returns a context that also ends when the client closes its connection, for operations with long work. It
// must be called after the body has been read. Until `stop` returns, no other code may read from the connection.
//
// A client that closes only its sending half is treated as disconnected, as in Go's own server. The context of its
// request ends, but an answer that is already complete is still sent. If the client sends its next request early, the
// connection is no longer watched.
func (c *call) watched(ctx context.Context, op *Operation) (_ context.Context, stop func()) {
	conn, ok := c.http.Conn().(*edgeConn)
	if !op.Watched || !ok || conn.SetReadDeadline(time.Time{}) != nil {
		return ctx, func() {}
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	var gone atomic.Bool
	go func() {
		defer close(done)
		_ = raw.Read(func(fd uintptr) bool {
			arrived, known := peek(fd)
			if known && !arrived {
				gone.Store(true)
				cancel()
			}
			return known
		})
	}()
	return ctx, func() {
		// This deadline is in the past, so it ends the goroutine's wait. fasthttp sets a new deadline before its next
		// read.
		_ = conn.SetReadDeadline(time.Unix(1, 0))
		<-done
		_ = conn.SetReadDeadline(time.Time{})
		cancel()
		c.gone = gone.Load()
	}
}
