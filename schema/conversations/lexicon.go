package conversations

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/spanish"
)

//go:embed lexicon.txt
var lexiconText string

// lexicon is the content of lexicon.txt.
type lexicon struct {
	// `things` maps words to the things that they name.
	things map[string][]thing
	// `longest` is the length, in bytes, of the longest text that names a thing.
	longest int
	// `small` has the small words of each language, such as articles. `polite` has the small words of all languages and
	// polite words.
	small  map[string]map[string]bool
	polite map[string]bool
	cues   map[string][]string
	// subjectOf maps things to the ids of their subjects.
	subjectOf map[string]string
	subjects  []Subject
}

// thing is a thing that a word or phrase names. If `open` is true, the word or phrase may also be the beginning of a
// longer word.
type thing struct {
	term string
	open bool
}

var theLexicon = sync.OnceValue(func() *lexicon {
	l := &lexicon{
		things: map[string][]thing{}, small: map[string]map[string]bool{}, polite: map[string]bool{},
		cues: map[string][]string{}, subjectOf: map[string]string{},
	}
	for line := range strings.Lines(lexiconText) {
		head, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		kind, name, _ := strings.Cut(head, " ")
		switch phrases := strings.Split(list, ", "); {
		case list == "" || kind == "#":
		case kind == "subject":
			id, icon, _ := strings.Cut(name, " ")
			l.subjects = append(l.subjects, Subject{id, list, icon})
		case kind == "small":
			if l.small[name] == nil {
				l.small[name] = map[string]bool{}
			}
			for word := range strings.FieldsSeq(list) {
				l.small[name][word], l.polite[word] = true, true
			}
		case kind == "polite":
			for word := range strings.FieldsSeq(list) {
				l.polite[word] = true
			}
		case kind == "cue":
			for i, phrase := range phrases {
				if first, _ := utf8.DecodeRuneInString(phrase); !withoutBlanks(first) {
					phrases[i] = " " + phrase + " "
				}
			}
			l.cues[name] = append(l.cues[name], phrases...)
		default:
			l.subjectOf[thingMark+kind] = strings.TrimPrefix(name, "@")
			for _, phrase := range phrases {
				words, open := strings.CutSuffix(phrase, "*")
				l.things[words] = append(l.things[words], thing{thingMark + kind, open})
				l.longest = max(l.longest, len(words))
			}
		}
	}
	// withoutCues removes long phrases before short phrases, because a phrase may be a part of another phrase.
	for _, phrases := range l.cues {
		slices.SortStableFunc(phrases, func(a, b string) int { return len(b) - len(a) })
	}
	return l
})

// at calls `add` for the things whose names are at the beginning of a text. It calls `add` for all things with names of
// several words, and for the thing with the longest name of one word.
func (l *lexicon) at(text string, add func(term string)) {
	first, _ := utf8.DecodeRuneInString(text)
	for end := min(len(text), l.longest); end > 0; end-- {
		whole, found := end == len(text) || text[end] == ' ' || withoutBlanks(first), false
		for _, t := range l.things[text[:end]] {
			if whole || t.open {
				add(t.term)
				found = true
			}
		}
		if found && !strings.Contains(text[:end], " ") {
			return
		}
	}
}

// A term is a thing of the lexicon, the stem of a word, or a pair of neighboring characters in scripts without spaces.
const (
	thingMark = "#"
	pairMark  = "~"
)

// stemmers has, for each language, the function that removes the endings of words. Words of all other languages are
// stemmed as English words.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"de": german.Stem, "en": english.Stem, "es": spanish.Stem, "fr": french.Stem, "it": italian.Stem, "nl": dutch.Stem,
	"pt": portuguese.Stem,
}

func stem(word, language string) string {
	cut, known := stemmers[language]
	if !known {
		cut = english.Stem
	}
	env := snowballstem.NewEnv(word)
	cut(env)
	return env.Current()
}

// terms returns the terms of a text, in order. The same term may occur several times.
func terms(text, language string) (found []string) {
	l, words := theLexicon(), tokens(text)
	small := l.small[language]
	if small == nil {
		small = l.small["en"]
	}
	addThing := func(term string) {
		// Neighboring words often name the same thing. If one of the last four terms is the same, no term is added.
		if !slices.Contains(found[max(0, len(found)-4):], term) {
			found = append(found, term)
		}
	}
	rest := strings.Join(words, " ")
	for _, word := range words {
		letters := []rune(word)
		switch {
		case withoutBlanks(letters[0]):
			for i := range word {
				l.at(word[i:], addThing)
			}
			for i := range len(letters) - 1 {
				// Pairs with hiragana are left out, because hiragana are mostly endings and particles.
				if pair := letters[i : i+2]; !slices.ContainsFunc(pair, isHiragana) {
					found = append(found, pairMark+string(pair))
				}
			}
		default:
			l.at(rest, addThing)
			if !small[word] && len(letters) > 1 && !isAmount(word) {
				found = append(found, stem(word, language))
			}
		}
		rest = strings.TrimPrefix(rest[len(word):], " ")
	}
	return found
}

// isAmount reports whether a word is a number that usually differs between users, such as an amount. A number of three
// digits is not an amount, because it may be the code of an error.
func isAmount(word string) bool { return len(word) != 3 && strings.Trim(word, "0123456789") == "" }

func isHiragana(r rune) bool { return unicode.Is(unicode.Hiragana, r) }

// withoutBlanks reports whether a character belongs to a script that has no spaces between words.
func withoutBlanks(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) || r == 'ー'
}

// tokens returns the words of a text in lower case. An apostrophe ends a word, so l'écran consists of two words.
func tokens(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && r != 'ー'
	})
}

// languageOf determines the language of a text. If the script alone does not determine it, it is the language with the
// most small words in the text. If two languages have equally many small words in the text, languageOf returns "".
func languageOf(text string) string {
	var kana, han, letters int
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.IsLetter(r):
			letters++
		}
	}
	switch {
	case kana > 2:
		return "ja"
	case han > letters:
		return "zh"
	}
	best, most, words := "", 0, tokens(text)
	for language, small := range theLexicon().small {
		count := 0
		for _, word := range words {
			if small[word] {
				count++
			}
		}
		switch {
		case count > most:
			best, most = language, count
		case count == most:
			best = ""
		}
	}
	return best
}

// cueText returns a sentence in the form of the phrases in `cues`: in lower case, without punctuation.
func cueText(sentence string) string {
	text := strings.ReplaceAll(strings.ToLower(sentence), "’", "'")
	return " " + strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("'、", r)
	}), " ") + " "
}

// hasCue reports whether a sentence contains a phrase from one of the named lists of cues.
func hasCue(sentence string, lists ...string) bool {
	text := cueText(sentence)
	return slices.ContainsFunc(lists, func(list string) bool {
		phrases := theLexicon().cues[list]
		return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) })
	})
}

// withoutCues returns the cueText of a sentence, without the phrases in a list.
func withoutCues(sentence, list string) string {
	text := cueText(sentence)
	for _, phrase := range theLexicon().cues[list] {
		text = strings.ReplaceAll(text, phrase, "  ")
	}
	return text
}
