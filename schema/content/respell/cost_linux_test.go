package respell

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/cputime"
	"github.com/octavo-docs/octavo/schema"
)

// maxCost bounds the CPU time for texts of the largest size.
const maxCost = cputime.RaceFactor * 600 * time.Millisecond

// TestWordsCost respells edited parts of texts of the largest size. In some texts, all words are equal. In others, all
// words are different, or lines become lists.
func TestWordsCost(t *testing.T) {
	lines := func(line string) string { return strings.Repeat(line, maxBytes/3/len(line)) }
	distinct := func(format string) string {
		var b strings.Builder
		for n := 0; b.Len() < maxBytes/3-20; n++ {
			fmt.Fprintf(&b, format, n)
		}
		return b.String()
	}
	texts := map[string]string{
		"repeated words": lines("a b "), "words": distinct("w%d "), "lines": distinct("w%d\n"), "signs": lines("*_`"),
		"bullets": lines("- a\n"), "ones": lines("1. a\n"), "numbers": distinct("%d. a\n"), "quotes": lines("> a\n"),
	}
	for from, source := range texts {
		for to, next := range texts {
			best := time.Hour
			for range 5 {
				cost := cputime.Of(func() { Words(source, strings.ReplaceAll(source, "a", "b"), next) })
				if best = min(best, cost); best < maxCost {
					break
				}
			}
			if best > maxCost {
				t.Errorf("%s to %s took %s of processor time", from, to, best)
			}
		}
	}
}

// TestEndsCost calls Ends for texts of a quarter of the largest size. The lines of such a text are all equal, or all
// different.
func TestEndsCost(t *testing.T) {
	const size = schema.MaxPage / 4
	var distinct strings.Builder
	for n := 0; distinct.Len() < size; n++ {
		fmt.Fprintf(&distinct, "w%d\n", n)
	}
	texts := map[string]string{
		"empty": strings.Repeat("\n", size), "repeated": strings.Repeat("a\n", size/2),
		"two": strings.Repeat("a\nb\n", size/4), "distinct": distinct.String(),
	}
	for from, original := range texts {
		for to, edited := range texts {
			best := time.Hour
			for range 5 {
				cost := cputime.Of(func() { Ends(strings.ReplaceAll(original, "\n", "\r\n"), "x\n"+edited+"x\n") })
				if best = min(best, cost); best < maxCost/2 {
					break
				}
			}
			if best > maxCost/2 {
				t.Errorf("%s to %s took %s of processor time", from, to, best)
			}
		}
	}
}

// TestReferencesCost respells texts with references that also have the characters of the markers. The result must have
// these characters.
func TestReferencesCost(t *testing.T) {
	for _, size := range []int{1_000, 60_000, 500_000} {
		marks := strings.Repeat(string(firstMarker), size/2) + strings.Repeat(string(lastMarker), size/2)
		source := "[a] " + marks
		list := []Reference{{From: 3, To: 3, Text: "a", Label: "a", Target: "(u)"}}
		cost := time.Hour
		for range 5 {
			var got string
			cost = min(cost, cputime.Of(func() { got = References(source, "[a](u) "+marks, "[b](u) "+marks, list) }))
			if !strings.HasSuffix(got, marks) {
				t.Fatalf("%d characters are %d", size, strings.Count(got, string(firstMarker)))
			}
			if cost < maxCost {
				break
			}
		}
		if cost > maxCost {
			t.Errorf("%d characters took %s of processor time", size, cost)
		}
	}
}
