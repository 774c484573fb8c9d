package main

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// printJSON writes a value and a newline. Text that is not UTF-8, such as an
// event's, is written with replacement characters.
func printJSON(w io.Writer, value any, options ...json.Options) error {
	options = append(options, jsontext.AllowInvalidUTF8(true), schema.Outgoing())
	return json.MarshalEncode(jsontext.NewEncoder(w, options...), value, options...)
}
