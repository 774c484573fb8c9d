package store

import (
	"context"
	"math"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// What people put in order, they put beside other things: collections and spaces in their parent, and what a site is made of. All of
// it stands by position, then by id. Writers of positions hold the lock of the organization or of the site, so that what they read of
// an order stays true.
const (
	// firstPosition is that of the only thing in a parent. There is as much room before it as behind it, and no position is negative.
	firstPosition = 1 << 62
	// positionGap lies between neighbours, so that many things can be put between them before any other must move.
	positionGap = 1 << 32
)

type sibling struct {
	schema.ItemPointer
	position int64
}

// siblings is what stands in one parent, in its order.
type siblings []sibling

func (s siblings) index(item schema.ItemPointer) int {
	return slices.IndexFunc(s, func(x sibling) bool { return x.ItemPointer == item })
}

// without takes an item out of its siblings, which are no longer to be used.
func (s siblings) without(item schema.ItemPointer) siblings {
	return slices.DeleteFunc(s, func(x sibling) bool { return x.ItemPointer == item })
}

// between finds the index right behind one sibling and right before another. Either may be nil; without both it is the end. It is -1
// where there is no such place.
func (s siblings) between(after, before *schema.ItemPointer) int {
	if after == nil {
		if before == nil {
			return len(s)
		}
		return s.index(*before)
	}
	at := s.index(*after) + 1
	if at == 0 || before != nil && s.index(*before) != at {
		return -1
	}
	return at
}

// room gives n positions before s[at] in even steps, if they fit there.
func (s siblings) room(at, n int) (positions []int64, fits bool) {
	from, step := int64(firstPosition), int64(positionGap)
	switch {
	case len(s) == 0:
	case at == 0:
		from = s[0].position - int64(n)*step
	case at == len(s):
		from = s[at-1].position + step
	default:
		step = (s[at].position - s[at-1].position) / int64(n+1)
		from = s[at-1].position + step
	}
	// Equal neighbours are rows that nobody placed. A sum that is too large for the type is negative.
	if step == 0 || from < 0 || from > math.MaxInt64-int64(n)*step {
		return nil, false
	}
	positions = make([]int64, n)
	for i := range positions {
		positions[i] = from + int64(i)*step
	}
	return positions, true
}

// makeRoom gives n positions before s[at]. Where they do not fit, all siblings get new positions, which are stored.
func (s siblings) makeRoom(ctx context.Context, q *db.Queries, at, n int) ([]int64, error) {
	if positions, fits := s.room(at, n); fits {
		return positions, nil
	}
	all, _ := siblings(nil).room(0, len(s)+n)
	made := slices.Clone(all[at : at+n])
	return made, s.moveTo(ctx, q, slices.Delete(all, at, at+n))
}

// makePlace is makeRoom for one.
func (s siblings) makePlace(ctx context.Context, q *db.Queries, at int) (int64, error) {
	positions, err := s.makeRoom(ctx, q, at, 1)
	return positions[0], err
}

// moveTo gives every sibling another position.
func (s siblings) moveTo(ctx context.Context, q *db.Queries, positions []int64) error {
	ids := make([]string, len(s))
	for i := range s {
		ids[i] = s[i].ID
	}
	return interpret(q.SetPositions(ctx, db.SetPositionsParams{Ids: ids, Positions: positions}), "order")
}

// same says whether two parents are one; nil is the top.
func same(a, b *string) bool { return a == b || (a != nil && b != nil && *a == *b) }
