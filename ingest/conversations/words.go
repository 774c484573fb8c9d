package conversations

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A term says what a text is about. There are three kinds: a thing of the lexicon, the beginning of a word, and, in
// scripts without blanks, two neighboring characters.
const (
	thingMark = "#"
	pairMark  = "~"
	// stemLength is how many characters of a word count: its ending does not.
	stemLength = 5
)

//go:embed lexicon.txt
var lexiconText string

// lexicon is what is known of words. lexicon.txt says how its lines are written.
type lexicon struct {
	// things are by their words; open says that a longer word may follow.
	things map[string][]meant
	// longest is the length of the longest words in bytes.
	longest int
	// small are the words that say nothing, by language.
	small     map[string]map[string]bool
	languages []string
	// cues are lists of phrases.
	cues map[string][]string
	// subjects are those that things are evidence for; list has all, in their order.
	subjects map[string]string
	list     []Subject
}

type meant struct {
	thing string
	open  bool
}

var theLexicon = sync.OnceValue(func() *lexicon {
	l := &lexicon{
		things: map[string][]meant{}, small: map[string]map[string]bool{},
		cues: map[string][]string{}, subjects: map[string]string{},
	}
	for line := range strings.Lines(lexiconText) {
		head, list, _ := strings.Cut(strings.TrimSpace(line), ":")
		kind, name, _ := strings.Cut(head, " ")
		list = strings.TrimSpace(list)
		switch {
		case strings.HasPrefix(line, "#"), head == "":
		case kind == "subject":
			id, icon, _ := strings.Cut(name, " ")
			l.list = append(l.list, Subject{id, list, icon})
		case kind == "small":
			if l.small[name] == nil {
				l.small[name] = map[string]bool{}
				l.languages = append(l.languages, name)
			}
			for word := range strings.FieldsSeq(list) {
				l.small[name][word] = true
			}
		case kind == "cue":
			for phrase := range strings.SplitSeq(list, ", ") {
				if first, _ := utf8.DecodeRuneInString(phrase); !withoutBlanks(first) {
					phrase = " " + phrase + " "
				}
				l.cues[name] = append(l.cues[name], phrase)
			}
		default:
			l.subjects[kind] = strings.TrimPrefix(name, "@")
			for phrase := range strings.SplitSeq(list, ", ") {
				phrase, open := strings.CutSuffix(phrase, "*")
				l.things[phrase] = append(l.things[phrase], meant{kind, open})
				l.longest = max(l.longest, len(phrase))
			}
		}
	}
	// The longest first: one may be a part of another.
	for _, phrases := range l.cues {
		slices.SortStableFunc(phrases, func(a, b string) int { return len(b) - len(a) })
	}
	return l
})

// at adds the things that the first word of a text stands for, and those that it does with the words after it.
func (l *lexicon) at(text string, add func(thing string)) {
	first, _ := utf8.DecodeRuneInString(text)
	for end := min(len(text), l.longest); end > 0; end-- {
		whole := end == len(text) || text[end] == ' ' || withoutBlanks(first)
		found := false
		for _, m := range l.things[text[:end]] {
			if whole || m.open {
				add(m.thing)
				found = true
			}
		}
		if found && !strings.Contains(text[:end], " ") {
			return
		}
	}
}

// terms gives the terms of a text in a language in order, with repetitions.
func terms(text, language string) (found []string) {
	l, all := theLexicon(), tokens(text)
	small := l.small[language]
	if small == nil {
		small = l.small["en"]
	}
	thing := func(name string) {
		// Neighbors often stand for the same thing: it counts once.
		if name = thingMark + name; !slices.Contains(found[max(0, len(found)-4):], name) {
			found = append(found, name)
		}
	}
	rest := strings.Join(all, " ")
	for _, token := range all {
		runes := []rune(token)
		switch {
		case withoutBlanks(runes[0]):
			for i := range token {
				l.at(token[i:], thing)
			}
			for i := range len(runes) - 1 {
				// Hiragana only join words together.
				if !unicode.Is(unicode.Hiragana, runes[i]) && !unicode.Is(unicode.Hiragana, runes[i+1]) {
					found = append(found, pairMark+string(runes[i:i+2]))
				}
			}
		default:
			l.at(rest, thing)
			if !small[token] && len(runes) > 1 && !amount(runes) {
				found = append(found, string(runes[:min(len(runes), stemLength)]))
			}
		}
		rest = strings.TrimPrefix(rest[len(token):], " ")
	}
	return found
}

// amount reports whether a word is a number that varies. Three digits may be an error's number.
func amount(word []rune) bool {
	return len(word) != 3 && !slices.ContainsFunc(word, func(r rune) bool { return r < '0' || r > '9' })
}

// tokens gives the words of a text in lower case. An apostrophe ends a word, as in l'écran.
func tokens(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && r != 'ー'
	})
}

// withoutBlanks reports whether a character is of a script that is written without blanks between words.
func withoutBlanks(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) || r == 'ー'
}

// languageOf tells the language of a text by its script, or by the language that most of its small words are from. It
// is empty if there are too few.
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
	l, best, most, second, all := theLexicon(), "", 0, 0, tokens(text)
	for _, language := range l.languages {
		count := 0
		for _, token := range all {
			if l.small[language][token] {
				count++
			}
		}
		if count > most {
			best, most, second = language, count, most
		} else {
			second = max(second, count)
		}
	}
	if most == second {
		return ""
	}
	return best
}

// cueText is a sentence as cues are looked for in it.
func cueText(sentence string) string {
	text := strings.ReplaceAll(strings.ToLower(sentence), "’", "'")
	return " " + strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	}), " ") + " "
}

// hasCue reports whether a sentence has a phrase of one of the lists.
func hasCue(sentence string, lists ...string) bool {
	text := cueText(sentence)
	for _, list := range lists {
		if slices.ContainsFunc(theLexicon().cues[list], func(phrase string) bool { return strings.Contains(text, phrase) }) {
			return true
		}
	}
	return false
}

// without takes the phrases of a list out of a sentence, and reports whether there were any.
func without(sentence, list string) (rest string, found bool) {
	rest = cueText(sentence)
	for _, phrase := range theLexicon().cues[list] {
		if strings.Contains(rest, phrase) {
			rest, found = strings.ReplaceAll(rest, phrase, "  "), true
		}
	}
	return rest, found
}
