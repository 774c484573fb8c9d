package schema

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Opt is a member of a request that distinguishes absent, null and a value. A PATCH leaves an absent member unchanged,
// and removes a null member.
type Opt[T any] struct {
	// Set means that the member was present, with a value or with null.
	Set bool
	// Value is nil when the member was absent or null.
	Value *T
}

// Some makes a member with a value.
func Some[T any](value T) Opt[T] { return Opt[T]{Set: true, Value: &value} }

// Null reports whether the member was present and null.
func (o Opt[T]) Null() bool { return o.Set && o.Value == nil }

// Or returns the member's value, nil for null, or the given value if the member is absent.
func (o Opt[T]) Or(absent *T) *T {
	if o.Set {
		return o.Value
	}
	return absent
}

// MarshalJSONTo writes the value or null. Use omitzero to leave an absent member out.
func (o Opt[T]) MarshalJSONTo(e *jsontext.Encoder) error {
	if o.Value == nil {
		return e.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(e, o.Value)
}

// UnmarshalJSONFrom reads a value or null. The decoder does not call it for an absent member.
func (o *Opt[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	o.Set, o.Value = true, nil
	if d.PeekKind() == jsontext.KindNull {
		return d.SkipValue()
	}
	o.Value = new(T)
	return json.UnmarshalDecode(d, o.Value)
}

// Or returns the value of an optional member, or absent if there is none.
func Or[T any](value *T, absent T) T {
	if value == nil {
		return absent
	}
	return *value
}

// UTC returns an optional stored time in the form that answers use.
func UTC(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	moved := at.UTC()
	return &moved
}
