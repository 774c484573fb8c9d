package translation

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Term is a word or a phrase with the translation that the glossary gives.
type Term struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

// Glossary finds terms in texts.
type Glossary struct {
	// byStart has the terms by their first two characters. Longer terms come first.
	byStart map[[2]rune][]folded
}

type folded struct {
	Term
	runes []rune
}

// NewGlossary returns a glossary. If several terms have the same source, the last term is used. Terms with an empty
// source or an empty target are left out.
func NewGlossary(terms []Term) *Glossary {
	last := map[string]folded{}
	for _, term := range terms {
		term.Source, term.Target = strings.TrimSpace(term.Source), strings.TrimSpace(term.Target)
		if runes := fold(term.Source); len(runes) > 0 && term.Target != "" {
			last[string(runes)] = folded{term, runes}
		}
	}
	g := &Glossary{byStart: map[[2]rune][]folded{}}
	for _, term := range last {
		g.byStart[startOf(term.runes)] = append(g.byStart[startOf(term.runes)], term)
	}
	for _, list := range g.byStart {
		slices.SortFunc(list, func(a, b folded) int {
			return cmp.Or(cmp.Compare(len(b.runes), len(a.runes)), cmp.Compare(a.Source, b.Source))
		})
	}
	return g
}

func startOf(runes []rune) [2]rune {
	start := [2]rune{runes[0]}
	if len(runes) > 1 {
		start[1] = runes[1]
	}
	return start
}

// fold converts a text so that texts can be compared without case. It does not change the number of characters.
func fold(text string) []rune {
	runes := []rune(text)
	for i, r := range runes {
		runes[i] = unicode.ToLower(r)
	}
	return runes
}

// found is a term with its position in a text, in characters.
type found struct {
	Term
	from, to int
}

// find returns the terms in a text with their positions. If terms overlap, the term that begins first is used. If
// several terms begin at the same place, the longest term is used.
func (g *Glossary) find(text string) []found {
	if g == nil || len(g.byStart) == 0 {
		return nil
	}
	runes := fold(text)
	var all []found
	for i := 0; i < len(runes); i++ {
		if term, ok := g.at(runes, i); ok {
			all = append(all, found{term.Term, i, i + len(term.runes)})
			i += len(term.runes) - 1
		}
	}
	return all
}

func (g *Glossary) at(runes []rune, i int) (folded, bool) {
	starts := [][2]rune{{runes[i]}}
	if i+1 < len(runes) {
		starts = [][2]rune{{runes[i], runes[i+1]}, {runes[i]}}
	}
	for _, start := range starts {
		for _, term := range g.byStart[start] {
			end := i + len(term.runes)
			if end <= len(runes) && slices.Equal(runes[i:end], term.runes) &&
				(i == 0 || apart(runes[i-1], runes[i])) && (end == len(runes) || apart(runes[end-1], runes[end])) {
				return term, true
			}
		}
	}
	return folded{}, false
}

// In returns the terms that occur in a text, in the order of the text. Each term is listed once.
func (g *Glossary) In(text string) []Term {
	var terms []Term
	for _, f := range g.find(text) {
		terms = append(terms, f.Term)
	}
	slices.SortFunc(terms, func(a, b Term) int { return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target)) })
	return slices.Compact(terms)
}

// apart reports whether a word may end between two characters. Some scripts have no spaces between words, and Korean
// adds endings to words.
func apart(a, b rune) bool {
	return !inWord(a) || !inWord(b) || unicode.In(a, spaceless...) || unicode.In(b, spaceless...)
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}

var spaceless = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// missing returns the terms whose translation does not occur in a text. Languages inflect words, so a part of a word is
// enough.
func missing(terms []Term, target string) []Term {
	if len(terms) == 0 {
		return nil
	}
	all, err := tokens(target)
	if err != nil {
		return terms
	}
	text := string(fold(plain(all)))
	var lost []Term
	for _, term := range terms {
		if !strings.Contains(text, string(fold(term.Target))) {
			lost = append(lost, term)
		}
	}
	return lost
}
