package schema

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// EncodeJSON writes a value for a JSON column of the database, or for a receiver outside of Octavo. The encodings of
// equal values have equal bytes.
func EncodeJSON(value any) ([]byte, error) {
	raw, err := json.Marshal(value, Outgoing())
	if err != nil {
		return nil, Internal(err)
	}
	return raw, nil
}

// DecodeJSON reads a value from a JSON column. If the value cannot be read, it returns an internal error, because the
// request did not cause this.
func DecodeJSON[T any](raw []byte) (T, error) {
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		return value, Internal(fmt.Errorf("stored JSON is no %T: %w", value, err))
	}
	return value, nil
}

// LineAndColumn returns the line and the column of a byte in a text, both counted from 1. A column is a character. If
// the offset is outside of the text, it returns the position of the nearest end of the text.
func LineAndColumn(text []byte, offset int64) (line, column int) {
	before := text[:min(max(offset, 0), int64(len(text)))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before[:start], []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// NotJSON returns the problem of a text that is not valid JSON from an offset on. The problem is the end of a sentence
// that begins with the name of the text.
func NotJSON(text []byte, offset int64) string {
	line, column := LineAndColumn(text, offset)
	return fmt.Sprintf("is not valid JSON at line %d, column %d", line, column)
}
