package conversations

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed lexicon.txt
var lexiconText string

// lexicon holds the words for the same thing, in several languages. lexicon.txt says how its lines are written.
type lexicon struct {
	exact, prefix map[string][]string
	// phrases are under their first word; a word of a phrase may end with a star.
	phrases map[string][]phrase
	// inside are words of scripts without blanks.
	inside []insideWord
	// subjects are what the things are evidence for.
	subjects map[string]string
}

type phrase struct {
	words []string
	thing string
}

type insideWord struct{ word, thing string }

var theLexicon = sync.OnceValue(func() *lexicon {
	l := &lexicon{exact: map[string][]string{}, prefix: map[string][]string{}, phrases: map[string][]phrase{}, subjects: map[string]string{}}
	for line := range strings.Lines(lexiconText) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		head, list, _ := strings.Cut(line, ":")
		thing, subject, _ := strings.Cut(head, "@")
		thing = strings.TrimSpace(thing)
		l.subjects[thing] = strings.TrimSpace(subject)
		for pattern := range strings.SplitSeq(list, ",") {
			l.add(strings.TrimSpace(pattern), thing)
		}
	}
	return l
})

func (l *lexicon) add(pattern, thing string) {
	first, _ := utf8.DecodeRuneInString(pattern)
	switch root, open := strings.CutSuffix(pattern, "*"); {
	case pattern == "":
	case withoutBlanks(first):
		l.inside = append(l.inside, insideWord{root, thing})
	case strings.Contains(pattern, " "):
		words := strings.Fields(pattern)
		l.phrases[words[0]] = append(l.phrases[words[0]], phrase{words, thing})
	case open:
		l.prefix[root] = append(l.prefix[root], thing)
	default:
		l.exact[pattern] = append(l.exact[pattern], thing)
	}
}

// withoutBlanks reports whether a character is of a script that is written without blanks between words.
func withoutBlanks(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) || r == 'ー'
}

// things adds what the word at a place of a text stands for, alone or with its neighbors. Of the beginnings that the lexicon
// has, the longest counts.
func (l *lexicon) things(tokens []string, at int, add func(thing string)) {
	token := tokens[at]
	for _, p := range l.phrases[token] {
		if p.at(tokens[at:]) {
			add(p.thing)
		}
	}
	if exact, ok := l.exact[token]; ok {
		for _, thing := range exact {
			add(thing)
		}
		return
	}
	for end := len(token); end >= 3; end-- {
		if found, ok := l.prefix[token[:end]]; ok {
			for _, thing := range found {
				add(thing)
			}
			return
		}
	}
}

func (p phrase) at(tokens []string) bool {
	if len(tokens) < len(p.words) {
		return false
	}
	for i, word := range p.words {
		root, open := strings.CutSuffix(word, "*")
		if tokens[i] != root && (!open || !strings.HasPrefix(tokens[i], root)) {
			return false
		}
	}
	return true
}

// thingsInside adds what a run of characters without blanks names.
func (l *lexicon) thingsInside(run string, add func(thing string)) {
	for _, w := range l.inside {
		if strings.Contains(run, w.word) {
			add(w.thing)
		}
	}
}
