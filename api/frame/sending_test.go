package frame

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// TestSlowReadersGoOn lets the time of an answer be over again and again: the connection goes on while its client reads
// a little, and ends once the client reads nothing.
func TestSlowReadersGoOn(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	tcp, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	var ended []string
	conn := &edgeConn{TCPConn: tcp.(*net.TCPConn), listener: &edgeListener{connections: &connections{
		stall: time.Minute, ended: func(reason string) { ended = append(ended, reason) }, sent: func(*edgeConn) {},
	}}}
	defer func() { _ = conn.TCPConn.Close() }()
	// push writes until the kernel takes no more.
	push := func() (sent int, err error) {
		for {
			_ = conn.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
			n, err := conn.TCPConn.Write(make([]byte, 1<<20))
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
	// Bytes that the last read made room for may be taken in the first step without a reader.
	if steps < reading+1 || steps > reading+3 {
		t.Errorf("%d steps", steps)
	}
}
