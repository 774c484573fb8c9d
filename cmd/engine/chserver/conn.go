package chserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/ch-go/compress"
)

// conn is the connection of one client. All fields except `busy` belong to the connection's goroutine. While a
// statement runs, only the goroutine of `watch` reads from the connection.
type conn struct {
	server  *Server
	socket  net.Conn
	log     *slog.Logger
	in      wireReader
	plainIn plainReader
	frames  frameReader
	packer  *compress.Writer
	session *session
	busy    bool // guarded by server.mu

	blockBytes []byte // the last block that arrived
	blockShare share  // the part of Server.inserts that blockBytes has reserved for its bytes above keptBlock
	plain      []byte // the outgoing block before compression
	out        []byte // packets not yet written
	flushed    time.Time

	compressed bool // whether the current query's data is compressed
	sent       figures
	cancel     atomic.Bool // watch sets it when the client cancels the statement
}

func newConn(s *Server, socket net.Conn) *conn {
	// Use little memory until the client has logged in.
	return &conn{server: s, socket: socket, in: wireReader{bufio.NewReaderSize(socket, 512)}, blockShare: share{budget: &s.inserts}}
}

// welcome sets up the connection of a client that has logged in.
func (c *conn) welcome() {
	in := bufio.NewReaderSize(c.in, 64<<10)
	c.in, c.plainIn, c.frames = wireReader{in}, plainReader{in: in}, frameReader{r: in}
	c.packer = compress.NewWriter(compress.LevelZero, compress.LZ4)
	c.log = c.server.cfg.Logger.With("client", c.socket.RemoteAddr().String())
}

// brokenError is an error of the protocol or the connection after which the remaining bytes of the stream cannot be
// interpreted. It ends the connection.
type brokenError struct{ error }

func (e brokenError) Unwrap() error { return e.error }

func broken(err error) error {
	if err == nil {
		return nil
	}
	return brokenError{err}
}

// serve answers packets until the client disconnects.
func (c *conn) serve() {
	defer func() {
		if p := recover(); p != nil { // a panic in one connection must not end the process
			c.server.cfg.Logger.Error("A connection was closed by a panic.", "panic", p, "stack", string(debug.Stack()))
		}
		_ = c.socket.Close()
		if c.session != nil {
			c.session.close()
		}
	}()
	if err := c.greet(); err != nil {
		c.refuseLogin(err)
		return
	}
	var err error
	for err == nil {
		err = c.servePacket()
	}
	if e := (*exception)(nil); errors.As(err, &e) {
		c.log.Warn("A connection was closed by an error.", "error", err)
		c.out = appendException(c.out, e)
		_ = c.flush() // the client may have disconnected
		c.lingerAfterException(time.Second, 64<<20)
	} else if !isGone(err) {
		c.log.Warn("A connection was closed by an error.", "error", err)
	}
}

// errDone ends an idle connection because the server is closing.
var errDone = errors.New("the server is closing")

func isGone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, errDone)
}

// lingerAfterException continues to read for a while. Closing a socket with unread bytes would reset the connection,
// and the client might not get the exception.
func (c *conn) lingerAfterException(long time.Duration, most int64) {
	if tcp, ok := c.socket.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	_ = c.socket.SetReadDeadline(time.Now().Add(long))
	_, _ = io.CopyN(io.Discard, c.in, most)
}

// refuseLogin ends a connection that failed to log in. Any user of the machine can cause this, so only a few such
// connections are logged.
func (c *conn) refuseLogin(err error) {
	if isGone(err) {
		return
	}
	c.server.refused(c.socket.RemoteAddr(), err)
	if e := (*exception)(nil); errors.As(err, &e) {
		c.out = appendException(c.out, e)
		_ = c.flush() // the client may have disconnected
		c.lingerAfterException(200*time.Millisecond, 64<<10)
	}
}

func (c *conn) greet() error {
	if err := c.socket.SetDeadline(time.Now().Add(helloTimeout)); err != nil {
		return fmt.Errorf("cannot set a deadline: %w", err)
	}
	greeting, err := readGreeting(c.in)
	if err != nil {
		return err
	}
	if err := greeting.check(c.server.cfg.User, c.server.cfg.Password); err != nil {
		return err
	}
	if !c.server.admit(c) {
		return refuse(codeTooManyConns, "Too many connections: at most %d are served", c.server.cfg.MaxConnections)
	}
	c.welcome()
	if c.session, err = c.server.engine.openSession(greeting.database); err != nil {
		return err
	}
	c.out = appendGreeting(c.out, c.server.engine.version)
	if err := c.flush(); err != nil {
		return err
	}
	if _, err := c.in.text(maxShortText); err != nil { // the addendum has only a quota key
		return err
	}
	if err := c.socket.SetDeadline(time.Time{}); err != nil {
		return fmt.Errorf("cannot clear a deadline: %w", err)
	}
	return nil
}

