package view

import (
	"strings"
	"unicode"
)

const longestShownName = 80

// ShownName cleans a user's name for our mails and pages. The result is one short line, without invisible characters
// and characters that change the text's direction. A name with an address is replaced, because mail programs would make
// it a link.
func ShownName(name, instead string) string {
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }), " ")
	if lower := strings.ToLower(name); strings.Contains(lower, "://") || strings.Contains(lower, "www.") || strings.Contains(lower, "@") {
		return instead
	}
	if runes := []rune(name); len(runes) > longestShownName {
		name = string(runes[:longestShownName]) + "…"
	}
	if name == "" {
		return instead
	}
	return name
}
