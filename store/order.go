package store

import (
	"context"
	"math"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// People order collections and spaces within their parent, and the parts of a site. All of these are sorted by position, then by id.
// Writers of positions hold the lock of the organization or of the site, so that no order changes after they have read it.
const (
	// firstPosition is that of a single item. There is as much room before it as after it, and no position is negative.
	firstPosition = 1 << 62
	// positionGap is the distance between neighbours: many items fit between them before others must move.
	positionGap = 1 << 32
)

type sibling struct {
	schema.ItemPointer
	position int64
}

// siblings are the items in one parent, in their order.
type siblings []sibling

func (s siblings) index(item schema.ItemPointer) int {
	return slices.IndexFunc(s, func(x sibling) bool { return x.ItemPointer == item })
}

// without removes an item from its siblings, which must not be used afterwards.
func (s siblings) without(item schema.ItemPointer) siblings {
	return slices.DeleteFunc(s, func(x sibling) bool { return x.ItemPointer == item })
}

// between finds the index right after one sibling and right before another. Either may be nil; without both it is the end. It is -1
// if there is no such place.
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
	// Neighbours are equal if nobody ever placed them. A sum that overflows is negative.
	if step == 0 || from < 0 || from > math.MaxInt64-int64(n)*step {
		return nil, false
	}
	positions = make([]int64, n)
	for i := range positions {
		positions[i] = from + int64(i)*step
	}
	return positions, true
}

// makeRoom gives n positions before s[at]. If they do not fit, all siblings get new positions, which are stored.
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
	if err != nil {
		return 0, err
	}
	return positions[0], nil
}

// moveTo gives every sibling another position.
func (s siblings) moveTo(ctx context.Context, q *db.Queries, positions []int64) error {
	ids := make([]string, len(s))
	for i := range s {
		ids[i] = s[i].ID
	}
	return interpret(q.SetPositions(ctx, db.SetPositionsParams{Ids: ids, Positions: positions}), "order")
}

// same compares two parents; nil is the top.
func same(a, b *string) bool { return a == b || (a != nil && b != nil && *a == *b) }
