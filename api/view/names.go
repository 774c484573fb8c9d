package view

import (
	"strings"
	"unicode"
)

const longestShownName = 80

// ShownName makes a name that a user chose fit for a mail or page of ours that others see: on one line, short, without characters that nobody sees or that
// turn the text around. One that holds an address is replaced, since mail programs would make it a link.
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
