package schema

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// linkSchemes are the schemes that links may have in requests and answers. A link without a scheme is relative and allowed
// as well. A browser could run a link with any other scheme as a script.
var linkSchemes = []string{"http", "https", "mailto", "tel"}

// LinkAllowed reports whether the scheme of a link is on the list.
func LinkAllowed(link string) bool {
	scheme := LinkScheme(link)
	return scheme == "" || slices.Contains(linkSchemes, scheme)
}

// LinkPattern is LinkAllowed as a regular expression.
var LinkPattern = func() string {
	const hidden = `[\x00-\x20\x7f]*`
	schemes := []string{""}
	for _, scheme := range linkSchemes {
		var letters strings.Builder
		for _, letter := range scheme {
			letters.WriteString("[" + string(letter) + strings.ToUpper(string(letter)) + "]" + hidden)
		}
		schemes = append(schemes, letters.String())
	}
	return `^(?:[^:/?#]*(?:[/?#]|$)|` + hidden + `(?:` + strings.Join(schemes, "|") + `):)`
}()

// ProblemLink is the problem of a link that is not allowed.
const ProblemLink = "must be a relative link, or one of http, https, mailto or tel"

// ShownLink returns a stored link as answers show it. A link that is not allowed was stored before links were checked, and
// becomes the empty link.
func ShownLink(link string) string {
	if LinkAllowed(link) {
		return link
	}
	return ""
}

// LinkScheme returns what a browser would take for the scheme. It drops control characters and spaces that hide a scheme.
func LinkScheme(link string) string {
	link = strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return -1
		}
		return r
	}, link)
	end := strings.IndexAny(link, ":/?#")
	if end < 0 || link[end] != ':' {
		return ""
	}
	return strings.ToLower(link[:end])
}

// shownLinks removes links that are not allowed from data in answers: links of references, and the address of a block that
// embeds one. It returns data without such links unchanged.
func shownLinks(data map[string]any) map[string]any {
	address, _ := data["url"].(string)
	shown, _ := withShownLinks(data).(map[string]any)
	if link := ShownLink(address); link != address {
		shown = maps.Clone(shown)
		shown["url"] = link
	}
	return shown
}

// withShownLinks copies only the parts that change.
func withShownLinks(value any) any {
	switch value := value.(type) {
	case map[string]any:
		shown, copied := value, false
		set := func(name string, v any) {
			if !copied {
				shown, copied = maps.Clone(value), true
			}
			shown[name] = v
		}
		for name, member := range value {
			switch member := member.(type) {
			case string:
				if link := ShownLink(member); name == "url" && value["kind"] == "url" && link != member {
					set(name, link)
				}
			case map[string]any, []any:
				if after := withShownLinks(member); !same(member, after) {
					set(name, after)
				}
			}
		}
		return shown
	case []any:
		shown, copied := value, false
		for i, item := range value {
			if after := withShownLinks(item); !same(item, after) {
				if !copied {
					shown, copied = slices.Clone(value), true
				}
				shown[i] = after
			}
		}
		return shown
	}
	return value
}

// same reports whether withShownLinks returned its argument and not a copy.
func same(before, after any) bool {
	switch before.(type) {
	case map[string]any, []any:
		return reflect.ValueOf(before).Pointer() == reflect.ValueOf(after).Pointer()
	}
	return true
}

// AbsoluteURL reports whether a text is an http or https URL with a host.
func AbsoluteURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
