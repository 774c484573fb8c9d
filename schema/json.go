package schema

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// EncodeJSON writes a value for a JSON column, or for a receiver outside. Equal values have equal bytes.
func EncodeJSON(value any) ([]byte, error) {
	raw, err := json.Marshal(value, Outgoing())
	if err != nil {
		return nil, Internal(err)
	}
	return raw, nil
}

// DecodeJSON reads a value from a JSON column. A value that cannot be read is an internal error, not the request's fault.
func DecodeJSON[T any](raw []byte) (T, error) {
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		return value, Internal(fmt.Errorf("stored JSON is no %T: %w", value, err))
	}
	return value, nil
}

// LineAndColumn returns the line and the column of a byte in a text, both counted from 1. Columns are characters. An
// offset outside of the text counts as the nearest end of the text.
func LineAndColumn(text []byte, offset int64) (line, column int) {
	before := text[:min(max(offset, 0), int64(len(text)))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before[:start], []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// NotJSON returns the place where a text stops being JSON. It completes a sentence that begins with the text's name.
func NotJSON(text []byte, offset int64) string {
	line, column := LineAndColumn(text, offset)
	return fmt.Sprintf("is not valid JSON at line %d, column %d", line, column)
}
