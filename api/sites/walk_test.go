package sites

import (
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/store/sites"
)

// part returns the part of a site that `text` describes, such as "guide*/v1*": section guide and site space v1. A star
// marks a default.
func part(text string) sites.PublishedPart {
	section, path, inSection := strings.Cut(text, "/")
	if !inSection {
		section, path = "", section
	}
	name, isDefault := strings.CutSuffix(path, "*")
	p := sites.PublishedPart{ID: text, SpaceID: text, Path: name, IsDefault: isDefault, SectionDefault: true}
	if inSection {
		name, isDefault := strings.CutSuffix(section, "*")
		p.SectionID, p.SectionPath, p.SectionDefault = &name, &name, isDefault
	}
	return p
}

// TestWalk checks, for a path, which part of the site `walk` finds, how many segments name it, and whether further
// segments could name another part.
func TestWalk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ parts, path, want string }{
		// The site has one site space, so every path leads to a page.
		{"docs*", "", "docs* 0 complete"}, {"docs*", "users", "docs* 0 complete"}, {"docs*", "docs", "docs* 0 complete"},
		// The site has variants.
		{"v1* v2", "", "v1* 0 more"}, {"v1* v2", "v2", "v2 1 complete"}, {"v1* v2", "v1/a", "v1* 1 complete"},
		{"v1* v2", "users", "v1* 0 complete"}, {"v1* v2", "users/v2", "v1* 0 complete"},
		// The site has sections.
		{"guide*/a* api/b*", "", "guide*/a* 0 more"}, {"guide*/a* api/b*", "api", "api/b* 1 complete"},
		{"guide*/a* api/b*", "guide", "guide*/a* 1 complete"}, {"guide*/a* api/b*", "api/b", "api/b* 1 complete"},
		{"guide*/a* api/b*", "users", "guide*/a* 0 complete"}, {"only*/a*", "", "only*/a* 0 more"},
		// The sections have variants.
		{"guide*/v1* guide*/v2 api/v1* api/v2", "", "guide*/v1* 0 more"}, {"guide*/v1* guide*/v2 api/v1* api/v2", "v2", "guide*/v2 1 complete"},
		{"guide*/v1* guide*/v2 api/v1* api/v2", "api", "api/v1* 1 more"}, {"guide*/v1* guide*/v2 api/v1* api/v2", "api/v2/x", "api/v2 2 complete"},
		{"guide*/v1* guide*/v2 api/v1* api/v2", "api/users", "api/v1* 1 complete"},
		// A section has precedence over a site space of the default section.
		{"guide*/v1* guide*/api api/v2*", "api", "api/v2* 1 complete"},
		// The reader may not see the defaults.
		{"v2 v3", "", "v2 0 more"}, {"v2", "", "v2 0 more"}, {"v2", "v2/a", "v2 1 complete"}, {"v2", "a", "v2 0 complete"},
		{"api/b", "api/b", "api/b 2 complete"}, {"api/b* more/c*", "", "api/b* 0 more"}, {"", "", "nothing"},
	} {
		var parts []sites.PublishedPart
		for _, text := range strings.Fields(test.parts) {
			parts = append(parts, part(text))
		}
		var names []string
		if test.path != "" {
			names = strings.Split(test.path, "/")
		}
		got := "nothing"
		if found, ok := walk(parts, names); ok {
			got = found.ID + " " + string(rune('0'+found.segments)) + " more"
			if found.complete {
				got = strings.TrimSuffix(got, "more") + "complete"
			}
		}
		if got != test.want {
			t.Errorf("%q in %q: %s, want %s", test.path, test.parts, got, test.want)
		}
	}
}

func TestAddressesAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://Docs.Example.com./~/sites/x/a%20b//c/?q=1#f": "docs.example.com x 3 /~/sites/x/ /a%20b/c",
		"http://h:8080/base/~/sites/x":                        "h x 4 /base/~/sites/x/ /",
		"https://h/~/sites":                                   "h - 0 / /~/sites",
		"https://h":                                           "h - 0 / /",
		"https://h/preview/x/a":                               "h x 2 /preview/x/ /a",
		"https://preview/x/a/b":                               "preview x 1 /x/ /a/b",
		"https://preview/":                                    "preview - 0 / /",
		"ftp://h/x":                                           "", "https://": "", "/~/sites/x": "", "https://u:p@h/": "", "https://h/%zz": "", "": "", "https://h:x/": "",
	} {
		got := ""
		if a, ok := parseAddress(text); ok {
			id, n, found := a.siteByPath([]string{"base"})
			if !found {
				id = "-"
			}
			got = a.host + " " + id + " " + string(rune('0'+n)) + " " + a.prefix(n) + " " + a.rest(n)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
