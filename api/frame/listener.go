package frame

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
)

// These are the reasons for refusing a connection or closing it early, as values of a metric's label.
const (
	endedByAddress = "address"
	endedByAll     = "all"
	endedIdle      = "idle"
	endedStalled   = "stalled"
)

// connections has the open connections, and limits their number in total and for each address. A trusted proxy forwards
// requests of many clients, so only the total limit applies to it.
type connections struct {
	most, mostOfAddress int
	trusted             []netip.Prefix
	ended               func(reason string)
	// sent is called when the answer on a connection has been sent, or when the connection is closed earlier.
	sent func(conn *edgeConn)
	// stall is Config.WriteStall.
	stall time.Duration

	mu        sync.Mutex
	open      map[*edgeConn]struct{}
	ofAddress map[netip.Addr]int
}

func newConnections(cfg Config, ended func(reason string), sent func(conn *edgeConn)) *connections {
	return &connections{
		most: cfg.MaxConns, mostOfAddress: cfg.MaxConnsPerIP, trusted: cfg.TrustedProxies,
		ended: ended, sent: sent, stall: cfg.WriteStall,
		open: map[*edgeConn]struct{}{}, ofAddress: map[netip.Addr]int{},
	}
}

// admit accepts a new connection, or returns the reason for refusing it. If the largest number of connections is
// reached, it first closes connections that have been idle longest.
func (c *connections) admit(conn *edgeConn) (refused string) {
	counted := c.mostOfAddress > 0 && !access.Trusted(conn.ip, c.trusted)
	address := access.Network(conn.ip)
	c.mu.Lock()
	defer c.mu.Unlock()
	if counted && c.ofAddress[address] >= c.mostOfAddress {
		return endedByAddress
	}
	if len(c.open) >= c.most && c.closeIdle() == 0 {
		return endedByAll
	}
	c.open[conn] = struct{}{}
	if counted {
		c.ofAddress[address]++
		conn.counted = address
	}
	return ""
}

func (c *connections) forget(conn *edgeConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
	if !conn.counted.IsValid() {
		return
	}
	if c.ofAddress[conn.counted]--; c.ofAddress[conn.counted] == 0 {
		delete(c.ofAddress, conn.counted)
	}
}

// closeIdle closes the connections that have been idle longest: a sixteenth of the allowed connections, and at least
// one. It closes many together, so it runs rarely and may be slow. The caller holds c.mu. It removes the connections
// from `open` itself, because `forget` needs the lock.
func (c *connections) closeIdle() int {
	idle := make([]*edgeConn, 0, len(c.open))
	for conn := range c.open {
		if conn.idleSince.Load() > 0 {
			idle = append(idle, conn)
		}
	}
	slices.SortFunc(idle, func(a, b *edgeConn) int { return int(a.idleSince.Load() - b.idleSince.Load()) })
	closed := 0
	for _, conn := range idle {
		since := conn.idleSince.Load()
		if since <= 0 || !conn.idleSince.CompareAndSwap(since, connClosing) {
			continue // A request has arrived in the meantime.
		}
		_ = conn.TCPConn.Close()
		delete(c.open, conn)
		c.ended(endedIdle)
		if closed++; closed > c.most/16 {
			break
		}
	}
	return closed
}

func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// closeWaiting closes the connections whose clients have sent nothing yet.
func (c *connections) closeWaiting() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		if conn.waiting.Load() {
			_ = conn.TCPConn.Close()
		}
	}
}

// edgeListener is the server's listener. Accept returns a connection only after the first byte of its first request has
// arrived. The listener itself answers connections that are refused.
type edgeListener struct {
	*net.TCPListener
	connections *connections
	lingering   chan struct{}
	// firstWait is the longest wait for a connection's first byte.
	firstWait time.Duration
	begun     chan *edgeConn
	failed    chan error
	close     func()
	closed    chan struct{}
}

// mostLingering is the largest number of connections that linger at the same time. See edgeConn.Close.
const mostLingering = 256

// listen begins to accept connections.
func listen(l *net.TCPListener, c *connections, firstWait time.Duration) *edgeListener {
	closed := make(chan struct{})
	edge := &edgeListener{
		TCPListener: l, connections: c, lingering: make(chan struct{}, mostLingering), firstWait: firstWait,
		begun: make(chan *edgeConn), failed: make(chan error, 1), close: sync.OnceFunc(func() { close(closed) }), closed: closed,
	}
	go edge.run()
	return edge
}

