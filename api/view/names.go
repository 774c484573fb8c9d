package view

import (
	"strings"
	"unicode"
)

const longestShownName = 80

// ShownName cleans a user's name for our mails and pages. The result is one short line. It has no invisible characters
// and no characters that change the direction of the text. ShownName returns the text `instead` if the name is empty or
// contains an address, because mail programs would make the address a link.
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
