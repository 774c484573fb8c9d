package contenttest

import (
	"fmt"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// Last is the last word of LongWords and LongPage. LastChinese is the last word of LongChinese. Each of these two words
// occurs once in its text.
const (
	Last        = "zebrafinch"
	LastChinese = "终末龟"
)

// LongWords returns one paragraph that is as long as the largest page. No word occurs twice.
func LongWords() string {
	return filled(Last, func(i int) string { return distinct(i) + " " })
}

// LongChinese returns one paragraph of Chinese that is as long as the largest page. Few pairs of characters occur
// twice.
func LongChinese() string {
	const from, characters = 0x4e00, 0x5000
	at, step := 0, 1
	return filled(LastChinese, func(int) string {
		if at += step; at >= characters {
			at, step = at%characters, step+2
		}
		return string(rune(from + at))
	})
}

// LongPage returns a page of the largest size, with sections, lists, links, tables and code. Its words are distinct,
// and differ from the words of LongWords.
func LongPage() string {
	return filled("\n\n"+Last, func(i int) string {
		at := 60 * i
		word := func() string { at++; return "k" + distinct(at) }
		var b strings.Builder
		fmt.Fprintf(&b, "## %s %s\n\n", word(), word())
		for range 3 {
			fmt.Fprintf(&b, "* [%s](https://example.com/%s) **%s** `%s` (%s)\n", word(), word(), word(), word(), word())
		}
		b.WriteString("\n")
		for range 20 {
			b.WriteString(word() + " ")
		}
		fmt.Fprintf(&b, "\"%s\" *%s*.\n\n", word(), word())
		fmt.Fprintf(&b, "| %s | %s |\n| --- | --- |\n| %s | %s |\n\n```go\n%s := %s{}\n```\n\n", word(), word(),
			word(), word(), word(), word())
		return b.String()
	})
}

// filled returns a text of the size of the largest page. The text has as many pieces as fit before `end`, and then
// `end`.
func filled(end string, piece func(i int) string) string {
	var b strings.Builder
	for i := 0; ; i++ {
		next := piece(i)
		if b.Len()+len(next)+len(end) > schema.MaxPage {
			break
		}
		b.WriteString(next)
	}
	return b.String() + strings.Repeat(" ", schema.MaxPage-b.Len()-len(end)) + end
}

// distinct returns a word of letters. Each number gives a different word.
func distinct(i int) string {
	const letters = "bcdfghjklmnpqrstvwyz"
	word := []byte("q")
	for ; i > 0; i /= len(letters) {
		word = append(word, letters[i%len(letters)])
	}
	return string(append(word, 'a'))
}
