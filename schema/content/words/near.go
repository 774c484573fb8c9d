package words

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minKnown and maxKnown are the smallest and the largest number of letters of a word that is corrected. A shorter word
// would have very many similar words.
const (
	minKnown = 4
	maxKnown = 32
)

// Spelled reports whether the spelling of a word is checked. The vocabulary of a space has only such words.
func Spelled(folded string) bool {
	n := utf8.RuneCountInString(folded)
	return n >= minKnown && n <= maxKnown && !strings.ContainsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) })
}

// Known returns the words that a vector of a space adds to the vocabulary. `lexemes` are the lexemes of the vector.
func Known(scope string, lexemes []string) (known []string) {
	for _, lexeme := range lexemes {
		if folded, ok := strings.CutPrefix(lexeme, word(scope, "")); ok && Spelled(folded) {
			known = append(known, folded)
		}
	}
	return known
}

// Keys returns the keys of a word: the word itself, and the word without each of its letters. If two words differ by
// one edit, they have an equal key. So a database query for equal keys finds similar words.
func Keys(scope, folded string) []string {
	letters := []rune(folded)
	keys := []string{word(scope, folded)}
	for i := range letters {
		if i > 0 && letters[i] == letters[i-1] {
			continue
		}
		keys = append(keys, word(scope, string(letters[:i])+string(letters[i+1:])))
	}
	return keys
}

// Near returns the number of edits that turn a written word into a meant word. `ok` is false if the words differ by too
// many edits. An edit is a missing letter, an additional letter, a wrong letter, or two swapped neighbouring letters. A
// short word may have one edit, and a long word may have two edits.
func Near(written, meant string) (edits int, ok bool) {
	a, b := []rune(written), []rune(meant)
	most := 1
	if len(a) >= 8 {
		most = 2
	}
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return 0, false
	}
	edits = distance(a, b)
	return edits, edits <= most
}

func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Candidate is a word of the vocabulary, with the number of pages that contain the word.
type Candidate struct {
	Word  string
	Pages int64
}

// maxMeant is the largest number of probable words for a misspelled word.
const maxMeant = 6

// Meant returns the probable words for a misspelled word, the most probable first.
func Meant(written string, candidates []Candidate) []string {
	type meant struct {
		Candidate
		edits int
	}
	var list []meant
	for _, c := range candidates {
		if edits, ok := Near(written, c.Word); ok && c.Word != written {
			list = append(list, meant{c, edits})
		}
	}
	slices.SortFunc(list, func(a, b meant) int {
		if a.edits != b.edits {
			return a.edits - b.edits
		}
		if a.Pages != b.Pages {
			return cmp.Compare(b.Pages, a.Pages)
		}
		return strings.Compare(a.Word, b.Word)
	})
	var found []string
	for _, m := range list {
		// If some candidates need one edit, candidates that need two edits are left out.
		if len(found) == maxMeant || m.edits > list[0].edits {
			break
		}
		found = append(found, m.Word)
	}
	return found
}
