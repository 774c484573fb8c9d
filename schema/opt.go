package schema

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Opt is a member of a request that may be absent, or null, or have a value. A PATCH request leaves an absent member
// unchanged, and removes a member that is null.
type Opt[T any] struct {
	// Set is true if the member is present. It may be null.
	Set bool
	// Value is nil if the member is absent or null.
	Value *T
}

// Some returns a member with a value.
func Some[T any](value T) Opt[T] { return Opt[T]{Set: true, Value: &value} }

// Null reports whether the member is present and null.
func (o Opt[T]) Null() bool { return o.Set && o.Value == nil }

// Or returns the member's value. It returns nil if the member is null. If the member is absent, it returns the argument
// `absent`.
func (o Opt[T]) Or(absent *T) *T {
	if o.Set {
		return o.Value
	}
	return absent
}

// MarshalJSONTo writes the value or null. A struct field of this type needs omitzero, so that an absent member is not
// written.
func (o Opt[T]) MarshalJSONTo(e *jsontext.Encoder) error {
	if o.Value == nil {
		return e.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(e, o.Value)
}

// UnmarshalJSONFrom reads a value or null. The decoder does not call it if the member is absent.
func (o *Opt[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	o.Set, o.Value = true, nil
	if d.PeekKind() == jsontext.KindNull {
		return d.SkipValue()
	}
	o.Value = new(T)
	return json.UnmarshalDecode(d, o.Value)
}

// Or returns the value of an optional member. If there is no value, it returns `absent`.
func Or[T any](value *T, absent T) T {
	if value == nil {
		return absent
	}
	return *value
}

// UTC returns an optional stored time in UTC. Responses have times in UTC.
func UTC(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	moved := at.UTC()
	return &moved
}
