package schema

import "time"

// VisitorErasure is the progress of a visitor's erasure. It does not depend on whether the visitor has any events.
type VisitorErasure struct {
	Object  string `json:"object"`
	Site    string `json:"site"`
	Visitor string `json:"visitor"`
	// State is ErasurePending or ErasureDone.
	State   string    `json:"state"`
	AskedAt time.Time `json:"askedAt"`
	// ErasedUntil is the end of the last full second before the latest request, by clocks that are right. Events that
	// were received earlier are erased and never stored again, and so are stored events that were received by a clock
	// which was ahead. Later events are kept.
	ErasedUntil time.Time `json:"erasedUntil"`
	// DoneAt is the time when the events table no longer had any byte of the events.
	DoneAt *time.Time `json:"doneAt,omitzero"`
	// LogUntil is the time by which the retention has removed these events from the event log and the dead letters. It
	// is absent if the retention has no end.
	LogUntil *time.Time `json:"logUntil,omitzero"`
}

// The states of a VisitorErasure and of an EventKeyErasure.
const (
	ErasurePending = "pending"
	ErasureDone    = "done"
)

// EventKeyErasure is the progress of erasing all events of a publishable key's generation. It does not depend on
// whether such events exist.
type EventKeyErasure struct {
	Object string `json:"object"`
	Site   string `json:"site"`
	// EventKey is the value of the column eventKey: the key's id and the generation.
	EventKey    string     `json:"eventKey"`
	State       string     `json:"state"`
	AskedAt     time.Time  `json:"askedAt"`
	ErasedUntil time.Time  `json:"erasedUntil"`
	DoneAt      *time.Time `json:"doneAt,omitzero"`
	LogUntil    *time.Time `json:"logUntil,omitzero"`
}

// Tombstone keeps events out of the events table. They are the events of a visitor, or of a publishable key's
// generation, that were received before a time.
type Tombstone struct {
	// Version grows with each batch of tombstones.
	Version int64
	SiteID  string
	Visitor uint64 // keyed hash
	// EventKey is the key and the generation; "" is a visitor's tombstone. Visitor is then no visitor.
	EventKey string
	Before   time.Time
	// Events that were received from AheadFrom until AheadUntil also stay away: a clock that was ahead received them.
	// Both are zero without such events.
	AheadFrom, AheadUntil time.Time
}

// ErasureBatch has the visitors and keys that are erased together.
type ErasureBatch struct {
	Version  int64 // of their tombstones
	Visitors []Tombstone
}

// PendingErasures is the progress of the unfinished erasures.
type PendingErasures struct {
	Count  int64
	Oldest time.Duration // time since the first request
	// Mutated is the number of erasures that are only waiting for the removal of replaced parts. FirstMutated is the
	// time at which the first of them began to wait.
	Mutated      int64
	FirstMutated time.Time
}

// Expiry defines the events of a site that are deleted because of their age. A site has several Expiries after its
// retention was extended. Events that arrive later then stay longer, and deleted events stay deleted.
type Expiry struct {
	SiteID string
	// Before is the start of the site's events: earlier events are deleted.
	Before time.Time
	Days   int32 // number of days that the site keeps events
	// CarriedOut is the time of the last deletion. Events received after it are not deleted yet.
	CarriedOut time.Time
}

// ForgottenErasures are a site's erasures whose tombstones are forgotten. A copy of the events table from before Done
// may have erased events, among the events that were received before ErasedUntil.
type ForgottenErasures struct{ ErasedUntil, Done time.Time }
