package sites

import (
	"strconv"
	"strings"
	"unicode"
)

// maxPath is the largest length, in characters, of a path that is made from a title. The API has the same limit for
// paths in requests.
const maxPath = 100

// pathFor makes a path from a title. The path has the title's letters and digits in lower case, with hyphens between
// the words. If the title has no letters or digits, the path is the text `otherwise`. If another item has the path,
// pathFor appends a number.
func pathFor(title, otherwise string, taken map[string]bool) string {
	var b strings.Builder
	gap, length := false, 0
	for _, r := range strings.ToLower(title) {
		// The limit leaves room for the number.
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

// freePath returns the path itself if no item has it. Otherwise it appends the lowest number that makes the path
// unique.
func freePath(path string, taken map[string]bool) string {
	free := path
	for number := 2; taken[free]; number++ {
		suffix := "-" + strconv.Itoa(number)
		runes := []rune(path)
		free = string(runes[:min(len(runes), maxPath-len(suffix))]) + suffix
	}
	return free
}
