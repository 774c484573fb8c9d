package frame

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// TestSlowReadersGoOn sends to a client that reads slowly, so that writing times out repeatedly. The connection stays
// open while the client reads enough. It is closed when the client stops reading.
func TestSlowReadersGoOn(t *testing.T) {
	t.Parallel()
	tcp, client := pair(t)
	var ended []string
	conn := edge(tcp, time.Minute, &ended)
	raw, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	// push writes until the kernel accepts no more bytes. On a busy machine, the deadline may pass before the first
	// attempt to write. Then push tries again without a deadline.
	push := func() (sent int, err error) {
		for {
			_ = conn.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
			n, err := conn.TCPConn.Write(make([]byte, 1<<20))
			if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
				var failed error
				if n, failed = offer(raw, make([]byte, 1<<20)); failed != nil {
					return sent, failed
				}
			}
			if sent += n; n == 0 {
				return sent, err
			}
		}
	}
	steps := 0
	const reading = 20
	scrap := make([]byte, 64<<10)
	err = conn.send(func() (int, error) {
		steps++
		n, err := push()
		for before := conn.queued(); steps <= reading && conn.queued() > before-leastTaken; {
			if _, err := client.Read(scrap); err != nil {
				t.Fatal(err)
			}
		}
		return n, err
	})
	if !errors.Is(err, os.ErrDeadlineExceeded) || len(ended) != 1 || ended[0] != endedStalled {
		t.Errorf("%v %v", err, ended)
	}
	// In the first steps after the client has stopped reading, the kernel may still accept bytes, because the last read
	// made room.
	if steps < reading+1 || steps > reading+3 {
		t.Errorf("%d steps", steps)
	}
}

// TestUnreadStreamsStop sends a stream to a client that does not read. The kernel accepts only a few pieces.
func TestUnreadStreamsStop(t *testing.T) {
	t.Parallel()
	tcp, client := pair(t)
	if err := client.SetReadBuffer(2 << 10); err != nil {
		t.Fatal(err)
	}
	const size, most = 8 << 20, 128 << 10
	var ended []string
	body := &zeros{left: size}
	_, err := edge(tcp, 100*time.Millisecond, &ended).ReadFrom(body)
	if !errors.Is(err, os.ErrDeadlineExceeded) || len(ended) != 1 || ended[0] != endedStalled {
		t.Errorf("%v %v", err, ended)
	}
	if sent := size - body.left; sent == 0 || sent > most {
		t.Errorf("%d bytes left the stream, want 1 to %d", sent, most)
	}
}

// zeros is a body of zero bytes that is read piece by piece.
type zeros struct{ left int }

func (z *zeros) Next(most int) ([]byte, error) {
	piece := make([]byte, min(most, z.left))
	z.left -= len(piece)
	if len(piece) == 0 {
		return nil, io.EOF
	}
	return piece, nil
}

func (z *zeros) Back(n int) { z.left += n }

func (z *zeros) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// pair returns both ends of a new TCP connection.
func pair(t *testing.T) (server, client *net.TCPConn) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	dialed, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dialed.Close() })
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = accepted.Close() })
	return accepted.(*net.TCPConn), dialed.(*net.TCPConn)
}

// edge returns an edgeConn. If the connection is ended early, it adds the reason to `ended`.
func edge(tcp *net.TCPConn, stall time.Duration, ended *[]string) *edgeConn {
	return &edgeConn{TCPConn: tcp, listener: &edgeListener{connections: &connections{
		stall: stall, ended: func(reason string) { *ended = append(*ended, reason) }, sent: func(*edgeConn) {},
	}}}
}
