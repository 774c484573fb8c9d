package words

import (
	"slices"
	"strings"
)

// maxQuery is the largest number of words of a query. Further words are ignored. A word in camel case has several
// tokens.
const (
	maxQuery       = 12
	maxQueryTokens = 5 * maxQuery
)

// Query is a search for pages that match all of its terms.
type Query struct{ terms []term }

// term has words that a text must contain. If `phrase` is true, the words must directly follow each other. If `without`
// is true, the text must not contain the words.
type term struct {
	tokens  []Token
	phrase  bool
	without bool
	// `begins` is true if the last word may be incomplete, because the user may still be typing it.
	begins bool
}

// ParseQuery reads a query. Every text is accepted as a query. Words in quotation marks are a phrase. A word after a
// hyphen is excluded.
func ParseQuery(text string) Query {
	var q Query
	left := maxQuery
	for text = strings.TrimSpace(text); text != "" && left > 0; text = strings.TrimSpace(text) {
		var t term
		if rest, ok := strings.CutPrefix(text, "-"); ok {
			t.without, text = true, rest
		}
		var part string
		if rest, ok := strings.CutPrefix(text, `"`); ok {
			part, text, t.phrase = rest, "", true
			if before, after, closed := strings.Cut(rest, `"`); closed {
				part, text = before, after
			}
		} else if end := strings.IndexAny(text, " \t\r\n\u3000"); end >= 0 {
			part, text = text[:end], text[end:]
		} else {
			part, text = text, ""
		}
		t.begins = text == "" && !t.phrase && !t.without
		if t.tokens = Tokens(part, maxQueryTokens); len(t.tokens) > 0 {
			// A word in camel case counts as one word.
			t.tokens = slices.DeleteFunc(t.tokens, func(token Token) bool { return token.Position > left })
			left -= t.tokens[len(t.tokens)-1].Position
			q.terms = append(q.terms, t)
		}
	}
	return q
}

// words returns the tokens of each word. The tokens are the word itself and, if the word is in camel case, its parts.
func (t *term) words() (list [][]Token) {
	for i, token := range t.tokens {
		if i > 0 && token.Position == t.tokens[i-1].Position {
			list[len(list)-1] = append(list[len(list)-1], token)
		} else {
			list = append(list, []Token{token})
		}
	}
	return list
}

// None reports whether the query finds no pages, because it has no words or only excluded words.
func (q Query) None() bool {
	return !slices.ContainsFunc(q.terms, func(t term) bool { return !t.without })
}

// Dictionary returns the words whose stems the caller must pass to Compile.
func (q Query) Dictionary() (words []string) {
	for _, t := range q.terms {
		for _, token := range t.tokens {
			if token.Lower != "" {
				words = append(words, token.Lower)
			}
		}
	}
	return words
}

// Doubtful is a word of a query that may be misspelled. Word is misspelled if the vocabulary does not contain it. If
// Begins is true and a word in the vocabulary begins with Word, Word is not misspelled.
type Doubtful struct {
	Word   string
	Begins bool
}

// Doubtful returns the words that may be misspelled.
func (q Query) Doubtful() (list []Doubtful) {
	for _, t := range q.terms {
		if t.phrase || t.without {
			continue
		}
		for i, token := range t.tokens {
			if Spelled(token.Folded) {
				list = append(list, Doubtful{token.Folded, t.begins && i == len(t.tokens)-1})
			}
		}
	}
	return list
}

// Compiled is a query in the form that Postgres reads.
type Compiled struct {
	// All finds the pages that match all Terms and contain no word of Without. Without is "" if the query excludes no
	// words.
	All     string
	Terms   []string
	Without string
	// Exact finds the pages that contain a word of the query exactly as the user wrote it.
	Exact string
}

// Wanted finds the pages that match all Terms, also those with excluded words.
func (c Compiled) Wanted() string { return strings.Join(c.Terms, " & ") }

// Compile makes the query of one scope. If the query has only stop words, pages must contain them. Otherwise its stop
// words are ignored. `meant` maps misspelled words to their probable words.
func (q Query) Compile(scope string, stems Stems, meant map[string][]string) Compiled {
	silent := func(t term) bool {
		return !t.phrase && !t.without && !t.begins && !slices.ContainsFunc(t.tokens, func(token Token) bool {
			stem, known := stems[token.Lower]
			return token.Lower == "" || !known || stem != ""
		})
	}
	if !slices.ContainsFunc(q.terms, func(t term) bool { return !t.without && !silent(t) }) {
		silent = func(term) bool { return false }
	}
	var all, exact, without []string
	var compiled Compiled
	for _, t := range q.terms {
		if silent(t) {
			continue
		}
		var parts []string
		list := t.words()
		for i, tokens := range list {
			if !t.without {
				for _, token := range tokens {
					exact = append(exact, quote(word(scope, token.Folded)))
				}
			}
			// The first token is the unsplit word. A phrase matches only unsplit words, not the parts of words in camel
			// case.
			whole := tokens[0]
			if t.phrase {
				written := quote(word(scope, whole.Folded))
				if whole.Lower == "" && single(whole) {
					written += ":*"
				}
				parts = append(parts, written)
				continue
			}
			last := i == len(list)-1
			begins := func(token Token, last bool) bool {
				return t.begins && last || token.Lower == "" &&
					single(token)
			}
			one := func(token Token, last bool) string {
				return either(scope, token, stems, meant[token.Folded], begins(token, last))
			}
			part := one(whole, last)
			// An excluded word excludes pages with the unsplit word. It does not exclude pages with all of its parts.
			if humps := tokens[1:]; len(humps) > 0 && !t.without {
				all := make([]string, len(humps))
				for j, hump := range humps {
					all[j] = one(hump, last && j == len(humps)-1)
				}
				part = "(" + part + " | (" + strings.Join(all, " & ") + "))"
			}
			parts = append(parts, part)
		}
		between := " & "
		if t.phrase {
			between = " <-> "
		}
		part := "(" + strings.Join(parts, between) + ")"
		switch {
		case t.without:
			without, part = append(without, part), "!"+part
		case t.phrase:
			compiled.Terms = append(compiled.Terms, part)
		default:
			compiled.Terms = append(compiled.Terms, parts...)
		}
		all = append(all, part)
	}
	compiled.All, compiled.Exact, compiled.Without = strings.Join(all, " & "), strings.Join(exact,
		" | "), strings.Join(without, " | ")
	return compiled
}

// single reports whether a token is only one letter. In a script without spaces, a text contains this letter as the
// first letter of a pair.
func single(t Token) bool { return len([]rune(t.Folded)) == 1 }

func either(scope string, t Token, stems Stems, meant []string, begins bool) string {
	written := quote(word(scope, t.Folded))
	if begins {
		written += ":*"
	}
	parts := []string{written}
	// A text contains the stem as a separate lexeme only if the stem differs from the word.
	if stem := stems.stem(t); stem != "" {
		parts = append(parts, quote(stemmed(scope, stem)), quote(word(scope, stem)))
	} else if t.Lower != "" {
		parts = append(parts, quote(stemmed(scope, t.Folded)))
	}
	for _, m := range meant {
		parts = append(parts, quote(word(scope, m)))
	}
	return "(" + strings.Join(parts, " | ") + ")"
}
