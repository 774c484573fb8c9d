package schema

import "time"

// VisitorErasure says how far the erasure of a visitor is. It is the same for a visitor without events.
type VisitorErasure struct {
	Object  string `json:"object"`
	Site    string `json:"site"`
	Visitor string `json:"visitor"`
	// State is ErasurePending or ErasureDone.
	State   string    `json:"state"`
	AskedAt time.Time `json:"askedAt"`
	// ErasedUntil is the second that ended when the erasure was asked for last: events that were received before it
	// are erased and never stored again. Later events are new.
	ErasedUntil time.Time `json:"erasedUntil"`
	// DoneAt is when the last bytes had left the events table.
	DoneAt *time.Time `json:"doneAt,omitzero"`
	// LogUntil is when the event log and the dead letters no longer have these events, by their retention. It is absent if they
	// keep them for ever.
	LogUntil *time.Time `json:"logUntil,omitzero"`
}

// The states of a VisitorErasure.
const (
	ErasurePending = "pending"
	ErasureDone    = "done"
)

// Tombstone keeps a visitor's events that were received before a time out of the events table.
type Tombstone struct {
	// Version grows with each batch of tombstones.
	Version int64
	SiteID  string
	Visitor uint64 // keyed hash
	Before  time.Time
}

// ErasureBatch are visitors that are erased together.
type ErasureBatch struct {
	Version  int64 // of their tombstones
	Visitors []Tombstone
}

// PendingErasures says how far the erasures are that are not done.
type PendingErasures struct {
	Count  int64
	Oldest time.Duration // since the first of them was asked for
	// Mutated is how many of them only wait for replaced parts to be removed; FirstMutated is since when the first of these does.
	Mutated      int64
	FirstMutated time.Time
}

// EventSettings are a site's settings for its events.
type EventSettings struct {
	Object string `json:"object"`
	// RetentionDays is for how many days events are kept, by their own time; absent is for ever.
	RetentionDays *int `json:"retentionDays,omitzero"`
}

// Expiry says which events of a site are deleted because of their age. A site has several after it began to keep events for
// longer: later events of an older time are kept then, and earlier ones stay deleted.
type Expiry struct {
	SiteID string
	// Before is where the site's events begin: earlier ones are deleted, or were.
	Before time.Time
	Days   int32 // that the site keeps events
	// CarriedOut is when they were deleted last: what was received later is not.
	CarriedOut time.Time
}
