package tree

import (
	"strconv"
	"strings"
	"unicode"
)

// maxSlug bounds the length of a slug, in characters.
const maxSlug = 100

// Slugify makes a slug from a title. The slug has the letters and digits of the title in lower case. Between them, a
// hyphen replaces all other characters.
func Slugify(title string) string {
	var b strings.Builder
	gap := false
	for _, r := range title {
		if invisible(r) {
			continue
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(unicode.ToLower(r))
	}
	if b.Len() == 0 {
		return "page"
	}
	return strings.TrimRight(cut(b.String(), maxSlug), "-")
}

// invisible reports whether a character has no visible form. Such a character selects a form of the previous character,
// or joins or separates characters.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Me)
}

// ValidSlug reports whether a slug can be a part of a path without escapes.
func ValidSlug(slug string) bool {
	return slug != "." && slug != ".." && !strings.ContainsFunc(slug, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`/?#%\`, r)
	})
}

// Numbers finds free slugs for siblings. For each stem, it has a number below which all slugs are taken. So a slug that
// many siblings want costs each of them only a few steps.
type Numbers map[stem]int

// stem is a slug that was cut for a suffix with this number of digits.
type stem struct {
	text   string
	digits int
}

// Free returns the slug if it is not taken. Otherwise it appends the lowest number that makes the slug unique. A slug
// that is taken must be taken in all later calls.
func (n Numbers) Free(slug string, taken func(slug string) bool) string {
	if !taken(slug) {
		return slug
	}
	for digits, first := 1, 1; ; digits, first = digits+1, first*10 {
		s := stem{cut(slug, maxSlug-len("-")-digits), digits}
		for n[s] = max(n[s], first); n[s] < first*10; n[s]++ {
			if free := s.text + "-" + strconv.Itoa(n[s]); !taken(free) {
				return free
			}
		}
	}
}

func cut(text string, characters int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), characters)])
}
