package access

import (
	"net"
	"testing"
)

// TestWorkEndsWithItsCaller closes the client's side of a connection. The context of the work is then canceled.
func TestWorkEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if closedByPeer(conn) {
		t.Error("an open connection counts as closed")
	}
	ctx, stop := (&Caller{conn: conn}).UntilGone(t.Context())
	defer stop()
	if ctx.Err() != nil {
		t.Error("ended too early")
	}
	_ = client.Close()
	<-ctx.Done()
}
