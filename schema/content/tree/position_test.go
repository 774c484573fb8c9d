package tree

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var positions []string
		for _, place := range rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 200).Draw(t, "places") {
			at, after, before := place%(len(positions)+1), "", ""
			if at > 0 {
				after = positions[at-1]
			}
			if at < len(positions) {
				before = positions[at]
			}
			made := Between(after, before)
			if made <= after || before != "" && made >= before || strings.HasSuffix(made[wholeLength(made[0]):], "0") {
				t.Fatalf("%q is not between %q and %q", made, after, before)
			}
			positions = slices.Insert(positions, at, made)
		}
	})
}

func TestPositionsStayShort(t *testing.T) {
	t.Parallel()
	const siblings = 100_000
	if all := Spread(siblings); !slices.IsSorted(all) || len(all[siblings-1]) > 4 {
		t.Errorf("the last of them is at %q", all[siblings-1])
	}
	first := ""
	for range siblings {
		first = Between("", first)
	}
	if len(first) > 4 {
		t.Errorf("what is put first %d times is at %q", siblings, first)
	}
}

// TestOutermostPositions checks positions before the smallest whole number, and after the largest whole number. These
// positions have fractions.
func TestOutermostPositions(t *testing.T) {
	t.Parallel()
	lowest, highest := "A"+strings.Repeat("0", 26), "z"+strings.Repeat("z", 26)
	below, above := Between("", lowest+"V"), Between(highest, "")
	if below != lowest || above <= highest {
		t.Errorf("%q and %q", below, above)
	}
	if next := Between("", lowest+"1"); next >= lowest+"1" {
		t.Errorf("%q", next)
	}
}
