package words

import (
	"slices"
	"strconv"
	"strings"
)

// The weights of Postgres's search vectors, the highest first.
const (
	Title   = 'A'
	Heading = 'B'
	Body    = 'D'
)

const (
	// maxVector bounds a vector's bytes. Postgres accepts at most 1 MiB.
	maxVector = 900 << 10
	// maxPlaces is the largest number of a word's positions in a vector. More positions would not change the rank.
	maxPlaces   = 16
	maxPosition = 16_383
	// gap is the distance of the positions of two fields, so that no phrase matches across two fields.
	gap = 8
)

// Field is a part of a page.
type Field struct {
	Weight byte
	Tokens []Token
}

// Scope returns the scope of a space's words in the index that all spaces share. Words of different scopes are
// different words.
func Scope(number int64) string { return strconv.FormatInt(number, 36) }

// Stems has the stems of words, by Token.Lower. A word that is not in Stems is its own stem. The stem of a stop word,
// such as "the", is "".
type Stems map[string]string

// stem returns the word's stem, or "" if the stem is the word itself.
func (s Stems) stem(t Token) string {
	stem, ok := s[t.Lower]
	if !ok || stem == "" {
		return ""
	}
	if stem = fold(stem); stem == t.Folded {
		return ""
	}
	return stem
}

// Words is a search vector in the text form of Postgres, and its lexemes.
type Words struct {
	Text    string
	Lexemes []string
}

// Vector makes the search vector of fields. The same input gives the same bytes.
func Vector(scope string, stems Stems, fields ...Field) Words {
	v := vector{places: map[string]string{}, count: map[string]int{}}
	first := 0
	for _, field := range fields {
		last := first
		for _, t := range field.Tokens {
			place := min(first+t.Position, maxPosition)
			last = place
			v.add(word(scope, t.Folded), place, field.Weight)
			if stem := stems.stem(t); stem != "" {
				v.add(stemmed(scope, stem), place, field.Weight)
			}
		}
		first = last + gap
	}
	return v.text()
}

// word and stemmed return lexemes. The lexemes of words and stems differ, so that a search for the beginning of a word
// does not find stems. No word of a text contains a space or a tilde.
func word(scope, w string) string    { return scope + " " + w }
func stemmed(scope, s string) string { return scope + "~" + s }

type vector struct {
	places map[string]string
	count  map[string]int
	size   int
}

func (v *vector) add(lexeme string, place int, weight byte) {
	n := v.count[lexeme]
	if n == maxPlaces {
		return
	}
	if n == 0 {
		v.size += len(lexeme) + 8
	}
	if v.size += 2; v.size > maxVector {
		return
	}
	at := strconv.Itoa(place) + string(weight)
	if n > 0 {
		at = v.places[lexeme] + "," + at
	}
	v.count[lexeme], v.places[lexeme] = n+1, at
}

func (v *vector) text() Words {
	lexemes := make([]string, 0, len(v.places))
	for lexeme := range v.places {
		lexemes = append(lexemes, lexeme)
	}
	slices.Sort(lexemes)
	var b strings.Builder
	for _, lexeme := range lexemes {
		b.WriteString(quote(lexeme) + ":" + v.places[lexeme] + " ")
	}
	return Words{Text: b.String(), Lexemes: lexemes}
}

var quotes = strings.NewReplacer(`'`, `''`, `\`, `\\`)

func quote(lexeme string) string { return "'" + quotes.Replace(lexeme) + "'" }
