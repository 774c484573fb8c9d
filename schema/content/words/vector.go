package words

import (
	"slices"
	"strconv"
	"strings"
)

// These constants are the weights in Postgres's search vectors. The highest weight comes first.
const (
	Title   = 'A'
	Heading = 'B'
	Body    = 'D'
)

const (
	// maxVector bounds the bytes of a vector. Postgres accepts at most 1 MiB.
	maxVector = 900 << 10
	// maxPlaces is the largest number of positions that a vector has for a word. More positions would not change the
	// rank.
	maxPlaces   = 16
	maxPosition = 16_383
	// gap is the distance between the positions of two fields. It prevents a phrase from matching across two fields.
	gap = 8
)

// Field is a part of a page.
type Field struct {
	Weight byte
	Tokens []Token
}

// Scope returns a prefix for the words of a space. All spaces share one index, and the prefix distinguishes the words
// of different spaces.
func Scope(number int64) string { return strconv.FormatInt(number, 36) }

// Shown returns another prefix for the words of a space. If some text of a page is only for some visitors, the index
// has the page's other words a second time, with this prefix.
func Shown(scope string) string { return scope + "!" }

// Mark returns the lexeme that the index has for pages with text that is only for some visitors, as Postgres reads it.
func Mark(scope string) string { return quote(Shown(scope)) }

// Marked reports whether the lexemes of a vector contain the mark.
func Marked(scope string, lexemes []string) bool { return slices.Contains(lexemes, Shown(scope)) }

// Stems has the stems of words, by Token.Lower. A word that is not in Stems is its own stem. If a word is a stop word,
// such as "the", its stem is "".
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

// Words has a search vector in the text form of Postgres, and the lexemes of the vector.
type Words struct {
	Text    string
	Lexemes []string
}

// Vector makes the search vector of the fields of a page. Equal arguments give equal bytes.
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

// word returns the lexeme of a word, and `stemmed` returns the lexeme of a stem. These lexemes differ, so a search for
// the beginning of a word does not find stems. No word of a text contains a space or a tilde.
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
