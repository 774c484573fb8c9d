package enginetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// The ports from lowestPort to highestPort are below the ports that embedded engines choose, because these engines do
// not check reservations. They are also below Linux's range of ports for outgoing connections. In that range, a
// retrying client could get the port of a closed address as its own source port. It would then connect to itself, and
// the server could not bind the port.
const (
	lowestPort  = 10000
	highestPort = 20000
)

// FreeAddress returns a loopback address on which nothing listens. No other caller, in any process, gets the address
// while this process lives.
func FreeAddress() (string, error) {
	address, reservation, err := reserve()
	if err == nil {
		// without this reference, the garbage collector would close the reservation
		reservations.Store(address, reservation)
	}
	return address, err
}

var reservations sync.Map

// reserve returns a free address and a reservation. The reservation is a listener on the same port of the next loopback
// address. So other callers do not get the same address.
func reserve() (address string, reservation net.Listener, err error) {
	var listen net.ListenConfig
	for range 100 {
		port := strconv.Itoa(lowestPort + rand.IntN(highestPort-lowestPort))
		if reservation, err = listen.Listen(context.Background(), "tcp4", net.JoinHostPort("127.0.0.2", port)); err != nil {
			continue
		}
		address = net.JoinHostPort("127.0.0.1", port)
		l, err := listen.Listen(context.Background(), "tcp4", address)
		if err == nil {
			return address, reservation, l.Close()
		}
		_ = reservation.Close()
	}
	return "", nil, errors.New("cannot find a free port on 127.0.0.1")
}

// Address returns an address like FreeAddress. When the test ends, other callers may get the address again.
func Address(t testing.TB) string {
	t.Helper()
	address, reservation, err := reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reservation.Close() })
	return address
}
