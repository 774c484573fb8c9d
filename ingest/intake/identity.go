package intake

import (
	"encoding/binary"
	"unsafe"

	"github.com/dchest/siphash"
)

// Hasher makes the keyed hashes that are stored for visitors and sessions. The site is part of the key, so a visitor of
// two sites counts as two visitors.
type Hasher struct{ k0, k1 uint64 }

// NewHasher makes a Hasher with the secret key. The key must never change.
func NewHasher(key [16]byte) Hasher {
	return Hasher{binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])}
}

// Visitor returns the stored hash of a visitor id on a site; it is never 0.
func (h Hasher) Visitor(site, id string) uint64 { return h.site(site).visitor(id) }

// Session returns the stored hash of a session id on a site; it is never 0.
func (h Hasher) Session(site, id string) uint64 { return h.site(site).session(id) }

// siteHasher is a Hasher with a site mixed in.
type siteHasher struct{ k0, k1 uint64 }

func (h Hasher) site(id string) siteHasher {
	k0, k1 := siphash.Hash128(h.k0, h.k1, bytesOf(id))
	return siteHasher{k0, k1}
}

func (h siteHasher) visitor(id string) uint64 { return notZero(siphash.Hash(h.k0, h.k1, bytesOf(id))) }

// session uses a different key than visitor. If a client sends the same id as visitor and session, the two columns do
// not reveal this.
func (h siteHasher) session(id string) uint64 { return notZero(siphash.Hash(h.k1, ^h.k0, bytesOf(id))) }

// assigned returns the hash of a session that the node assigns to a browser's visitor. It depends on the period in
// which the session began. No session id sent by a client gets the same hash, because the keys differ.
func (h siteHasher) assigned(visitor, period uint64) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], visitor)
	binary.LittleEndian.PutUint64(b[8:], period)
	return notZero(siphash.Hash(^h.k1, h.k0, b[:]))
}

// notZero reserves 0 for "absent".
func notZero(hash uint64) uint64 {
	if hash == 0 {
		return 1
	}
	return hash
}

// bytesOf returns a string's bytes without a copy, for functions that only read them.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
