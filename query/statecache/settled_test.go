package statecache

import (
	"fmt"
	"slices"
	"testing"
)

// TestLargeParts: if one large part is young, no part is settled, because the engine will soon merge the parts.
func TestLargeParts(t *testing.T) {
	t.Parallel()
	of := func(rows uint64, old bool) agedPart {
		return agedPart{Part: Part{Name: fmt.Sprint(rows)}, rows: rows, old: old}
	}
	for name, c := range map[string]struct {
		parts []agedPart
		want  int
	}{
		"none":              {nil, 0},
		"large and small":   {[]agedPart{of(960, true), of(500, true), of(20, true), of(10, false)}, 2},
		"a young large one": {[]agedPart{of(960, true), of(500, false), of(20, true)}, 0},
		"all are small":     {slices.Repeat([]agedPart{of(10, true)}, largeShare+1), 0},
		"most are small":    {append(slices.Repeat([]agedPart{of(10, true)}, 60), of(30, true)), 0},
	} {
		if got := largeParts(c.parts); len(got) != c.want {
			t.Errorf("%s: %v, want %d", name, got, c.want)
		}
	}
}
