package schema

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A member that is either a text or an object is a struct with one pointer for each. The pointers have no JSON names, so
// problems of either are reported under the name of the member.

// ReadEither reads the next value. It reads anything but an object as text; if that fails, the error names the type.
func ReadEither[T any](d *jsontext.Decoder, text **string, object *T) error {
	if d.PeekKind() == jsontext.KindBeginObject {
		return json.UnmarshalDecode(d, object)
	}
	return json.UnmarshalDecode(d, text)
}

// WriteEither writes the text if there is one, and the object otherwise.
func WriteEither[T any](e *jsontext.Encoder, text *string, object T) error {
	if text != nil {
		return json.MarshalEncode(e, text)
	}
	return json.MarshalEncode(e, object, json.Deterministic(true))
}