// Accept returns a connection whose first request has begun. It never returns a temporary error, because fasthttp stops
// serving after any error.
func (l *edgeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.begun:
		return conn, nil
	case err := <-l.failed:
		return nil, err
	}
}

// Close ends the listener, and closes the connections whose clients have sent nothing yet.
func (l *edgeListener) Close() error {
	l.close()
	err := l.TCPListener.Close()
	l.connections.closeWaiting()
	return err
}

// acceptPause is the time for which the listener accepts no connections after a temporary error, such as too few file
// descriptors.
const acceptPause = 10 * time.Millisecond

func (l *edgeListener) run() {
	for {
		tcp, err := l.AcceptTCP()
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			l.connections.mu.Lock()
			l.connections.closeIdle()
			l.connections.mu.Unlock()
			time.Sleep(acceptPause)
			continue
		}
		if errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM) {
			time.Sleep(acceptPause)
			continue
		}
		if err != nil {
			l.failed <- err
			return
		}
		conn := &edgeConn{TCPConn: tcp, listener: l}
		if peer, ok := tcp.RemoteAddr().(*net.TCPAddr); ok {
			conn.ip = peer.AddrPort().Addr().Unmap()
		}
		conn.idleSince.Store(schema.Elapsed(time.Now()))
		conn.waiting.Store(true)
		if reason := l.connections.admit(conn); reason != "" {
			l.connections.ended(reason)
			refuseConnection(tcp, refusedConnections[reason])
			continue
		}
		go l.await(conn)
	}
}

// await passes a connection to Accept after its first byte has arrived. For each accepted connection, fasthttp
// allocates a buffer for the headers. Without this wait, ten thousand silent connections would use up the node's
// memory.
func (l *edgeListener) await(conn *edgeConn) {
	if !conn.awaitFirst() {
		_ = conn.Close()
		return
	}
	select {
	case l.begun <- conn:
	case <-l.closed:
		_ = conn.Close()
	}
}

// refusedConnections are the answers to connections that are not served, by reason.
var refusedConnections = map[string][]byte{
	endedByAddress: refusedConnection(schema.TooManyRequests("too many connections from this address", time.Second)),
	endedByAll:     refusedConnection(&schema.Error{Code: schema.CodeUnavailable, Message: "too many connections, try again", RetryAfter: time.Second}),
}

// refusedConnection encodes an answer in the form in which it is sent.
func refusedConnection(e *schema.Error) []byte {
	var ctx fasthttp.RequestCtx
	writeError(&ctx, e)
	ctx.SetConnectionClose()
	ctx.Response.Header.Set("X-Request-Id", "none")
	return append(ctx.Response.Header.Header(), ctx.Response.Body()...)
}

// refuseConnection answers without blocking, because other connections wait to be accepted. The answer fits into the
// empty buffer of a new connection. It first reads the part of the request that has already arrived. If the connection
// closed with unread data, it would be reset, and the client would lose the answer.
func refuseConnection(tcp *net.TCPConn, answer []byte) {
	_, _ = tcp.Write(answer)
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Read(func(fd uintptr) bool {
			var scrap [4 << 10]byte
			_, _ = syscall.Read(int(fd), scrap[:])
			return true
		})
	}
	_ = tcp.Close()
}

// connClosing is the value of idleSince for an idle connection that closeIdle closes. A request that arrives now gets
// no answer.
const connClosing = -1

// lingerTime is the time for which the server still reads from a connection after it has refused an incomplete request.
const lingerTime = 2 * time.Second

// edgeConn is a connection that records whether it is idle. Close lingers if necessary.
type edgeConn struct {
	*net.TCPConn
	listener *edgeListener
	ip       netip.Addr
	// counted is the address whose limit the connection is counted against, if any.
	counted netip.Addr
	// waiting is true until the first byte of the connection's first request arrives.
	waiting atomic.Bool
	// idleSince is the time at which the connection became idle, as schema.Elapsed; 0 during a request.
	idleSince atomic.Int64
	// unsent is the answer that the client has not read yet. It is nil if the answer is not counted.
	unsent atomic.Pointer[unsentAnswer]
	// Only the goroutine that serves and closes the connection uses the fields below. `unread` means that a request was
	// refused before it was read to its end. `begun` means that a byte has arrived. `ended` means that the client has
	// closed its sending side. `bounded` means that at most `allowance` bytes may still be read.
	unread, begun, ended, bounded bool
	allowance                     int
	closed                        atomic.Bool
}

