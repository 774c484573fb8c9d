package schema

import (
	"crypto/sha256"
	"encoding/base32"

	"github.com/google/uuid"
)

// idEncoding is base32 with the extended hex alphabet in lower case. Encoded texts have the same order as the encoded
// bytes. So a sort of ids is a sort by creation time in Go, in Postgres (collation "C") and in ClickHouse.
var idEncoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// MaxIDLength bounds the ids that clients may send. Our ids have 26 characters.
const MaxIDLength = 64

// NewID makes an opaque id of 26 characters from a version 7 UUID. The ids of one process increase strictly. Ids of
// several processes are ordered by the processes' clocks. No code may parse an id: code may only compare and sort ids.
func NewID() string {
	id := uuid.Must(uuid.NewV7())
	return idEncoding.EncodeToString(id[:])
}

// DerivedID makes an id from content. Equal contents have equal ids.
func DerivedID(content []byte) string {
	sum := sha256.Sum256(content)
	return idEncoding.EncodeToString(sum[:16])
}

// ValidID reports whether s has the form of an id. No object has an id of another form, so such an id is treated as an
// unknown id.
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
