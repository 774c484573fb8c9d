package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/diff"
	"github.com/octavo-docs/octavo/schema/content/merge"
)

// missing lists the words that the result of a merge must have but does not, and that no conflict contains. It aligns
// the versions by word and by line, and lists a word only if it is missing with both alignments. The alignment by word
// alone may match a word of a deleted line with the same word in an added line.
func missing(base, ours, theirs, merged schema.Document, found []merge.Conflict) (lost []string) {
	byWord, byLine := wanted(diff.Match, base, ours, theirs), wanted(matchLines, base, ours, theirs)
	for _, word := range words(merged) {
		byWord[word]--
		byLine[word]--
	}
	said := said(found)
	for _, word := range slices.Sorted(maps.Keys(byWord)) {
		if byWord[word] > 0 && byLine[word] > 0 && !strings.Contains(said, word) {
			lost = append(lost, word)
		}
	}
	return lost
}

// said returns the text of conflicts, both as JSON and as plain text. In the JSON, a word is divided if its parts have
// different marks, so the plain text is needed too.
func said(found []merge.Conflict) string {
	text := encoded(found)
	for _, c := range found {
		for _, version := range []any{c.Base, c.Ours, c.Theirs} {
			switch version := version.(type) {
			case *schema.Node:
				text += "\n" + content.Plain(schema.Document{Nodes: []schema.Node{*version}})
			case schema.Document:
				text += "\n" + content.Plain(version)
			}
		}
	}
	return text
}

// wanted counts the words that the result of a merge must have: words of `base` that no side deleted, and words that a
// side added. If both sides added a word, it is counted once.
func wanted(match func(a, b []string) []int, base, ours, theirs schema.Document) map[string]int {
	was := linedWords(base)
	least, most := map[string]int{}, map[string]int{}
	for _, word := range was {
		least[word]++
	}
	for _, side := range []schema.Document{ours, theirs} {
		is, added := linedWords(side), map[string]int{}
		for _, word := range is {
			added[word]++
		}
		for at, to := range match(was, is) {
			if to == diff.None {
				least[was[at]]--
			} else {
				added[was[at]]--
			}
		}
		for word, n := range added {
			most[word] = max(most[word], n)
		}
	}
	for word := range most {
		most[word] += least[word]
	}
	delete(most, endOfLine)
	return most
}

const endOfLine = "\n"

// linedWords lists a document's words, with endOfLine after the words of each line.
func linedWords(d schema.Document) (list []string) {
	for line := range strings.Lines(content.Plain(d)) {
		list = append(slices.AppendSeq(list, wordsOf(line)), endOfLine)
	}
	return list
}

// matchLines pairs words like diff.Match, but pairs only words that are in equal or similar lines.
func matchLines(a, b []string) []int {
	pairs := make([]int, len(a))
	for i := range pairs {
		pairs[i] = diff.None
	}
	x, y := byLine(a), byLine(b)
	inside := func(i, j int) {
		for at, to := range diff.Match(a[x[i].from:x[i].to], b[y[j].from:y[j].to]) {
			if to != diff.None {
				pairs[x[i].from+at] = y[j].from + to
			}
		}
	}
	for i, j := range alignLines(texts(x), texts(y)) {
		if j != diff.None {
			inside(i, j)
		}
	}
	return pairs
}

// alignLines pairs equal lines. Between two pairs of equal lines, it pairs similar lines.
func alignLines(x, y []string) []int {
	pairs := diff.Match(x, y)
	gap := func(i0, i1, j0, j1 int) {
		const most = 1 << 14
		if (i1-i0)*(j1-j0) > most {
			return
		}
		alike := func(i, j int) float64 {
			const least = 0.5
			if share := shared(x[i0+i], y[j0+j]); share >= least {
				return share
			}
			return 0
		}
		for i, j := range diff.Align(i1-i0, j1-j0, alike) {
			if j != diff.None {
				pairs[i0+i] = j0 + j
			}
		}
	}
	i0, j0 := 0, 0
	for i, j := range slices.Clone(pairs) {
		if j != diff.None {
			gap(i0, i, j0, j)
			i0, j0 = i+1, j+1
		}
	}
	gap(i0, len(x), j0, len(y))
	return pairs
}

// line is a line of a document, with the range of its words in a list of words.
type line struct {
	text     string
	from, to int
}

func byLine(words []string) (list []line) {
	from := 0
	for i, word := range words {
		if word == endOfLine {
			list, from = append(list, line{strings.Join(words[from:i], " "), from, i + 1}), i+1
		}
	}
	return list
}

func texts(list []line) []string {
	texts := make([]string, len(list))
	for i, l := range list {
		texts[i] = l.text
	}
	return texts
}
