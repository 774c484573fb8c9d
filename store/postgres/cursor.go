package postgres

import (
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// Cursor is the place at which a list continues: after the row with this sort key and this id. No two rows have the
// same key and id. So if rows are added or deleted between two pages, the list does not repeat or miss other rows.
// Lists that are sorted only by id need no Cursor, only the id.
type Cursor[K time.Time | int64 | float32] struct {
	Key K
	ID  string
}

// Keys returns the cursor as the sort keys of a page token.
func (c Cursor[K]) Keys() []string {
	switch key := any(c.Key).(type) {
	case time.Time:
		return []string{key.UTC().Format(time.RFC3339Nano), c.ID}
	case float32:
		return []string{strconv.FormatFloat(float64(key), 'g', -1, 32), c.ID}
	default:
		return []string{strconv.FormatInt(any(c.Key).(int64), 10), c.ID}
	}
}

// ParseCursor reads the sort keys of a page token. For the first page, `keys` and the result are nil.
func ParseCursor[K time.Time | int64 | float32](keys []string) (*Cursor[K], error) {
	if keys == nil {
		return nil, nil // The first page has no cursor.
	}
	c := Cursor[K]{ID: keys[1]}
	var ok bool
	switch key := any(&c.Key).(type) {
	case *time.Time:
		at, err := time.Parse(time.RFC3339Nano, keys[0])
		*key, ok = at, err == nil && !at.Before(BeginOfTime) && at.Before(EndOfTime)
	case *float32:
		f, err := strconv.ParseFloat(keys[0], 32)
		*key, ok = float32(f), err == nil && f >= 0 && f <= MaxRank
	case *int64:
		n, err := strconv.ParseInt(keys[0], 10, 64)
		*key, ok = n, err == nil
	}
	if !ok || !schema.ValidID(c.ID) {
		return nil, schema.Invalid("page", "is not a page of this list")
	}
	return &c, nil
}

// MaxRank is higher than every rank of a search, because ranks are below 1. ParseCursor rejects higher values, such as
// infinity, and NaN.
const MaxRank = 1000

// BeginOfTime is the first time that RFC 3339 can represent, and EndOfTime is the first time after the last. Postgres
// can also store earlier and later times.
var (
	BeginOfTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	EndOfTime   = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// LastID sorts after every id, because no id has this character.
const LastID = "~"

// OrFirst returns the cursor. If c is nil, it returns the place before the first row, whose key is `first`.
func (c *Cursor[K]) OrFirst(first K) Cursor[K] {
	if c == nil {
		return Cursor[K]{Key: first}
	}
	return *c
}
