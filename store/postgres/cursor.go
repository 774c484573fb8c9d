package postgres

import (
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// Cursor is the position at which a list continues: after the row that has this sort key and this id. The id makes the
// order total. So rows that are added or deleted between two pages neither repeat nor hide other rows. Lists that are
// sorted only by id need only the id.
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

// ParseCursor reads the sort keys of a page token. It returns nil for nil, the keys of the first page.
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

// MaxRank is above every rank of a search: ranks are below 1. Infinity and NaN are not ranks.
const MaxRank = 1000

// BeginOfTime and EndOfTime bound the times that RFC 3339 can represent. EndOfTime itself is not included. Postgres can
// also store earlier and later times.
var (
	BeginOfTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	EndOfTime   = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// LastID sorts after every id, because no id has this character.
const LastID = "~"

// OrFirst returns the cursor, or for nil the place before the first row.
func (c *Cursor[K]) OrFirst(first K) Cursor[K] {
	if c == nil {
		return Cursor[K]{Key: first}
	}
	return *c
}
