package words

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Matcher finds the words of a query in a text. Callers use it to show at which places of a found page the words are.
// It has only the stems of the query's words, so it also accepts a word that begins with such a stem. Postgres, and not
// Matcher, decides which pages are found.
type Matcher struct{ terms []matchTerm }

// matchTerm is a word of a query. A text matches if it contains one of `words`, a word that is slightly longer than one
// of `stems`, or a word that begins with one of `beginnings`. `humps` are the parts of a word in camel case. A text
// also matches if it contains all `humps`.
type matchTerm struct {
	words, stems, beginnings []string
	humps                    []matchTerm
}

// If a word matches a stem, it has at most maxSuffix letters after the stem, and the stem has at least minStem letters.
const (
	maxSuffix = 6
	minStem   = 4
)

// Matcher returns a matcher for the query's words, except stop words and excluded words. `meant` maps misspelled words
// to their probable words.
func (q Query) Matcher(stems Stems, meant map[string][]string) (m Matcher) {
	for _, t := range q.terms {
		list := t.words()
		for i, tokens := range list {
			stem, known := stems[tokens[0].Lower]
			if t.without || tokens[0].Lower != "" && known && stem == "" {
				continue
			}
			one := func(token Token, last bool) matchTerm {
				term := matchTerm{words: append([]string{token.Folded}, meant[token.Folded]...)}
				single := token.Lower == "" && single(token)
				if !t.phrase {
					term.stems = []string{token.Folded, stems.stem(token)}
				}
				if t.begins && last || single {
					term.beginnings = []string{token.Folded}
				}
				return term
			}
			last := i == len(list)-1
			term := one(tokens[0], last)
			if !t.phrase {
				for j, hump := range tokens[1:] {
					term.humps = append(term.humps, one(hump, last && j == len(tokens)-2))
				}
			}
			m.terms = append(m.terms, term)
		}
	}
	return m
}

// Terms returns how many of the query's words the matcher looks for.
func (m Matcher) Terms() int { return len(m.terms) }

// Count returns how many of the query's words are among the first `most` words of a text. It splits the text into words
// only if the text may contain a word of the query.
func (m Matcher) Count(text string, most int) (count int) {
	folded := fold(strings.ToLower(norm.NFKC.String(text)))
	var tokens []Token
	for i := range m.terms {
		term := &m.terms[i]
		if !term.within(folded) {
			continue
		}
		if tokens == nil {
			tokens = Tokens(text, most)
		}
		if term.among(tokens) {
			count++
		}
	}
	return count
}

func (t *matchTerm) among(tokens []Token) bool {
	return slices.ContainsFunc(tokens, func(token Token) bool { return t.is(token.Folded) }) ||
		len(t.humps) > 0 && !slices.ContainsFunc(t.humps, func(hump matchTerm) bool { return !hump.among(tokens) })
}

// within reports whether a text may contain a word that matches the term.
func (t *matchTerm) within(folded string) bool {
	in := func(part string) bool { return part != "" && strings.Contains(folded, part) }
	return slices.ContainsFunc(t.words, in) || slices.ContainsFunc(t.stems, in) ||
		slices.ContainsFunc(t.beginnings, in) ||
		len(t.humps) > 0 && !slices.ContainsFunc(t.humps, func(hump matchTerm) bool { return !hump.within(folded) })
}

func (t *matchTerm) is(word string) bool {
	return slices.Contains(t.words, word) ||
		slices.ContainsFunc(t.stems, func(stem string) bool {
			return len(stem) >= minStem && len(word) <= len(stem)+maxSuffix && strings.HasPrefix(word, stem)
		}) ||
		slices.ContainsFunc(t.beginnings, func(beginning string) bool { return strings.HasPrefix(word, beginning) })
}
