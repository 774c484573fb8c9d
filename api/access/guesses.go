package access

import (
	"errors"
	"net/netip"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/octavo-docs/octavo/schema"
)

// Guesses limits how many wrong passwords this node checks for an object: from each address, and from all addresses
// together.
type Guesses struct {
	byAddress, all rateLimit
	addresses      *lru.Cache[guesser, *atomic.Int64]
	objects        *lru.Cache[string, *atomic.Int64]
}

// guesser is an address that guesses the password of an object.
type guesser struct {
	address netip.Addr
	object  string
}

// Each limit has a number of guesses that are allowed at once, and the time after which one more guess is allowed. A
// guess with the right password does not count. guessedObjects is the largest number of objects in the cache.
const (
	addressGuesses, addressGuessEvery = 5, 10 * time.Second
	objectGuesses, objectGuessEvery   = 30, time.Second
	guessedObjects                    = 1 << 12
)

// NewGuesses builds Guesses.
func NewGuesses() (*Guesses, error) {
	addresses, err1 := lru.New[guesser, *atomic.Int64](addressEntries)
	objects, err2 := lru.New[string, *atomic.Int64](guessedObjects)
	return &Guesses{
		byAddress: rateLimit{interval: addressGuessEvery, burst: addressGuesses},
		all:       rateLimit{interval: objectGuessEvery, burst: objectGuesses},
		addresses: addresses, objects: objects,
	}, errors.Join(err1, err2)
}

// Take counts a guess from an address at an object's password, or refuses it with 429. If one limit refuses a guess,
// the guess does not count against the other limit.
func (g *Guesses) Take(ip netip.Addr, object string, now time.Time) error {
	from, all := g.uses(ip, object)
	if a := g.byAddress.take(from, now); a.Wait > 0 {
		return schema.TooManyRequests("too many wrong passwords from this address", a.Wait)
	}
	if a := g.all.take(all, now); a.Wait > 0 {
		g.byAddress.giveBack(from)
		return schema.TooManyRequests("too many wrong passwords", a.Wait)
	}
	return nil
}

// GiveBack undoes Take for a guess that was right or was never checked.
func (g *Guesses) GiveBack(ip netip.Addr, object string) {
	from, all := g.uses(ip, object)
	g.byAddress.giveBack(from)
	g.all.giveBack(all)
}

func (g *Guesses) uses(ip netip.Addr, object string) (from, all *atomic.Int64) {
	return useOf(g.addresses, guesser{Network(ip), object}), useOf(g.objects, object)
}

// useOf returns the cache's entry for a key, and creates it if it is missing.
func useOf[K comparable](uses *lru.Cache[K, *atomic.Int64], key K) *atomic.Int64 {
	if known, found := uses.Get(key); found {
		return known
	}
	use := &atomic.Int64{}
	if known, found, _ := uses.PeekOrAdd(key, use); found {
		return known
	}
	return use
}
