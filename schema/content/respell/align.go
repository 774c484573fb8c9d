package respell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema/content/diff"
)

const (
	// fewWords is the largest product of the numbers of words of two texts that align compares without contexts.
	fewWords = 1 << 16
	// contextWords is the number of words after a word that align compares too.
	contextWords = 3
	// maxTagWords bounds the words of a tag of HTML.
	maxTagWords = 256
)

// align returns, for each word of old, the index of its partner in source or diff.None. The two texts have the same
// content, but `source` may have other markup. In a long table or list, few words occur once. So align first pairs the
// words outside of tags, together with the words after them. It then pairs the words between these pairs.
func align(old, source []word, ones bool) []int {
	had, has := namesOf(old, ones), namesOf(source, ones)
	if len(old)*len(source) <= fewWords {
		return diff.Match(had, has)
	}
	toSource := make([]int, 0, len(old))
	next := 0 // the first word of source after the last pair
	pairUpTo := func(i, j int) {
		at := len(toSource)
		for _, partner := range diff.Match(had[at:i], has[next:j]) {
			if partner != diff.None {
				partner += next
			}
			toSource = append(toSource, partner)
		}
	}
	oldText, sourceText := textWords(old), textWords(source)
	for k, partner := range diff.Match(contextsOf(old, oldText), contextsOf(source, sourceText)) {
		if partner == diff.None {
			continue
		}
		pairUpTo(oldText[k], sourceText[partner])
		toSource = append(toSource, sourceText[partner])
		next = sourceText[partner] + 1
	}
	pairUpTo(len(old), len(source))
	return toSource
}

// contextsOf returns names for the words at these indexes. The name has the word and the next words of the list.
func contextsOf(words []word, at []int) []string {
	names := make([]string, len(at))
	var b strings.Builder
	for i := range at {
		b.Reset()
		for _, j := range at[i:min(len(at), i+1+contextWords)] {
			b.WriteString(words[j].text)
			b.WriteByte(0)
		}
		names[i] = b.String()
	}
	return names
}

// textWords returns the indexes of the words with letters or digits that are outside of tags of HTML.
func textWords(words []word) []int {
	var at []int
	for i := 0; i < len(words); i++ {
		if end := tagEnd(words[i:min(len(words), i+maxTagWords)]); end > 0 {
			i += end
			continue
		}
		first, _ := utf8.DecodeRuneInString(words[i].text)
		if words[i].kind == wordText && (unicode.IsLetter(first) || unicode.IsDigit(first)) {
			at = append(at, i)
		}
	}
	return at
}

// tagEnd returns the index of the last word of the tag with which the words begin. It returns 0 if they do not begin
// with a tag.
func tagEnd(words []word) int {
	if len(words) < 3 || words[0].text != "<" {
		return 0
	}
	name := words[1].text
	if name == "/" {
		name = words[2].text
	}
	if first, _ := utf8.DecodeRuneInString(name); !unicode.IsLetter(first) {
		return 0
	}
	for i, w := range words[1:] {
		switch w.text {
		case ">":
			return i + 1
		case "<":
			return 0
		}
	}
	return 0
}
