// Package outboundtest allows loopback addresses for tests, which have servers there. Only tests may import it.
package outboundtest

import (
	"testing"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// Loopback is the address of tests' servers.
const Loopback = "127.0.0.1"

// Policy allows hosts and networks, like an operator's setting.
func Policy(t testing.TB, entries ...string) outbound.Policy {
	t.Helper()
	policy, err := outbound.ParsePolicy(entries)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

// Guard returns a Guard that reaches the public network and the hosts and networks of entries.
func Guard(t testing.TB, entries ...string) *outbound.Guard {
	t.Helper()
	return outbound.New(outbound.Config{Policy: Policy(t, entries...)})
}
