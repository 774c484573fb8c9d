package sites

import (
	"strconv"
	"strings"
	"unicode"
)

// maxPath bounds paths that are made from titles; the contract has the same bound for paths in requests.
const maxPath = 100

// pathFor makes a path from a title: its letters and digits in lower case, with hyphens between the words, and with a number at the
// end if the path is taken.
func pathFor(title, otherwise string, taken map[string]bool) string {
	var b strings.Builder
	gap, length := false, 0
	for _, r := range strings.ToLower(title) {
		// Room is left for the number.
		if length >= maxPath-12 {
			break
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = true
			continue
		}
		if gap && length > 0 {
			b.WriteByte('-')
			length++
		}
		gap = false
		b.WriteRune(r)
		length++
	}
	path := b.String()
	if path == "" {
		path = otherwise
	}
	return freePath(path, taken)
}

// freePath is the path itself if it is free, and otherwise the path with the lowest number that makes it free.
func freePath(path string, taken map[string]bool) string {
	free := path
	for number := 2; taken[free]; number++ {
		suffix := "-" + strconv.Itoa(number)
		runes := []rune(path)
		free = string(runes[:min(len(runes), maxPath-len(suffix))]) + suffix
	}
	return free
}
