package postgres

import (
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// Cursor is where a list goes on: after the row with this sort key and this id. The id makes the order total, so that rows that
// come and go between two pages neither repeat nor hide others. Lists that are sorted by the id alone take just that.
type Cursor[K time.Time | int64 | float32] struct {
	Key K
	ID  string
}

// Keys are the cursor as the sort keys of a page token.
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

// ParseCursor reads the sort keys of a page token; nil, those of the first page, give nil.
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

// MaxRank is beyond the rank of everything that a search finds: ranks are below 1. Infinity and NaN are no ranks.
const MaxRank = 1000

// The first time that is stored, and the one after the last: those that RFC 3339 can write. Postgres knows others, too.
var (
	BeginOfTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	EndOfTime   = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// LastID is after every id: ids hold no such character.
const LastID = "~"

// OrFirst gives the cursor, or for nil the place before the first row.
func (c *Cursor[K]) OrFirst(first K) Cursor[K] {
	if c == nil {
		return Cursor[K]{Key: first}
	}
	return *c
}
