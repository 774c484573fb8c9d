// Package respell writes edited text in the spelling of its source. The function Words keeps the bytes of unchanged
// words, and the function Ends keeps line ends.
package respell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema/content/diff"
)

// maxBytes bounds the bytes of the texts that Words compares. If the texts are longer, Words returns `next` unchanged.
const maxBytes = 256 << 10

// farthest is the number of words before and after a new word among which `spell` looks for the new word's spelling.
const farthest = 256

// Words returns `next`, the text of edited blocks, in the spelling of the source. `before` is the text of the source's
// blocks as markdown.Write writes it. Text that is in both `before` and `next` has the source's bytes in the result:
// for example, its line breaks, list markers, escapes and delimiters. The caller must check that the result is
// read as the same blocks as `next`.
func Words(source, before, next string) string {
	if !Fits(source, before, next) {
		return next
	}
	was, old, wanted := wordsOf(source), wordsOf(before), wordsOf(next)
	ones := repeats(was)
	s := speller{source: was, old: old, ones: ones, toSource: align(old, was, ones)}
	var b strings.Builder
	at := 0
	for _, e := range s.edits(diff.Match(namesOf(old, ones), namesOf(wanted, ones)), len(wanted)) {
		for _, w := range was[at:e.source.from] {
			b.WriteString(w.text)
		}
		for _, w := range wanted[e.next.from:e.next.to] {
			b.WriteString(s.spell(w, e.old.from))
		}
		at = e.source.to
	}
	for _, w := range was[at:] {
		b.WriteString(w.text)
	}
	return b.String()
}

// Fits reports whether texts are short enough for Words.
func Fits(source, before, next string) bool { return len(source)+len(before)+len(next) <= maxBytes }

// stretch is a range of words.
type stretch struct{ from, to int }

// respelling is a replacement of words by words of `next`. `old` is the range of the replaced words in the text that
// Write writes. `source` is the range of these words in the source.
type respelling struct{ old, source, next stretch }

// edits returns the changes in order. toNext has, for each old word, the index of its partner in `next`. In the source,
// a change covers the partners of its old words. If the old words have no partners, the change covers the words up to
// the nearest words with a partner.
func (s speller) edits(toNext []int, length int) []respelling {
	var list []respelling
	next := 0
	for i := 0; i <= len(toNext); {
		to := i
		for to < len(toNext) && toNext[to] == diff.None {
			to++
		}
		end := length
		if to < len(toNext) {
			end = toNext[to]
		}
		if to > i || end > next {
			e := s.covering(s.slid(respelling{old: stretch{i, to}, next: stretch{next, end}}, toNext), toNext)
			for last := len(list) - 1; last >= 0 && (e.old.from < list[last].old.to ||
				e.source.from < list[last].source.to); last-- {
				e, list = e.with(list[last]), list[:last]
			}
			list = append(list, e)
		}
		next, i = end+1, to+1
	}
	return list
}

// with returns the change that covers both changes.
func (e respelling) with(o respelling) respelling {
	return respelling{e.old.with(o.old), e.source.with(o.source), e.next.with(o.next)}
}

func (s stretch) with(o stretch) stretch { return stretch{min(s.from, o.from), max(s.to, o.to)} }

// slid returns a removal of words, or an equal removal that begins one word earlier. It returns the earlier removal if
// the given removal would remove a line break of the source.
func (s speller) slid(e respelling, toNext []int) respelling {
	if e.next.from < e.next.to || e.old.from == 0 || e.old.from == e.old.to {
		return e
	}
	before, last := e.old.from-1, e.old.to-1
	if toNext[before] != diff.None && s.old[before].name(false) == s.old[last].name(false) && s.breaks(last) &&
		!s.breaks(before) {
		e.old.from, e.old.to = before, last
		e.next.from, e.next.to = e.next.from-1, e.next.to-1
	}
	return e
}

// breaks reports whether the word at index i of the old text contains a line break, either in the old text or in the
// source.
func (s speller) breaks(i int) bool {
	return strings.Contains(s.old[i].text, "\n") ||
		s.toSource[i] != diff.None && strings.Contains(s.source[s.toSource[i]].text, "\n")
}

// covering widens a change up to words with partners in the source. It does not widen an insertion that is next to a
// word with a partner.
func (s speller) covering(e respelling, toNext []int) respelling {
	partner := func(i int) bool { return i >= 0 && i < len(s.old) && s.toSource[i] != diff.None }
	if e.old.from == e.old.to {
		switch {
		case partner(e.old.from - 1):
			at := s.toSource[e.old.from-1] + 1
			e.source = stretch{at, at}
			return e
		case partner(e.old.to):
			at := s.toSource[e.old.to]
			e.source = stretch{at, at}
			return e
		}
	}
	for e.old.from > 0 && !(e.old.from < e.old.to && partner(e.old.from)) && !partner(e.old.from-1) {
		if e.old.from--; toNext[e.old.from] != diff.None {
			e.next.from = toNext[e.old.from]
		}
	}
	for e.old.to < len(s.old) && !(e.old.from < e.old.to && partner(e.old.to-1)) && !partner(e.old.to) {
		if toNext[e.old.to] != diff.None {
			e.next.to = toNext[e.old.to] + 1
		}
		e.old.to++
	}
	e.source.to = len(s.source)
	switch {
	case partner(e.old.from):
		e.source.from = s.toSource[e.old.from]
	case e.old.from > 0:
		e.source.from = s.toSource[e.old.from-1] + 1
	}
	switch {
	case partner(e.old.to - 1):
		e.source.to = s.toSource[e.old.to-1] + 1
	case e.old.to < len(s.old):
		e.source.to = s.toSource[e.old.to]
	}
	return e
}

