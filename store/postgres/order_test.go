package postgres_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/store/postgres"
)

// TestRoomIsBetween checks that Room returns only positions that keep the order. If there is a large enough gap, Room
// must return positions.
func TestRoomIsBetween(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		position := rapid.OneOf(
			rapid.Int64Range(0, 8), rapid.Int64Range(1<<62, 1<<62+40), rapid.Int64Range(math.MaxInt64-8, math.MaxInt64), rapid.Int64Min(0))
		order := rapid.SliceOfN(position, 0, 8).Draw(rt, "order")
		slices.Sort(order)
		at, n := rapid.IntRange(0, len(order)).Draw(rt, "at"), rapid.IntRange(1, 5).Draw(rt, "n")
		got, fits := postgres.Room(order, at, n)
		low, high := int64(-1), int64(math.MaxInt64)
		if at > 0 {
			low = order[at-1]
		}
		if at < len(order) {
			high = order[at]
		}
		if !fits {
			// At both ends, new items get the usual distance as long as there is enough room.
			if inside := at > 0 && at < len(order); inside && high-low > int64(n) || !inside && high-low > 1<<40 {
				rt.Fatalf("no room for %d between %d and %d", n, low, high)
			}
			return
		}
		all := slices.Concat([]int64{low}, got, order[at:])
		if len(got) != n || got[0] < 0 || !slices.IsSorted(all) {
			rt.Fatalf("%v before %d of %v", got, at, order)
		}
		for i := range got {
			if got[i] == low || i > 0 && got[i] == got[i-1] || at < len(order) && got[i] == high {
				rt.Fatalf("%v before %d of %v", got, at, order)
			}
		}
	})
}
