package schema

import (
	"net/netip"
	"time"
)

// EventSite is what event intake must know about the site that events are for.
type EventSite struct {
	OrganizationID string
	SiteID         string
	// StoreClearIDs says that the site asked for visitor and session ids in clear besides their keyed hashes.
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
	// AnyPast says that the caller may post events of any past time, which is an import. Others post what has just happened.
	AnyPast bool
}

// QueryOrigin is who asks about which site's events.
type QueryOrigin struct {
	OrganizationID string
	SiteID         string
	// TokenID is the token's, whose queries are bounded together.
	TokenID string
	// RequestID names the question in the logs.
	RequestID string
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
	// Attempt tells the attempt that holds the key now from earlier ones.
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

// EventBalance is what became of a site's events in one process since it started. The balances of all processes together are
// the site's: received = repeated + refused + stored + deadLettered + inFlight.
type EventBalance struct {
	Object string    `json:"object"`
	Site   string    `json:"site"`
	Since  time.Time `json:"since"`
	// Received are the events of all requests, as far as they could be read; Accepted those that are durable in the log;
	// Repeated those that an Idempotency-Key knew; Refused the others, by reason.
	Received uint64            `json:"received"`
	Accepted uint64            `json:"accepted"`
	Repeated uint64            `json:"repeated"`
	Refused  map[string]uint64 `json:"refused"`
	// UnreadRequests are those that found no room, by reason: their events were not read, so Received is without them. The client
	// is told to come again.
	UnreadRequests map[string]uint64 `json:"unreadRequests"`
	// Stored and DeadLettered are what the sink of the process has made of events in the log.
	Stored       uint64 `json:"stored"`
	DeadLettered uint64 `json:"deadLettered"`
	// InFlight is what is left: neither answered nor stored. It is below zero where the process stores what others accepted.
	InFlight int64 `json:"inFlight"`
	// Scope is "node": all of the above is of the answering process, whose roles are Roles. One without the sink's stores nothing,
	// so what it accepted stays in flight here and is stored in the balance of others.
	Scope string   `json:"scope"`
	Roles []string `json:"roles"`
	// LostMessages is how many messages, which may hold events of any site, left the whole log before they were stored; absent
	// while the log does not answer.
	LostMessages *int64 `json:"lostMessages,omitzero"`
}
