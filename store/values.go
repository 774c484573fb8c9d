package store

import (
	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
)

// fromJSON reads a column that holds one of our own types; null gives its zero value.
func fromJSON[T any](stored []byte) (T, error) {
	var value T
	if stored == nil {
		return value, nil
	}
	if err := json.Unmarshal(stored, &value); err != nil {
		return value, schema.Internal(err)
	}
	return value, nil
}

// toJSON writes a value of one of our own types for a column.
func toJSON(value any) ([]byte, error) {
	stored, err := json.Marshal(value)
	if err != nil {
		return nil, schema.Internal(err)
	}
	return stored, nil
}

// deref gives the value behind a pointer, or the zero value for nil.
func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// unlessEmpty gives nil for an empty text.
func unlessEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// distinct gives each id once. It never gives nil, which Postgres takes for an unknown array.
func distinct(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	once := make([]string, 0, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			once = append(once, id)
		}
	}
	return once
}

// notNil gives an empty list for nil, for columns that cannot be null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
