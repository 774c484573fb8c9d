package api

import (
	"net/url"
	"regexp"

	"github.com/octavo-docs/octavo/schema"
)

// enums are the closed sets that rules name. The values stand where the resource stands, in package schema.
var enums = map[string][]string{
	"role":           roleNames(),
	"level":          append(roleNames(), string(schema.LevelInherit)),
	"language":       schema.Languages(),
	"editMode":       schema.EditModes(),
	"siteType":       schema.SiteTypes(),
	"siteVisibility": schema.SiteVisibilities(),
	"order":          {"asc", "desc"},
	"format":         {"document", "markdown"},
	"true":           {"true"},

	"onboardingSource":   {"markdown-in-git", "import", "template"},
	"onboardingAudience": {"public", "mixed", "protected", "internal"},
	"onboardingInterest": {"adaptive-content", "api-docs", "proactive-agent"},
}

// httpURL is what the OpenAPI document says of addresses, beside their format, which few validators look at.
const httpURL = `^[hH][tT][tT][pP][sS]?://[^/?#]`

func roleNames() []string {
	var names []string
	for _, role := range schema.Roles() {
		names = append(names, string(role))
	}
	return names
}

// form is a pattern with the words that complete "<field> ...". regexp is what the OpenAPI document says of it, or format; not is
// what the text must not match.
type form struct {
	match   func(text string) bool
	problem string
	regexp  string
	not     string
	format  string
}

// patterns are the forms that rules name.
var patterns = map[string]form{
	"text":  matching(`\S.*\S`, "must not be blank"),
	"ascii": matching(`^[\x20-\x7e]*$`, "must be of printable ASCII characters"),
	"slug":  matching(`^[a-z0-9]+(?:-[a-z0-9]+)*$`, "must be lowercase words of letters and digits with hyphens between them"),
	"color": matching(`^#(?:[0-9a-fA-F]{3}){1,2}$`, "must be a color such as #0af or #00aaff"),
	"link":  {match: schema.LinkAllowed, problem: schema.ProblemLink, regexp: schema.LinkPattern},
	"uri":   {match: isAbsoluteURL, problem: "must be an absolute http or https URL", regexp: httpURL, format: "uri"},
}

func matching(expression, problem string) form {
	compiled := regexp.MustCompile(expression)
	return form{match: compiled.MatchString, problem: problem, regexp: expression}
}

// matchingBut is matching for what one expression says badly: a text that matches the second has another form.
func matchingBut(expression, not, problem string) form {
	yes, no := regexp.MustCompile(expression), regexp.MustCompile(not)
	return form{
		match:   func(text string) bool { return yes.MatchString(text) && !no.MatchString(text) },
		problem: problem, regexp: expression, not: not,
	}
}

func isAbsoluteURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
