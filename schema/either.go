package schema

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Some members are a text or an object. Such a member is a struct with a pointer for the text and a pointer for the
// object. The fields of this struct have no JSON names, so problems are reported under the name of the member.

// ReadEither reads the next value. It reads an object into `object`, and any other value into `text`. If this fails,
// the decoder's error names the expected type.
func ReadEither[T any](d *jsontext.Decoder, text **string, object *T) error {
	if d.PeekKind() == jsontext.KindBeginObject {
		return json.UnmarshalDecode(d, object)
	}
	return json.UnmarshalDecode(d, text)
}

// WriteEither writes the text if it is set, and otherwise the object.
func WriteEither[T any](e *jsontext.Encoder, text *string, object T) error {
	if text != nil {
		return json.MarshalEncode(e, text)
	}
	return json.MarshalEncode(e, object, json.Deterministic(true))
}
