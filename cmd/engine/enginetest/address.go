package enginetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// FreeAddress returns a loopback address on which nothing listens, below Linux's range of ports for outgoing
// connections. In that range, a client that retries while the address is closed could be given its port, connect to
// itself and keep the server from binding it.
func FreeAddress() (string, error) {
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(20000+rand.IntN(12000)))
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", address)
		if err == nil {
			return address, l.Close()
		}
	}
	return "", errors.New("cannot find a free port on 127.0.0.1")
}

// Address is FreeAddress for a test.
func Address(t testing.TB) string {
	t.Helper()
	address, err := FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
