package query

import (
	"strconv"
	"strings"
)

// didYouMean adds the known name that was probably meant to what is said of a
// name, if one is close.
func didYouMean(problem, name string, known []string) string {
	if near := nearest(name, known); near != "" {
		problem += "; did you mean " + strconv.Quote(near) + "?"
	}
	return problem
}

// unknown says that a text is no such thing, and which of the known ones was
// probably meant.
func unknown(what, name string, known []string) string {
	return didYouMean("must be "+what+", not "+quoteShort(name), name, known)
}

// quoteShort quotes what a client sent, cut to what people read.
func quoteShort(s string) string {
	const shown = 64
	if len(s) > shown {
		s = strings.ToValidUTF8(s[:shown], "") + "…"
	}
	return strconv.Quote(s)
}

// nearest is the known name that is closest to name, "" if none is close: at
// most a third of its letters differ, or one contains the other. Of names
// equally close, one that name only left letters out of is meant.
func nearest(name string, known []string) string {
	lower := strings.ToLower(name)
	best, distance := "", len(name)/3+1
	for _, k := range known {
		d := edits(lower, strings.ToLower(k), distance+2)
		if d > 1 && omits(lower, strings.ToLower(k)) {
			d--
		}
		if d <= distance && (best == "" || d < distance) {
			best, distance = k, d
		}
	}
	if best != "" || len(lower) < 3 {
		return best
	}
	for _, k := range known {
		l := strings.ToLower(k)
		if (strings.Contains(l, lower) || strings.Contains(lower, l)) && (best == "" || len(k) < len(best)) {
			best = k
		}
	}
	return best
}

// omits reports whether short is long with some letters left out.
func omits(short, long string) bool {
	i := 0
	for j := 0; i < len(short) && j < len(long); j++ {
		if short[i] == long[j] {
			i++
		}
	}
	return i == len(short)
}

// edits is the number of letters to insert, drop, replace or swap between a
// and b, or limit if it is more.
func edits(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}
