package words

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxWord bounds the number of letters in a word. Later letters are ignored.
const maxWord = 64

// Token is a word in a text.
type Token struct {
	// Folded is the form in which words are compared: in lower case, without accents.
	Folded string
	// Lower is the form for a dictionary: in lower case, with accents. Lower is empty if the token is a pair of
	// letters.
	Lower string
	// Position is the number of the word in the text, counted from 1.
	Position int
}

// unspaced are the scripts that have no spaces between words. They include the Korean script, because Korean attaches
// endings to words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// accented has the scripts in which searches ignore accents. In other scripts, such as Devanagari, a combining mark may
// be a vowel, which must not be ignored.
var accented = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic}

// Tokens returns the words of a text. It returns at most `most` tokens.
func Tokens(text string, most int) []Token {
	t := tokenizer{most: most}
	var word []rune
	inPairs := false
	for _, r := range norm.NFKC.String(text) {
		switch {
		case unicode.IsMark(r) && len(word) > 0:
		case !unicode.IsLetter(r) && !unicode.IsNumber(r):
			t.end(word, inPairs)
			word = word[:0]
			continue
		default:
			if pairs := isUnspaced(r); pairs != inPairs {
				t.end(word, inPairs)
				word, inPairs = word[:0], pairs
			}
		}
		word = append(word, r)
		if len(t.tokens) >= t.most {
			return t.tokens[:t.most]
		}
	}
	t.end(word, inPairs)
	return t.tokens[:min(len(t.tokens), t.most)]
}

// isUnspaced reports whether a letter belongs to a script in `unspaced`. It also returns true for the prolonged sound
// mark. This mark belongs to several scripts, so Unicode assigns it to none of them.
func isUnspaced(r rune) bool { return unicode.In(r, unspaced...) || r == 'ー' }

type tokenizer struct {
	tokens   []Token
	position int
	most     int
}

func (t *tokenizer) end(word []rune, inPairs bool) {
	switch {
	case len(word) == 0:
	case inPairs:
		t.pairs(word)
	default:
		t.position++
		t.word(word)
		// With the parts as tokens, a search for "create" or "page" also finds "createPage".
		if parts := humps(word); len(parts) > 1 {
			for _, part := range parts {
				t.word(part)
			}
		}
	}
}

func (t *tokenizer) word(word []rune) {
	lower := strings.ToLower(string(word[:min(len(word), maxWord)]))
	t.tokens = append(t.tokens, Token{Folded: fold(lower), Lower: lower, Position: t.position})
}

// pairs adds a token for each letter together with the next letter, and a token for the last letter. So every letter is
// the first letter of a token.
func (t *tokenizer) pairs(run []rune) {
	for i := range run {
		if len(t.tokens) >= t.most {
			return
		}
		t.position++
		t.tokens = append(t.tokens, Token{Folded: string(run[i:min(i+2, len(run))]), Position: t.position})
	}
}

// humps splits a word in camel case into its parts.
func humps(word []rune) (parts [][]rune) {
	from := 0
	for i := 1; i < len(word); i++ {
		upper := unicode.IsUpper(word[i])
		if upper && !unicode.IsUpper(word[i-1]) || upper && i+1 < len(word) && unicode.IsLower(word[i+1]) {
			parts, from = append(parts, word[from:i]), i
		}
	}
	return append(parts, word[from:])
}

func fold(word string) string {
	ascii := true
	for i := range len(word) {
		ascii = ascii && word[i] < 0x80
	}
	if ascii {
		return word
	}
	var b strings.Builder
	folds := false
	for _, r := range norm.NFD.String(word) {
		if folds && unicode.Is(unicode.Mn, r) {
			continue
		}
		folds = unicode.In(r, accented...) || folds && unicode.IsMark(r)
		switch r {
		case 'ß':
			b.WriteString("ss")
		case 'ς':
			b.WriteRune('σ')
		case 'ı':
			b.WriteRune('i')
		case 'ø':
			b.WriteRune('o')
		case 'ł':
			b.WriteRune('l')
		default:
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}
