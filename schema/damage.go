package schema

import (
	"errors"
	"time"
)

// These are the stores whose data may be damaged.
const (
	StoreEvents   = "clickhouse"
	StorePostgres = "postgres"
)

// Damage is the cause of an Error about damaged data. Damaged data has changed since it was written, or cannot be read.
type Damage struct {
	Store string // StoreEvents or StorePostgres
	Err   error
}

// Error implements error.
func (d *Damage) Error() string { return "stored data of " + d.Store + " is damaged: " + d.Err.Error() }

// Unwrap returns the store's error.
func (d *Damage) Unwrap() error { return d.Err }

// remedies has, for each store, the instructions for repairing damaged data.
var remedies = map[string]string{
	StoreEvents: "the node restores what it can by itself, and `octavo repair` says what is left to do",
	StorePostgres: "the operator checks the disk and restores the database from a backup " +
		"(pg_amcheck names the damaged tables)",
}

// Damaged returns the error for a request that needs damaged data of a store. The same request would fail again, so the
// response has no Retry-After.
func Damaged(store string, cause error) *Error {
	return &Error{
		Code: CodeUnavailable, Message: "stored data is damaged: " + remedies[store],
		Cause: &Damage{Store: store, Err: cause},
	}
}

// DamageOf returns the Damage that is the cause of an error. It returns nil if the cause is not damage.
func DamageOf(err error) *Damage {
	d, _ := errors.AsType[*Damage](err)
	return d
}

// Verification is the result of verifying one kind of data.
type Verification struct {
	Kind    string `json:"kind"`
	Read    int64  `json:"read"`    // number of parts, messages, contents or files that were read
	Bytes   int64  `json:"bytes"`   // number of bytes that were read
	Damaged int64  `json:"damaged"` // number of damaged pieces among the data that was read
	// Hint is a text for the operator. It says what the operator should do, or why the data could not be read.
	Hint       string    `json:"hint,omitzero"`
	VerifiedAt time.Time `json:"verifiedAt,omitzero"`
}
