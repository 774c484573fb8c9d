package main

import (
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/diff"
)

// doubled lists the lines that the result of a merge has twice, or in two similar forms, although each side has the
// line only once. Two similar lines do not count if each side edited a different line of `base` and left the other line
// unchanged.
func doubled(base, ours, theirs, clean, merged schema.Document) (double []string) {
	mine, other, git := lines(ours), lines(theirs), lines(clean)
	fromOurs, fromTheirs := edits(base, ours, other), edits(base, theirs, mine)
	var added [2][]string
	for line, n := range lines(merged) {
		switch {
		case n > max(mine[line], other[line], git[line], 1):
			double = append(double, line)
		case other[line] == 0:
			added[0] = append(added[0], line)
		case mine[line] == 0:
			added[1] = append(added[1], line)
		}
	}
	for _, a := range added[0] {
		for _, b := range added[1] {
			if similar(a, b) && !apart(fromOurs[a], fromTheirs[b]) {
				double = append(double, a+" | "+b)
			}
		}
	}
	return double
}

// edits maps each edited line of a side to the line of `base` that it replaces. It leaves out a line of `base` if the
// other side changed it too.
func edits(base, side schema.Document, other map[string]int) map[string]string {
	was, is, from := allLines(base), allLines(side), map[string]string{}
	for i, j := range alignLines(was, is) {
		if j != diff.None && was[i] != is[j] && other[was[i]] > 0 {
			from[is[j]] = was[i]
		}
	}
	return from
}

// apart reports whether two lines come from two different lines of `base`.
func apart(a, b string) bool { return a != "" && b != "" && a != b }

func allLines(d schema.Document) []string {
	list := strings.Split(content.Plain(d), "\n")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// lines counts how many times a document has each line, for lines with at least four words.
func lines(d schema.Document) map[string]int {
	const least = 4
	count := map[string]int{}
	for line := range strings.SplitSeq(content.Plain(d), "\n") {
		if len(slices.Collect(wordsOf(line))) >= least {
			count[strings.TrimSpace(line)]++
		}
	}
	return count
}