// servePacket waits for one packet and answers it.
func (c *conn) servePacket() error {
	if !c.server.setBusy(c, false) {
		return errDone
	}
	code, err := c.in.uvarint()
	if err != nil {
		return err
	}
	c.server.setBusy(c, true)
	switch code {
	case clientPing:
		c.out = append(c.out, serverPong)
		return c.flush()
	case clientQuery:
		return c.serveQuery()
	case clientCancel: // this Cancel is too late, because the statement has finished
		return nil
	}
	return refuse(codeUnexpectedPacket, "Unexpected packet %d from client", code)
}

// serveQuery answers one query. An exception from the engine is an answer too.
func (c *conn) serveQuery() error {
	q, err := readQuery(c.in)
	if err != nil {
		return err
	}
	c.compressed, c.sent = q.compressed, figures{}
	c.cancel.Store(false)
	c.flushed = time.Now()
	total, err := c.answerQuery(q)
	if e := (brokenError{}); errors.As(err, &e) {
		return e.error
	}
	if err != nil {
		c.out = appendException(c.out, asException(err))
		return c.flush()
	}
	if err := c.progress(total); err != nil {
		return err
	}
	c.out = appendProfileInfo(c.out, total)
	c.out = append(c.out, serverEndOfStream)
	return c.flush()
}

func asException(err error) *exception {
	if e := (*exception)(nil); errors.As(err, &e) {
		return e
	}
	return refuse(codeUnknown, "%v", err)
}

func (c *conn) answerQuery(q *query) (figures, error) {
	defer c.dropBlock()
	if err := c.refuseExternalTables(); err != nil {
		return figures{}, err
	}
	if err := c.server.engine.guard.check(q.text); err != nil {
		return figures{}, err
	}
	st, err := outline(q.text)
	if err != nil {
		return figures{}, err
	}
	if st.kind == insertData {
		return c.answerInsert(st, q)
	}
	defer c.watch()()
	return c.session.run(st, q, c)
}

// refuseExternalTables reads the blocks after a query up to the empty block. Any other block is an external table.
func (c *conn) refuseExternalTables() error {
	var tables int
	for {
		b, err := c.readData()
		if err != nil {
			return err
		}
		if b == nil {
			return errCancelled
		}
		if len(b.columns) == 0 {
			break
		}
		tables++
	}
	if tables > 0 {
		return refuse(codeNotImplemented, "External tables are not supported by the embedded engine")
	}
	return nil
}

// block queues a block for the client. Because of this method, conn implements the interface `answer`.
func (c *conn) block(b *block) error {
	c.out = appendDataHead(c.out)
	if !c.compressed {
		c.out = appendBlock(c.out, b, onWire)
		return nil
	}
	c.plain = appendBlock(c.plain[:0], b, onWire)
	var err error
	c.out, err = appendFrames(c.out, c.packer, c.plain)
	return err
}

// progress queues a Progress packet with the rows and bytes that were added since its last call. It flushes if many
// bytes are queued, or if the last flush was long ago. So a short answer is sent in one write, and a long answer in
// several writes.
func (c *conn) progress(total figures) error {
	c.out = appendProgress(c.out, total.since(c.sent))
	c.sent = total
	const much, long = 128 << 10, 10 * time.Millisecond
	if len(c.out) > much || time.Since(c.flushed) > long {
		return c.flush()
	}
	return nil
}

func (c *conn) cancelled() bool { return c.cancel.Load() }

// flush writes the queued packets.
func (c *conn) flush() error {
	_, err := c.socket.Write(c.out)
	const keep = 4 << 20
	if c.out = c.out[:0]; cap(c.out) > keep {
		c.out = nil
	}
	c.flushed = time.Now()
	if err != nil {
		return broken(fmt.Errorf("cannot write to the client: %w", err))
	}
	return nil
}

// watch kills the running statement if the client sends Cancel or disconnects. The caller must call `stop` before it
// reads from the connection again.
func (c *conn) watch() (stop func()) {
	over, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		packet, err := c.in.Peek(1)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return
		case err == nil && packet[0] != clientCancel:
			return // servePacket reads this packet later
		case err == nil:
			_, _ = c.in.Discard(1)
		}
		c.cancel.Store(true)
		for {
			c.server.engine.kill(c.session.marker)
			if waitFor(over, killEvery) {
				return
			}
		}
	}()
	return func() {
		close(over)
		_ = c.socket.SetReadDeadline(time.Unix(1, 0)) // end the wait of Peek in watch's goroutine
		<-stopped
		_ = c.socket.SetReadDeadline(time.Time{})
	}
}
