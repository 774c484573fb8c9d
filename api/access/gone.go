package access

import (
	"context"
	"time"
)

// goneEvery is the interval at which long work checks whether the client is still connected.
const goneEvery = 250 * time.Millisecond

// UntilGone returns a context that is canceled when the client closes its connection. fasthttp itself notices this only
// when it writes the response. The operation must call `stop` before it returns. `stop` ends the goroutine that checks
// the connection.
func (c *Caller) UntilGone(ctx context.Context) (until context.Context, stop func()) {
	until, cancel := context.WithCancel(ctx)
	if c.conn == nil {
		return until, cancel
	}
	conn, ended := c.conn, make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(goneEvery)
		defer tick.Stop()
		for {
			select {
			case <-until.Done():
				return
			case <-tick.C:
				if closedByPeer(conn) {
					cancel()
				}
			}
		}
	}()
	return until, func() {
		cancel()
		<-ended
	}
}
