package kafkaserver

import (
	"bufio"
	"container/list"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// maxProduce limits a produce request, and maxRequest limits any other request. maxLogin limits requests before the
	// login.
	maxProduce = 64 << 20
	maxRequest = 1 << 20
	maxLogin   = 4 << 10
	// small is a size in bytes. The limit maxInFlight does not include requests of at most this size.
	small = 64 << 10
	// keepBuffer is the maximum size of a buffer that a connection reuses for later requests.
	keepBuffer = 1 << 20

	idleTime  = 10 * time.Minute
	frameTime = 30 * time.Second // longest time to read the rest of a request, or to write a response
)

// conn is one connection. Its requests are answered one after the other, as in Kafka.
type conn struct {
	server   *server
	net      net.Conn
	reader   *bufio.Reader
	stranger *list.Element // the element of this connection in server.strangers; guarded by server.mu
	login    *login        // login is nil once logged in, or if no login is required
	began    time.Time

	produce  []byte // buffer of produce requests
	response []byte
	records  []byte // buffer of fetched records
}

// request is a request's header and body.
type request struct {
	key, version int16
	correlation  int32
	client       string
	body         []byte
	inFlight     int64
	apiOf        *api
	kmsg         kmsg.Request // kmsg is nil for a produce request, which is decoded by hand
	noAnswer     bool         // a produce with acks=0
	closeAfter   bool
}

func newConn(s *server, n net.Conn) *conn {
	c := &conn{server: s, net: n, reader: bufio.NewReaderSize(n, 4<<10), began: time.Now()}
	if s.auth != nil {
		c.login = s.auth.begin()
	}
	return c
}

var errRefused = errors.New("refused")

func (c *conn) serve() {
	for {
		r, err := c.read()
		if err == nil {
			err = c.answer(r)
			if r.inFlight > 0 {
				c.server.inFlight.Release(r.inFlight)
			}
		}
		if err != nil || r.closeAfter {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && c.server.ctx.Err() == nil {
				c.server.broker.cfg.Logger.Debug("A connection was closed by an error.", "from", c.net.RemoteAddr().String(), "error", err)
			}
			return
		}
	}
}

// read reads one request. It does not trust the announced size: the buffer of a large request grows with the received
// bytes.
func (c *conn) read() (*request, error) {
	deadline := time.Now().Add(idleTime)
	if c.login != nil {
		deadline = c.began.Add(strangerTime)
	}
	if err := c.net.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	var head [12]byte
	if _, err := io.ReadFull(c.reader, head[:]); err != nil {
		return nil, err
	}
	size := int64(int32(binary.BigEndian.Uint32(head[:]))) - 8
	r := &request{
		key: int16(binary.BigEndian.Uint16(head[4:])), version: int16(binary.BigEndian.Uint16(head[6:])),
		correlation: int32(binary.BigEndian.Uint32(head[8:])),
	}
	most := int64(maxRequest)
	switch {
	case c.login != nil:
		most = maxLogin
	case r.key == keyProduce:
		most = maxProduce
	}
	if size < 2 || size > most {
		return nil, fmt.Errorf("%w: a request (api %d) of %d bytes", errRefused, r.key, size)
	}
	if c.login == nil {
		if err := c.net.SetReadDeadline(time.Now().Add(frameTime)); err != nil {
			return nil, err
		}
	}
	if size > small {
		if err := c.server.inFlight.Acquire(c.server.ctx, size); err != nil {
			return nil, err
		}
		r.inFlight = size
	}
	var buffer []byte
	if r.key == keyProduce { // its batches are not used after the response
		buffer = c.produce
	}
	b, err := readGrowing(c.reader, buffer, int(size))
	if r.key == keyProduce && cap(b) <= keepBuffer {
		c.produce = b[:0]
	}
	if err == nil {
		err = r.split(b)
	}
	if err != nil && r.inFlight > 0 {
		c.server.inFlight.Release(r.inFlight)
	}
	return r, err
}

// readGrowing reads `size` bytes into b. A step reads at most `small` bytes, or the number of bytes received so far if
// that is more.
func readGrowing(from io.Reader, b []byte, size int) ([]byte, error) {
	b = b[:0]
	for len(b) < size {
		step := min(size-len(b), max(small, len(b)))
		at := len(b)
		b = slices.Grow(b, step)[:at+step]
		if _, err := io.ReadFull(from, b[at:]); err != nil {
			return b[:at], err
		}
	}
	return b, nil
}

// split reads the rest of the header and finds the API and the body.
func (r *request) split(b []byte) error {
	header := reader{left: b}
	r.client, _ = header.text()
	if r.apiOf = apiByKey(r.key); r.apiOf == nil {
		return fmt.Errorf("%w: unknown api %d", errRefused, r.key)
	}
	if r.key != keyProduce {
		r.kmsg = kmsg.RequestForKey(r.key)
		r.kmsg.SetVersion(r.version)
	}
	r.body = header.left
	if err := header.err(); err != nil {
		return fmt.Errorf("%w: the header of a request (api %d): %w", errRefused, r.key, err)
	}
	return nil
}

// answer calls the API's handler and writes its response.
func (c *conn) answer(r *request) error {
	resp, err := c.handle(r)
	if err != nil || r.noAnswer {
		return err
	}
	b := append(c.response[:0], 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(r.correlation))
	b = resp.AppendTo(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	if cap(b) <= keepBuffer*2 {
		c.response = b
	}
	if err := c.net.SetWriteDeadline(time.Now().Add(frameTime)); err != nil {
		return err
	}
	_, err = c.net.Write(b)
	return err
}

func (c *conn) handle(r *request) (kmsg.Response, error) {
	if c.login != nil && !r.apiOf.stranger {
		return nil, fmt.Errorf("%w: api %d without a login", errRefused, r.key)
	}
	if r.version < r.apiOf.least || r.version > r.apiOf.most {
		if r.key != keyAPIVersions {
			return nil, fmt.Errorf("%w: version %d of api %d", errRefused, r.version, r.key)
		}
		// The response lists the supported versions. A newer client then retries with a supported version.
		resp := apiVersions()
		resp.Version, resp.ErrorCode = 0, errUnsupportedVersion
		return resp, nil
	}
	if r.kmsg != nil {
		if err := r.kmsg.ReadFrom(r.body); err != nil {
			return nil, fmt.Errorf("%w: a request (api %d): %w", errRefused, r.key, err)
		}
	}
	resp, err := r.apiOf.handle(c, r)
	if resp != nil {
		resp.SetVersion(r.version)
	}
	return resp, err
}
