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

// freeSlug returns the slug if no other page has it. Otherwise it appends the lowest number that makes the slug unique.
func freeSlug(slug string, taken map[string]bool) string {
	candidate := slug
	for n := 1; taken[candidate]; n++ {
		suffix := "-" + strconv.Itoa(n)
		candidate = cut(slug, maxSlug-len(suffix)) + suffix
	}
	return candidate
}

func cut(text string, characters int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), characters)])
}
