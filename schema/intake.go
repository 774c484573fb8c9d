package schema

import (
	"net/netip"
	"time"
)

// EventSite is what event intake must know about the site that events are for.
type EventSite struct {
	OrganizationID string
	SiteID         string
	// StoreClearIDs says that the site asked for visitor and session ids in clear beside their keyed hashes.
	StoreClearIDs bool
}

// ClientInfo is what is known about who posted events, apart from the events themselves.
type ClientInfo struct {
	// IP is the address of the client; it decides on the country and is then dropped.
	IP netip.Addr
	// Now is when the request came in.
	Now time.Time
	// IdempotencyKey makes a retry of the same request store nothing twice; empty without one.
	IdempotencyKey string
}

// KeyClaim is what is kept with an idempotency key, and what became of the wish to have it.
type KeyClaim struct {
	// BodyHash is the SHA-256 of the request's body without its Content-Encoding.
	BodyHash [32]byte
	// MessageID is the id of the log message that the request becomes, Partition where it is, and Offset an offset of that
	// partition before which it is not.
	MessageID [16]byte
	Partition int
	Offset    int64
	// Attempt tells who has the key from who had it.
	Attempt int32
	State   KeyState
}

// KeyState is what became of the wish to have an idempotency key.
type KeyState int

// The states of a key.
const (
	// KeyNew: the key is the caller's, with what it brought.
	KeyNew KeyState = iota
	// KeyOpen: the key is the caller's. An attempt before it did not end: whether its message is in the log must be looked up.
	KeyOpen
	// KeyBusy: another attempt goes on.
	KeyBusy
	// KeyDone: the request is stored.
	KeyDone
	// KeyReused: the key is that of another body.
	KeyReused
)
