package query

import (
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// didYouMean adds a suggestion to a problem. If the name is another product's word, it suggests our name. Otherwise it
// suggests a similar known name.
func didYouMean(problem, name string, known []string) string {
	near, more := insights.Meant(name, known)
	if near == "" {
		near = nearest(name, known)
	}
	if near != "" {
		problem += "; did you mean " + strconv.Quote(near) + more + "?"
	}
	return problem
}

// unknown returns the problem of a text that is not a known name.
func unknown(what, name string, known []string) string {
	return didYouMean("must be "+what+", not "+quoteShort(name), name, known)
}

// unknownMember returns the error for an unknown member of the object at `path`.
func unknownMember(path, name string, known []string) error {
	if len(name) > maxShown {
		// A name of kilobytes would make the path unreadable.
		return schema.Invalid(path, "has an unknown member "+quoteShort(name), known...)
	}
	return schema.Invalid(at(path, name), didYouMean("is not a known member", name, known), known...)
}

// maxShown limits the bytes of a client's text in errors.
const maxShown = 64

func quoteShort(s string) string {
	return strconv.Quote(shortened(s, maxShown))
}

// shortened cuts a text that is longer than `most` bytes, and appends "…".
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// nearest returns the known name that is most similar to `name`; "" if no known name is similar. A name is similar if
// at most a third of its characters differ, or if one name contains the other. If several are equally similar, a known
// name that `name` abbreviates wins.
func nearest(name string, known []string) string {
	lower := strings.ToLower(name)
	best, distance := "", len(name)/3+1
	for _, k := range known {
		d := edits(lower, strings.ToLower(k), distance+2)
		if d > 1 && abbreviates(lower, strings.ToLower(k)) {
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

// abbreviates reports whether `short` is `long` without some of its characters.
func abbreviates(short, long string) bool {
	i := 0
	for j := 0; i < len(short) && j < len(long); j++ {
		if short[i] == long[j] {
			i++
		}
	}
	return i == len(short)
}

// edits returns the number of characters to insert, drop, replace or swap to turn a into b, but at most `limit`.
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

// at is the path of a member below a path; the root's path is empty.
func at(path, member string) string {
	if path == "" {
		return member
	}
	return path + "." + member
}

// nth is the path of an entry of the list at `path`.
func nth(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