// word is a part of a text: letters, white space with line breaks, a list marker, or another character.
type word struct {
	text string
	kind wordKind
}

type wordKind byte

const (
	wordText wordKind = iota
	wordSpace
	wordParagraph // white space with an empty line
	wordItem      // white space before a list marker
	wordBullet
	wordNumber
)

// name returns a text by which words are compared. White space with a line break has the same name as white space
// without a line break. If `ones` is true, the lists repeat their numbers. All numbers of list items then have the same
// name.
func (w word) name(ones bool) string {
	switch {
	case w.kind == wordText:
		return w.text
	case w.kind == wordNumber && !ones:
		return "\x00" + strings.TrimRight(w.text, ".)")
	}
	return string([]byte{0, 'k', byte(w.kind)})
}

func namesOf(words []word, ones bool) []string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = w.name(ones)
	}
	return names
}

// repeats reports whether two consecutive list items have the same number.
func repeats(words []word) bool {
	last := ""
	for _, w := range words {
		if w.kind == wordNumber {
			if w.text == last {
				return true
			}
			last = w.text
		}
	}
	return false
}

// wordsOf splits a text into words. Together, the words have all bytes of the text.
func wordsOf(text string) []word {
	var words []word
	begin := true // whether the text so far ends at the beginning of a line, or with a marker there
	for text != "" {
		w := word{}
		switch length := markerLength(text); {
		case begin && length > 0:
			w.text, w.kind = text[:length], wordBullet
			if length > 1 {
				w.kind = wordNumber
			}
			if last := len(words) - 1; last >= 0 && words[last].kind != wordText &&
				strings.Contains(words[last].text, "\n") {
				words[last].kind = wordItem
			}
		default:
			w.text, w.kind = nextWord(text)
			begin = begin && (w.kind != wordText || w.text == ">") || strings.Contains(w.text, "\n")
		}
		words, text = append(words, w), text[len(w.text):]
	}
	return words
}

// markerLength returns the length of the list marker with which a text begins. It returns 0 if the text does not begin
// with a marker.
func markerLength(text string) int {
	digits := 0
	for digits < len(text) && digits < 9 && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	if digits == len(text) {
		return 0
	}
	markers, end := "-*+", digits+1
	if digits > 0 {
		markers = ".)"
	}
	if strings.IndexByte(markers, text[digits]) >= 0 &&
		(end == len(text) || strings.IndexByte(" \t\n", text[end]) >= 0) {
		return end
	}
	return 0
}

// nextWord returns the white space, the letters or the character at the beginning of a text.
func nextWord(text string) (string, wordKind) {
	rest := strings.TrimLeft(text, " \t\n")
	for length := len(text) - len(rest); strings.Contains(text[:length], "\n") &&
		strings.HasPrefix(rest, ">"); length = len(text) - len(rest) {
		// If the next line begins with markers of a quote, they belong to the white space.
		rest = strings.TrimLeft(rest[1:], " \t\n")
	}
	if space := text[:len(text)-len(rest)]; space != "" {
		if strings.Count(space, "\n") > 1 {
			return space, wordParagraph
		}
		return space, wordSpace
	}
	end := strings.IndexFunc(text, func(r rune) bool { return !joins(r) })
	switch end {
	case -1:
		end = len(text)
	case 0:
		_, end = utf8.DecodeRuneInString(text)
	}
	return text[:end], wordText
}

// joins reports whether a character can be a part of a longer word. In scripts without spaces, each character is a
// word.
func joins(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) &&
		!unicode.In(
			r,
			unicode.Han,
			unicode.Hiragana,
			unicode.Katakana,
			unicode.Thai,
			unicode.Lao,
			unicode.Khmer,
			unicode.Myanmar,
		)
}

// speller spells new words in the same way as equal words near their place in the source.
type speller struct {
	source, old []word
	toSource    []int
	ones        bool // whether lists of the source repeat their numbers
}

// spell returns the spelling of a new word at a place of the old text. A marker gets the spelling of the nearest marker
// in the source. White space with a line break gets the spelling of the nearest such white space.
func (s speller) spell(w word, at int) string {
	if w.kind == wordText || w.kind < wordBullet && !strings.Contains(w.text, "\n") {
		return w.text
	}
	for distance := range min(max(at, len(s.old)-at)+1, farthest) {
		for _, i := range [2]int{at - 1 - distance, at + distance} {
			if i < 0 || i >= len(s.old) || s.toSource[i] == diff.None || s.old[i].kind != w.kind {
				continue
			}
			found := s.source[s.toSource[i]].text
			switch {
			case w.kind == wordNumber:
				if digits := strings.TrimRight(w.text, ".)"); !s.ones {
					return digits + found[len(found)-1:]
				}
				return found
			case s.old[i].text == w.text:
				return found
			}
		}
	}
	return w.text
}
