package schema

import (
	"crypto/sha256"
	"encoding/base32"

	"github.com/google/uuid"
)

// idEncoding is base32 with the extended hex alphabet in lower case. Encoded texts sort in the same order as the
// encoded bytes. So ids sort by the time of their creation in Go, in Postgres (collation "C") and in ClickHouse.
var idEncoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// MaxIDLength bounds the length of ids that clients may send. The ids that Octavo makes have 26 characters.
const MaxIDLength = 64

// NewID makes an opaque id of 26 characters from a version 7 UUID. Within one process, each id is larger than the
// previous id. Between processes, the order of ids depends on the processes' clocks. Code may only compare and sort
// ids, and must not parse them.
func NewID() string {
	id := uuid.Must(uuid.NewV7())
	return idEncoding.EncodeToString(id[:])
}

// DerivedID makes an id from `content`. Equal contents give equal ids.
func DerivedID(content []byte) string {
	sum := sha256.Sum256(content)
	return idEncoding.EncodeToString(sum[:16])
}

// ValidID reports whether s has the form of an id. An object's id always has this form, so any other id is treated as
// unknown.
func ValidID(s string) bool {
	if s == "" || len(s) > MaxIDLength {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
