package schema

import "time"

// VisitorErasure is the progress of a visitor's erasure. It is the same whether or not the visitor has events, so it
// does not reveal that.
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
	// DoneAt is the time at which the last bytes of the erased events were removed from the events table.
	DoneAt *time.Time `json:"doneAt,omitzero"`
	// LogUntil is the time by which the retention has removed the erased events from the event log and the dead
	// letters. It is absent if the retention has no end.
	LogUntil *time.Time `json:"logUntil,omitzero"`
}

// The states of a VisitorErasure and of an EventKeyErasure.
const (
	ErasurePending = "pending"
	ErasureDone    = "done"
)

// EventKeyErasure is the progress of erasing all events of a publishable key's generation. It is the same whether or
// not such events exist.
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

// Tombstone prevents events from being stored in the events table again. It concerns the events of a visitor, or of a
// publishable key's generation, that were received before a time.
type Tombstone struct {
	// Version grows with each batch of tombstones.
	Version int64
	SiteID  string
	Visitor uint64 // keyed hash of the visitor's id
	// EventKey is the key and the generation. It is "" in the tombstone of a visitor. If EventKey is set, Visitor has
	// no meaning.
	EventKey string
	Before   time.Time
	// Events that were received from AheadFrom until AheadUntil also stay away: a clock that was ahead received them.
	// Both are zero without such events.
	AheadFrom, AheadUntil time.Time
}

// ErasureBatch has the visitors and keys that are erased together.
type ErasureBatch struct {
	Version  int64 // version of the tombstones
	Visitors []Tombstone
}

// PendingErasures is the progress of the unfinished erasures.
type PendingErasures struct {
	Count  int64
	Oldest time.Duration // time since the first request
	// Mutated is the number of erasures that wait only for the removal of old data parts, which ClickHouse has already
	// replaced. FirstMutated is the time at which the first of these erasures began to wait.
	Mutated      int64
	FirstMutated time.Time
}

// Expiry defines the events of a site that are deleted because of their age. If a site's retention was extended, the
// site has several Expiries. Events that arrive after the extension then stay longer, and events that were deleted
// before it stay deleted.
type Expiry struct {
	SiteID string
	// Events before the time Before are deleted.
	Before time.Time
	Days   int32 // number of days that the site keeps events
	// CarriedOut is the time of the last deletion. Events that were received after this time are not yet deleted.
	CarriedOut time.Time
}

// ForgottenErasures describes a site's erasures whose tombstones no longer exist. A copy of the events table that was
// made before Done may have erased events. These are events that were received before ErasedUntil.
type ForgottenErasures struct{ ErasedUntil, Done time.Time }
