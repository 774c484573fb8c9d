package postgres

import (
	"context"
	"math"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// People order the collections and spaces in a parent, and the parts of a site. All of these are sorted by position,
// and by id if positions are equal. Code that writes positions holds the lock of the organization or of the site. So
// the order cannot change after it was read.
const (
	// firstPosition is the position of a single item. The room before it is as large as the room after it. Positions
	// are never negative.
	firstPosition = 1 << 62
	// positionGap is the distance between neighbours. Many items fit between neighbours before other items must move.
	positionGap = 1 << 32
)

type Sibling struct {
	schema.ItemPointer
	Position int64
}

// Siblings are the items in one parent, in their order.
type Siblings []Sibling

func (s Siblings) Index(item schema.ItemPointer) int {
	return slices.IndexFunc(s, func(x Sibling) bool { return x.ItemPointer == item })
}

// Without removes an item from its siblings. The receiver must not be used afterwards.
func (s Siblings) Without(item schema.ItemPointer) Siblings {
	return slices.DeleteFunc(s, func(x Sibling) bool { return x.ItemPointer == item })
}

// Between finds the index directly after one sibling and directly before another. Either sibling may be nil. If both
// are nil, it returns the end. It returns -1 if no such index exists.
func (s Siblings) Between(after, before *schema.ItemPointer) int {
	if after == nil {
		if before == nil {
			return len(s)
		}
		return s.Index(*before)
	}
	at := s.Index(*after) + 1
	if at == 0 || before != nil && s.Index(*before) != at {
		return -1
	}
	return at
}

// Room returns n positions before s[at] with equal distances, if there is room for them.
func (s Siblings) Room(at, n int) (positions []int64, fits bool) {
	from, step := int64(firstPosition), int64(positionGap)
	switch {
	case len(s) == 0:
	case at == 0:
		from = s[0].Position - int64(n)*step
	case at == len(s):
		from = s[at-1].Position + step
	default:
		step = (s[at].Position - s[at-1].Position) / int64(n+1)
		from = s[at-1].Position + step
	}
	// Neighbours have equal positions if they were never ordered. A sum that overflows is negative.
	if step == 0 || from < 0 || from > math.MaxInt64-int64(n)*step {
		return nil, false
	}
	positions = make([]int64, n)
	for i := range positions {
		positions[i] = from + int64(i)*step
	}
	return positions, true
}

// MakeRoom returns n positions before s[at]. If there is no room, all siblings get new positions, which are stored.
func (s Siblings) MakeRoom(ctx context.Context, q *db.Queries, at, n int) ([]int64, error) {
	if positions, fits := s.Room(at, n); fits {
		return positions, nil
	}
	all, _ := Siblings(nil).Room(0, len(s)+n)
	made := slices.Clone(all[at : at+n])
	return made, s.MoveTo(ctx, q, slices.Delete(all, at, at+n))
}

// MakePlace does the same as MakeRoom for one position.
func (s Siblings) MakePlace(ctx context.Context, q *db.Queries, at int) (int64, error) {
	positions, err := s.MakeRoom(ctx, q, at, 1)
	if err != nil {
		return 0, err
	}
	return positions[0], nil
}

// MoveTo stores new positions of all siblings.
func (s Siblings) MoveTo(ctx context.Context, q *db.Queries, positions []int64) error {
	ids := make([]string, len(s))
	for i := range s {
		ids[i] = s[i].ID
	}
	return Interpret(q.SetPositions(ctx, db.SetPositionsParams{Ids: ids, Positions: positions}), "order")
}

// Same compares two parents; nil is the top.
func Same(a, b *string) bool { return a == b || (a != nil && b != nil && *a == *b) }
