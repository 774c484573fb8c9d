package intake

import (
	"encoding/binary"
	"unsafe"

	"github.com/dchest/siphash"
)

// Hasher computes the keyed hashes that are stored in place of visitor and session ids. The site is part of the key, so
// a visitor of two sites counts as two visitors.
type Hasher struct{ k0, k1 uint64 }

// NewHasher makes a Hasher with the secret key. The key must never change.
func NewHasher(key [16]byte) Hasher {
	return Hasher{binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])}
}

// Visitor returns the stored hash of a visitor id on a site; it is never 0.
func (h Hasher) Visitor(site, id string) uint64 { return h.site(site).visitor(id) }

// Session returns the stored hash of a session id on a site; it is never 0.
func (h Hasher) Session(site, id string) uint64 { return h.site(site).session(id) }

// siteHasher is a Hasher whose key includes a site.
type siteHasher struct{ k0, k1 uint64 }

func (h Hasher) site(id string) siteHasher {
	k0, k1 := siphash.Hash128(h.k0, h.k1, bytesOf(id))
	return siteHasher{k0, k1}
}

func (h siteHasher) visitor(id string) uint64 { return notZero(siphash.Hash(h.k0, h.k1, bytesOf(id))) }

// session uses another key than the method `visitor`. So if a client sends the same id as visitor and as session, the
// columns `visitor` and `session` have different hashes.
func (h siteHasher) session(id string) uint64 { return notZero(siphash.Hash(h.k1, ^h.k0, bytesOf(id))) }

// assigned returns the hash of a session that the node assigns to a browser's visitor. The hash depends on the visitor
// and on the period in which the session began. It uses another key than the method `session`, so it differs from the
// hashes of session ids that clients send.
func (h siteHasher) assigned(visitor, period uint64) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], visitor)
	binary.LittleEndian.PutUint64(b[8:], period)
	return notZero(siphash.Hash(^h.k1, h.k0, b[:]))
}

// notZero returns 1 for the hash 0, because 0 means that there is no value.
func notZero(hash uint64) uint64 {
	if hash == 0 {
		return 1
	}
	return hash
}

// bytesOf returns a string's bytes without a copy, for functions that only read them.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
