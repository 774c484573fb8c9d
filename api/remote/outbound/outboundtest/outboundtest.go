// Package outboundtest allows loopback addresses, because the servers of tests are on loopback. Only tests may import
// it.
package outboundtest

import (
	"testing"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// Loopback is the address of the servers of tests.
const Loopback = "127.0.0.1"

// Policy returns a policy that allows hosts and networks, as a setting of an operator would.
func Policy(t testing.TB, entries ...string) outbound.Policy {
	t.Helper()
	policy, err := outbound.ParsePolicy(entries)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

// Guard returns a Guard that connects to the public network, and to the hosts and networks in `entries`.
func Guard(t testing.TB, entries ...string) *outbound.Guard {
	t.Helper()
	return outbound.New(outbound.Config{Policy: Policy(t, entries...)})
}
