package api

import (
	"io"
	"net"
	"time"
)

// Bounds of what is still read from a connection whose request was refused before its end.
const (
	lingerBytes = 64 << 20
	lingerTime  = 2 * time.Second
)

// lingeringListener gives out connections that close with patience.
type lingeringListener struct {
	*net.TCPListener
}

func (l lingeringListener) Accept() (net.Conn, error) {
	conn, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return &lingeringConn{TCPConn: conn}, nil
}

// lingeringConn reads on for a while before it closes, when a request was refused before it was read to the end. A plain
// close with unread data resets the connection, and the client would see that instead of the 413 it was sent (RFC 9112, 9.6).
type lingeringConn struct {
	*net.TCPConn
	// unread is set by the handler of the connection's one goroutine, which is also the one that closes it.
	unread bool
}

func (c *lingeringConn) Close() error {
	if c.unread && c.CloseWrite() == nil && c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		// Whatever ends the reading, the connection is closed next.
		_, _ = io.CopyN(io.Discard, c.TCPConn, lingerBytes)
	}
	return c.TCPConn.Close()
}
