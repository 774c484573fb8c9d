package schema

import "time"

// VisitorErasure is the progress of a visitor's erasure. It does not reveal whether the visitor has events, because it
// is the same in both cases.
type VisitorErasure struct {
	Object  string `json:"object"`
	Site    string `json:"site"`
	Visitor string `json:"visitor"`
	// State is ErasurePending or ErasureDone.
	State   string    `json:"state"`
	AskedAt time.Time `json:"askedAt"`
	// ErasedUntil is the end of the last full second before the latest request, measured with a correct clock. All
	// events that were received before this time are erased and never stored again. This includes stored events with a
	// later time of receipt, if the time is later only because a clock was ahead. Events that were received later are
	// not erased.
	ErasedUntil time.Time `json:"erasedUntil"`
	// DoneAt is the time at which the last bytes of the erased events were removed from the events table. It is absent
	// before that.
	DoneAt *time.Time `json:"doneAt,omitzero"`
	// LogUntil is the time by which the event log and the dead letters no longer contain the erased events, because of
	// their retention. It is absent if their retention has no end.
	LogUntil *time.Time `json:"logUntil,omitzero"`
}

// These are the states of a VisitorErasure and of an EventKeyErasure.
const (
	ErasurePending = "pending"
	ErasureDone    = "done"
)

// EventKeyErasure is the progress of an erasure that erases all events of one generation of a publishable key. It does
// not reveal whether such events exist, because it is the same in both cases.
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

// Tombstone prevents erased events from being stored in the events table again. It applies to events of a visitor, or
// of a publishable key's generation, that were received before the time `Before`.
type Tombstone struct {
	// Version is the number of the batch of tombstones. Each batch has a higher version.
	Version int64
	SiteID  string
	Visitor uint64 // keyed hash of the visitor's id; it has no meaning if EventKey is set
	// EventKey is the key and the generation. It is "" in the tombstone of a visitor.
	EventKey string
	Before   time.Time
	// AheadFrom and AheadUntil bound a period in which a clock was ahead. Events that were received in this period are
	// not stored again either. Both times are zero if there was no such period.
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
	// Mutated is the number of erasures whose data parts ClickHouse has already replaced. They only wait until the old
	// parts are removed. FirstMutated is the time at which the first of these erasures began to wait.
	Mutated      int64
	FirstMutated time.Time
}

// Expiry says which events of a site are deleted because of their age. If a site's retention was extended, the site has
// several Expiries. Events that arrive after the extension then stay longer. Events that were deleted before the
// extension stay deleted.
type Expiry struct {
	SiteID string
	// Events before the time `Before` are deleted.
	Before time.Time
	Days   int32 // number of days that the site keeps events
	// CarriedOut is the time of the last deletion. Events that were received after this time may not be deleted yet.
	CarriedOut time.Time
}

// ForgottenErasures describes a site's erasures whose tombstones no longer exist. A copy of the events table that was
// made before Done may contain erased events. Such events were received before ErasedUntil.
type ForgottenErasures struct{ ErasedUntil, Done time.Time }
