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

func roleNames() []string {
	var names []string
	for _, role := range schema.Roles() {
		names = append(names, string(role))
	}
	return names
}

// form is a pattern with the words that complete "<field> ...". regexp is what the OpenAPI document says of it, or format.
type form struct {
	match   func(text string) bool
	problem string
	regexp  string
	format  string
}

// patterns are the forms that rules name.
var patterns = map[string]form{
	"text":  matching(`\S.*\S`, "must not be blank"),
	"ascii": matching(`^[\x20-\x7e]*$`, "must be of printable ASCII characters"),
	"slug":  matching(`^[a-z0-9]+(?:-[a-z0-9]+)*$`, "must be lowercase words of letters and digits with hyphens between them"),
	"color": matching(`^#(?:[0-9a-fA-F]{3}){1,2}$`, "must be a color such as #0af or #00aaff"),
	"link":  {match: schema.LinkAllowed, problem: schema.ProblemLink},
	"uri":   {match: isAbsoluteURL, problem: "must be an absolute http or https URL", format: "uri"},
}

func matching(expression, problem string) form {
	compiled := regexp.MustCompile(expression)
	return form{match: compiled.MatchString, problem: problem, regexp: expression}
}

func isAbsoluteURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
