package tree

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestNumbers gives slugs to many siblings and counts the slugs that are tried. Each slug must end with the
// first free number, counted from 1.
func TestNumbers(t *testing.T) {
	t.Parallel()
	const siblings = 300
	for name, slugOf := range map[string]func(i int) string{
		"one slug":             func(int) string { return "a" },
		"one long slug":        func(int) string { return strings.Repeat("ä", maxSlug) },
		"long slugs":           func(i int) string { return strings.Repeat("ä", maxSlug-5) + strconv.Itoa(10_000+i%7) },
		"slugs with numbers":   func(i int) string { return []string{"a", "a-7", "a-10"}[i%3] },
		"long slugs of a stem": func(i int) string { return strings.Repeat("a", maxSlug-4) + strconv.Itoa(1000+i/2) },
	} {
		numbers, taken, tried := Numbers{}, map[string]bool{}, 0
		for i := range siblings {
			slug := slugOf(i)
			want := slug
			for number := 1; taken[want]; number++ {
				suffix := "-" + strconv.Itoa(number)
				want = cut(slug, maxSlug-len(suffix)) + suffix
			}
			got := numbers.Free(slug, func(slug string) bool {
				tried++
				return taken[slug]
			})
			if got != want || utf8.RuneCountInString(got) > maxSlug {
				t.Fatalf("%s: sibling %d has the slug %s, want %s", name, i, got, want)
			}
			taken[got] = true
		}
		if tried > 10*siblings {
			t.Errorf("%s: %d siblings tried %d slugs", name, siblings, tried)
		}
	}
}
