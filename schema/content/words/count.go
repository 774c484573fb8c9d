package words

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Count returns the number of words in a text. The last token of the text has this number as its position. In a script
// without spaces between words, each letter counts as a word.
func Count(text string) (n int) {
	in := false // whether r is in a word
	inPairs := false
	for _, r := range norm.NFKC.String(text) {
		switch {
		case unicode.IsMark(r) && in:
		case !unicode.IsLetter(r) && !unicode.IsNumber(r):
			in = false
			continue
		default:
			if pairs := isUnspaced(r); pairs != inPairs {
				in, inPairs = false, pairs
			}
		}
		if !in || inPairs {
			n++
		}
		in = true
	}
	return n
}