// mayRead limits the number of bytes that may be read in total until mayReadAll is called.
func (c *edgeConn) mayRead(bytes int) { c.bounded, c.allowance = true, bytes }

func (c *edgeConn) mayReadAll() { c.bounded = false }

var errFraming = errors.New("the framing of a chunk is too long")

// awaitFirst waits until data arrives, without consuming it. It returns false if the connection ends or no data arrives
// in time.
func (c *edgeConn) awaitFirst() bool {
	defer c.waiting.Store(false)
	raw, err := c.SyscallConn()
	if err != nil || c.SetReadDeadline(time.Now().Add(c.listener.firstWait)) != nil {
		return false
	}
	select {
	case <-c.listener.closed: // closeWaiting may have run before this connection was in its list.
		return false
	default:
	}
	arrived := false
	err = raw.Read(func(fd uintptr) (done bool) {
		arrived, done = peek(fd)
		return done
	})
	return err == nil && arrived && c.SetReadDeadline(time.Time{}) == nil
}

// peek reports whether data has arrived, without consuming it. `known` is false if neither data nor the end of the
// connection has arrived.
func peek(fd uintptr) (arrived, known bool) {
	var next [1]byte
	n, _, err := syscall.Recvfrom(int(fd), next[:], syscall.MSG_PEEK)
	for errors.Is(err, syscall.EINTR) { // Try again here: the poller would wait for new data.
		n, _, err = syscall.Recvfrom(int(fd), next[:], syscall.MSG_PEEK)
	}
	return n > 0, !errors.Is(err, syscall.EAGAIN)
}

func (c *edgeConn) Read(p []byte) (int, error) {
	if c.bounded && c.allowance <= 0 {
		return 0, errFraming
	}
	n, err := c.TCPConn.Read(p)
	c.allowance -= n
	if n > 0 && !c.begun {
		c.begun = true
		c.busy()
	}
	if errors.Is(err, io.EOF) {
		c.ended = true
	}
	return n, err
}

func (c *edgeConn) busy() {
	if since := c.idleSince.Load(); since > 0 {
		c.idleSince.CompareAndSwap(since, 0)
	}
}

// connState updates idleSince when fasthttp reports a new state of a connection. fasthttp reports a connection as
// active even while it waits for the first request.
func connState(conn net.Conn, state fasthttp.ConnState) {
	c, ok := conn.(*edgeConn)
	if !ok {
		return
	}
	switch state { //nolint:exhaustive // other states change nothing
	case fasthttp.StateActive:
		if c.begun {
			c.busy()
		}
	case fasthttp.StateIdle:
		c.listener.connections.sent(c)
		c.idleSince.CompareAndSwap(0, schema.Elapsed(time.Now()))
	}
}

// clientEnded reports whether a request ended because its client disconnected.
func clientEnded(ctx *fasthttp.RequestCtx) bool {
	conn, ok := ctx.Conn().(*edgeConn)
	return ok && conn.ended
}

// Close lingers if a request was refused before its end: it reads for up to lingerTime before it closes the connection.
// If it closed with unread data, the connection would be reset, and the client would not see the answer, such as 413
// (RFC 9112, 9.6). If mostLingering connections already linger, Close does not linger.
func (c *edgeConn) Close() error {
	if !c.closed.CompareAndSwap(false, true) {
		return nil
	}
	defer c.listener.connections.forget(c)
	c.listener.connections.sent(c)
	if c.unread {
		select {
		case c.listener.lingering <- struct{}{}:
			c.linger()
			<-c.listener.lingering
		default:
		}
	}
	return c.TCPConn.Close()
}

func (c *edgeConn) linger() {
	if c.CloseWrite() != nil || c.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	var scrap [2 << 10]byte
	for {
		if _, err := c.TCPConn.Read(scrap[:]); err != nil {
			return
		}
	}
}
