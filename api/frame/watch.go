package frame

import (
	"context"
	"sync/atomic"
	"time"
)

// statusClientGone is the status in metrics for a request whose client disconnected before the answer. The client does
// not get the status.
const statusClientGone = 499

// watched returns a context that also ends when the client closes its connection, for operations with long work. Call
// it only after the body has been read. Until stop returns, no other code may read from the connection.
//
// A client that only closes its sending half counts as disconnected, as in Go's own server. The request of such a
// client ends, but an answer that is already complete is sent. A client that sends its next request early does not
// count as disconnected. The connection of such a client is not watched any more.
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
		// This deadline ends the wait. fasthttp sets another deadline before its next read.
		_ = conn.SetReadDeadline(time.Unix(1, 0))
		<-done
		_ = conn.SetReadDeadline(time.Time{})
		cancel()
		c.gone = gone.Load()
	}
}
