package rules

import (
	"fmt"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
)

// Vocabulary defines the names of enums and patterns that rules use.
type Vocabulary struct {
	// Enums has, by the name in a rule `enum=`, all values that a member may have.
	Enums map[string][]string
	// Patterns has, by the name in a rule `pattern=`, the form that a text must have.
	Patterns map[string]Pattern
}

// Join merges vocabularies. A name that is defined twice is an error.
func Join(parts ...Vocabulary) (Vocabulary, error) {
	all := Vocabulary{Enums: map[string][]string{}, Patterns: map[string]Pattern{}}
	for _, part := range parts {
		for name, values := range part.Enums {
			if _, ok := all.Enums[name]; ok {
				return Vocabulary{}, fmt.Errorf("two enumerations are named %q", name)
			}
			all.Enums[name] = values
		}
		for name, pattern := range part.Patterns {
			if _, ok := all.Patterns[name]; ok {
				return Vocabulary{}, fmt.Errorf("two patterns are named %q", name)
			}
			all.Patterns[name] = pattern
		}
	}
	return all, nil
}

// Pattern is a form of text. It is described for the check, for the error message, and for the OpenAPI document.
type Pattern struct {
	// Match reports whether a text has the form.
	Match func(text string) bool
	// Problem is the rest of an error message that begins with the name of a member.
	Problem string
	// Regexp, Not and Format are for the OpenAPI document. A text must match the regular expression Regexp, and must
	// not match Not.
	Regexp, Not, Format string
}

// Common is the vocabulary that the rules of all operations may use.
var Common = Vocabulary{
	Enums: map[string][]string{
		"order": {"asc", "desc"},
	},
	Patterns: map[string]Pattern{
		"text":        Matching(`\S.*\S`, "must not be blank"),
		"title":       {Match: notBlank, Problem: "must not be blank", Regexp: NotBlank},
		"ascii":       Matching(`^[\x20-\x7e]*$`, "must be of printable ASCII characters"),
		"oneLine":     Matching(`^[^\n\r]*$`, "must not hold a line break"),
		"slug":        Matching(`^[a-z0-9]+(?:-[a-z0-9]+)*$`, "must be lowercase words of letters and digits with hyphens between them"),
		"color":       Matching(`^#(?:[0-9a-fA-F]{3}){1,2}$`, "must be a color such as #0af or #00aaff"),
		"languageTag": Matching(`^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$`, "must be the code of a language, such as en or pt-BR"),
		"dateTime":    {Match: isDateTime, Problem: "must be a time such as 2026-01-31T12:00:00Z", Format: "date-time"},
		"mediaType": Matching(`^[a-zA-Z0-9!#$&^_.+-]+/[a-zA-Z0-9!#$&^_.+-]+(?:; ?charset=[a-zA-Z0-9-]+)?$`,
			"must be a media type such as image/png"),
		"uri": {
			Match: isPlainURL, Problem: "must be an absolute http or https URL without user and password",
			Regexp: HTTPURL, Not: schema.LinkLoginNot, Format: "uri",
		},
		"link": {
			Match: isPlainLink, Problem: schema.ProblemLink + ", without user and password",
			Regexp: schema.LinkPattern, Not: schema.LinkNot + "|" + schema.LinkLoginNot,
		},
	},
}

const (
	// HTTPURL is the regular expression of URLs in the OpenAPI document. The document has it in addition to the format,
	// because few validators check formats.
	HTTPURL = `^[hH][tT][tT][pP][sS]?://[^/?#]`
	// NotBlank is the regular expression, in the OpenAPI document, of a text with at least one visible character.
	NotBlank = `\S`
)

// Matching returns the pattern of texts that match a regular expression.
func Matching(expression, problem string) Pattern {
	compiled := regexp.MustCompile(expression)
	return Pattern{Match: compiled.MatchString, Problem: problem, Regexp: expression}
}

// MatchingBut returns the pattern of texts that match the regular expression `expression` and do not match the regular
// expression `not`.
func MatchingBut(expression, not, problem string) Pattern {
	yes, no := regexp.MustCompile(expression), regexp.MustCompile(not)
	return Pattern{
		Match:   func(text string) bool { return yes.MatchString(text) && !no.MatchString(text) },
		Problem: problem, Regexp: expression, Not: not,
	}
}

// notBlank reports whether a text has a visible character.
func notBlank(text string) bool {
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r > ' ' && r != '\u00a0' && r != '\u3000' {
			return true
		}
		text = text[size:]
	}
	return false
}

// isDateTime reports whether a text is a time in the form of RFC 3339, in a year that Postgres can also store.
func isDateTime(text string) bool {
	at, err := time.Parse(time.RFC3339, text)
	return err == nil && at.UTC().Year() >= 1 && at.UTC().Year() <= 9999
}

// isPlainLink reports whether a link may be shown to other people. It must contain no user and no password.
func isPlainLink(text string) bool { return schema.LinkAllowed(text) && !schema.LinkHasLogin(text) }

// isPlainURL reports whether an absolute URL may be shown to other people. It must contain no user and no password.
func isPlainURL(text string) bool {
	return schema.AbsoluteURL(text) && schema.WithoutCredentials(text) == text
}
