package main

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// printJSON writes a value and a newline. Events may contain invalid UTF-8, which becomes replacement characters.
func printJSON(w io.Writer, value any, options ...json.Options) error {
	options = append(options, jsontext.AllowInvalidUTF8(true), schema.Outgoing())
	return json.MarshalEncode(jsontext.NewEncoder(w, options...), value, options...)
}

// jsonList prints values as the elements of a JSON array, one per line.
type jsonList struct {
	to      io.Writer
	printed bool
}

// add prints the next element.
func (l *jsonList) add(value any) error {
	before := "["
	if l.printed {
		before = ","
	}
	l.printed = true
	if _, err := io.WriteString(l.to, before); err != nil {
		return err
	}
	return printJSON(l.to, value)
}

// end closes the array. After a failure before the first element, it prints nothing, because an empty array would look
// like a complete list.
func (l *jsonList) end(failure error) error {
	closing := "]\n"
	switch {
	case !l.printed && failure != nil:
		return failure
	case !l.printed:
		closing = "[]\n"
	}
	_, err := io.WriteString(l.to, closing)
	return firstError(failure, err)
}
