package schema

import (
	"fmt"

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
