package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/octavo-docs/octavo/schema"
)

// FromJSON decodes a JSON column. For null, it returns the zero value.
func FromJSON[T any](stored []byte) (T, error) {
	var value T
	if stored == nil {
		return value, nil
	}
	if err := json.Unmarshal(stored, &value); err != nil {
		return value, schema.Internal(err)
	}
	return value, nil
}

// ToJSON encodes a value for a JSON column.
func ToJSON(value any) ([]byte, error) {
	stored, err := json.Marshal(value)
	if err != nil {
		return nil, schema.Internal(err)
	}
	return stored, nil
}

// Deref returns the value behind a pointer, or the zero value for nil.
func Deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// Interval returns a duration as a Postgres interval.
func Interval(d time.Duration) pgtype.Interval {
	return pgtype.Interval{Microseconds: d.Microseconds(), Valid: true}
}

// IntervalOf returns a duration as a Postgres interval. It returns null for nil.
func IntervalOf(d *time.Duration) pgtype.Interval {
	if d == nil {
		return pgtype.Interval{}
	}
	return Interval(*d)
}

// UnlessEmpty returns a pointer to a text. It returns nil for an empty text.
func UnlessEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Distinct returns the ids without duplicates. It never returns nil, because nil would become null instead of an empty
// array.
func Distinct(ids []string) []string {
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

// NotNil returns an empty list for nil, for columns that cannot be null.
func NotNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// HashOf returns the SHA-256 hash of a text as hexadecimal digits.
func HashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
