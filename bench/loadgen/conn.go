package loadgen

import (
	"bufio"
	"context"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

// Conn is a keep-alive connection for use by one goroutine. The bytes of a request are prepared before, so the client
// needs little CPU time, and most of the measured time is the server's.
type Conn struct {
	address  string
	timeout  time.Duration
	conn     net.Conn // nil means that Exchange dials before the next request
	reader   *bufio.Reader
	response fasthttp.Response
}

// Dial opens a connection. The timeout limits the duration of each exchange.
func Dial(address string, timeout time.Duration) (*Conn, error) {
	c := &Conn{address: address, timeout: timeout}
	return c, c.dial()
}

func (c *Conn) dial() error {
	dialer := net.Dialer{Timeout: c.timeout}
	conn, err := dialer.DialContext(context.Background(), "tcp", c.address)
	if err != nil {
		return err
	}
	c.conn = conn
	if c.reader == nil {
		c.reader = bufio.NewReader(conn)
	}
	c.reader.Reset(conn)
	return nil
}

// Exchange sends a request and reads the response. `body` is valid until the next call of Exchange. After an error, the
// next call opens a new connection.
func (c *Conn) Exchange(request []byte) (status int, body []byte, err error) {
	if c.conn == nil {
		if err := c.dial(); err != nil {
			// Without this pause, the caller would retry in a busy loop while the server refuses connections.
			time.Sleep(10 * time.Millisecond)
			return 0, nil, err
		}
	}
	if err = c.conn.SetDeadline(time.Now().Add(c.timeout)); err == nil {
		_, err = c.conn.Write(request)
	}
	if err == nil {
		err = c.response.Read(c.reader)
	}
	if err != nil {
		c.Close()
		return 0, nil, err
	}
	if c.response.ConnectionClose() {
		c.Close()
	}
	return c.response.StatusCode(), c.response.Body(), nil
}

// Close ends the connection.
func (c *Conn) Close() {
	if c.conn != nil {
		_ = c.conn.Close() // no data is buffered, so an error of Close loses nothing
		c.conn = nil
	}
}
