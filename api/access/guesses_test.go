package access

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// TestGuesses guesses passwords from one address, from one network and from many networks. After a pause, it guesses
// again.
func TestGuesses(t *testing.T) {
	t.Parallel()
	g, err := NewGuesses()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	take := func(address, object string) bool {
		t.Helper()
		err := g.Take(netip.MustParseAddr(address), object, now)
		if err != nil && !schema.IsCode(err, schema.CodeTooManyRequests) {
			t.Fatal(err)
		}
		return err == nil
	}
	for range 100 { // These passwords are right.
		if !take("198.51.100.1", "link") {
			t.Fatal("a right password counts")
		}
		g.GiveBack(netip.MustParseAddr("198.51.100.1"), "link")
	}
	taken := 0
	for i := range 20 {
		if take(fmt.Sprintf("2001:db8::%d", i+1), "link") { // The addresses are in one network.
			taken++
		}
	}
	if taken != addressGuesses {
		t.Errorf("one network guesses %d times, want %d", taken, addressGuesses)
	}
	if !take("2001:db8::1", "other") || !take("2001:db8:0:1::1", "link") {
		t.Error("the guesses count for another link, or for another network")
	}
	for i := range 200 {
		if take(fmt.Sprintf("203.0.113.%d", i+1), "link") {
			taken++
		}
	}
	if taken != objectGuesses-1 { // taken does not include the guess from the other network.
		t.Errorf("all addresses guess %d times, want %d", taken, objectGuesses-1)
	}
	if take("192.0.2.1", "link") {
		t.Error("a new address guesses although the link's guesses are used up")
	}
	if now = now.Add(addressGuessEvery); !take("192.0.2.1", "link") || !take("2001:db8::1", "link") {
		t.Error("guesses do not come back")
	}
	if take("2001:db8::1", "link") {
		t.Error("more than one guess came back")
	}
}
