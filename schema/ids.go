package schema

import (
	"encoding/base32"

	"github.com/google/uuid"
)

// idEncoding is base32 with the extended hex alphabet in lower case: its digits sort like the bytes they encode, so ids
// sort by creation time as text, in Go, in Postgres (collation "C") and in ClickHouse alike.
var idEncoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// MaxIDLength bounds the ids that clients may send; ours have 26 characters.
const MaxIDLength = 64

// NewID makes an opaque id of 26 characters out of a version 7 UUID. Ids of one process grow strictly; ids of several grow
// with their clocks. Nothing may parse an id: only equality and order mean anything.
func NewID() string {
	id := uuid.Must(uuid.NewV7())
	return idEncoding.EncodeToString(id[:])
}

// ValidID says whether s has the form of an id. An id of another form cannot exist, so it is answered like an unknown one.
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
