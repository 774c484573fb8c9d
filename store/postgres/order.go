package postgres

import (
	"context"
	"math"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// Users can order the collections and spaces in a parent, and the items of a site. These lists are sorted by position,
// and by id if positions are equal. Code that writes positions must hold the lock of the organization or the site. So
// the order that the code has read cannot change before the code writes.
const (
	// firstPosition is the position of the first item in a parent. There is as much room before this position as after
	// it. Positions are never negative.
	firstPosition = 1 << 62
	// positionGap is the distance between new neighbours. It is so large that many items can be placed between two
	// neighbours before other items must get new positions.
	positionGap = 1 << 32
)

type Sibling struct {
	schema.ItemPointer
	Position int64
}

// Siblings are the items in one parent, in order.
type Siblings []Sibling

func (s Siblings) Index(item schema.ItemPointer) int {
	return slices.IndexFunc(s, func(x Sibling) bool { return x.ItemPointer == item })
}

// Without returns the siblings without an item. Without reuses the memory of `s`, so the caller must not use `s`
// afterwards.
func (s Siblings) Without(item schema.ItemPointer) Siblings {
	return slices.DeleteFunc(s, func(x Sibling) bool { return x.ItemPointer == item })
}

// Between returns the index directly after the sibling `after` and directly before the sibling `before`. Either sibling
// may be nil. If both are nil, Between returns the index after the last sibling. If there is no such index, it returns
// -1.
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

// Room returns n positions directly before s[at], with equal distances. `fits` is false if there is no room for them.
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
	// step is 0 if neighbours have equal or adjacent positions. `from` is negative if a sum has overflowed.
	if step == 0 || from < 0 || from > math.MaxInt64-int64(n)*step {
		return nil, false
	}
	positions = make([]int64, n)
	for i := range positions {
		positions[i] = from + int64(i)*step
	}
	return positions, true
}

// MakeRoom returns n positions directly before s[at]. If there is no room, it gives all siblings new positions and
// stores them.
func (s Siblings) MakeRoom(ctx context.Context, q *db.Queries, at, n int) ([]int64, error) {
	if positions, fits := s.Room(at, n); fits {
		return positions, nil
	}
	all, _ := Siblings(nil).Room(0, len(s)+n)
	made := slices.Clone(all[at : at+n])
	return made, s.MoveTo(ctx, q, slices.Delete(all, at, at+n))
}

// MakePlace returns one position directly before s[at], like MakeRoom.
func (s Siblings) MakePlace(ctx context.Context, q *db.Queries, at int) (int64, error) {
	positions, err := s.MakeRoom(ctx, q, at, 1)
	if err != nil {
		return 0, err
	}
	return positions[0], nil
}

// MoveTo stores a new position for each sibling.
func (s Siblings) MoveTo(ctx context.Context, q *db.Queries, positions []int64) error {
	ids := make([]string, len(s))
	for i := range s {
		ids[i] = s[i].ID
	}
	return Interpret(q.SetPositions(ctx, db.SetPositionsParams{Ids: ids, Positions: positions}), "order")
}

// Same reports whether two parents are the same. A nil parent is the top.
func Same(a, b *string) bool { return a == b || (a != nil && b != nil && *a == *b) }
