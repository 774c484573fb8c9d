package schema

import (
	"html"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// linkSchemes has the schemes that links may have in requests and responses. Relative links, which have no scheme, are
// also allowed. All other schemes are refused, because a browser might execute such a link as a script.
var linkSchemes = []string{"http", "https", "mailto", "tel"}

// maxReferencesDecoded is the largest number of times that LinkAllowed decodes a link's character references. The
// decoded text may contain references again. If references are nested more deeply, LinkAllowed returns false.
const maxReferencesDecoded = 4

// LinkAllowed reports whether a link is relative, or has a scheme in linkSchemes. "//host" is not a relative link,
// because it contains a host. LinkAllowed also checks the link after its character references are decoded, because some
// clients decode them once more.
func LinkAllowed(link string) bool {
	for range maxReferencesDecoded {
		scheme := LinkScheme(link)
		if slices.Contains(linkSchemes, scheme) {
			return true
		}
		if scheme != "" || hostWithoutScheme.MatchString(link) {
			return false
		}
		decoded := html.UnescapeString(link)
		if decoded == link {
			return true
		}
		link = decoded
	}
	return false
}

// hidden matches the characters that browsers drop at the beginning of a link or between its characters. It may match
// more characters.
const hidden = `[\x00-\x20\x7f]*`

// LinkPattern and LinkNot express LinkAllowed as regular expressions. An allowed link matches LinkPattern and does not
// match LinkNot. These expressions do not decode character references.
var (
	LinkPattern = func() string {
		schemes := []string{""}
		for _, scheme := range linkSchemes {
			schemes = append(schemes, spelled(scheme))
		}
		return `^(?:[^:/?#]*(?:[/?#]|$)|` + hidden + `(?:` + strings.Join(schemes, "|") + `):)`
	}()
	LinkNot = `^` + hidden + `[/\\]` + hidden + `[/\\]`
)

// spelled returns a regular expression for a scheme. The expression matches upper and lower case, and hidden characters
// between the characters.
func spelled(scheme string) string {
	var letters strings.Builder
	for _, letter := range scheme {
		letters.WriteString("[" + string(letter) + strings.ToUpper(string(letter)) + "]" + hidden)
	}
	return letters.String()
}

// hostWithoutScheme matches links that browsers read as "//host". Browsers read a backslash as a slash.
var hostWithoutScheme = regexp.MustCompile(LinkNot)

// LinkLoginNot expresses LinkHasLogin as a regular expression.
var LinkLoginNot = `^` + hidden + spelled("http") + `(?:[sS]` + hidden + `)?:[\x00-\x20\x7f/\\]*[^/\\?#]*@`

var loginInLink = regexp.MustCompile(LinkLoginNot)

// LinkHasLogin reports whether an http or https link contains a user or a password.
func LinkHasLogin(link string) bool { return loginInLink.MatchString(link) }

// These are the problems of links that are not allowed.
const (
	ProblemLink  = "must be a relative link, or one of http, https, mailto or tel"
	ProblemLogin = "must not hold a user or a password"
)

// ShownLink returns a link in the form that documents and responses have. "//host" becomes "https://host". Any other
// link that is not allowed becomes "". The database may contain such links, because links were once stored without a
// check.
func ShownLink(link string) string {
	if LinkAllowed(link) {
		return link
	}
	if secure := "https:" + link; strings.HasPrefix(link, "//") && AbsoluteURL(secure) {
		return secure
	}
	return ""
}

// LinkScheme returns the scheme that a browser would read from a link. It ignores control characters and spaces,
// because browsers ignore them.
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

// shownLinks returns `data` for a response, without links that are not allowed. It removes such links from references,
// and from the address of a block that embeds an address. If there are no such links, it returns `data` itself.
func shownLinks(data map[string]any) map[string]any {
	address, _ := data["url"].(string)
	shown, _ := withShownLinks(data).(map[string]any)
	if link := ShownLink(address); link != address {
		shown = maps.Clone(shown)
		shown["url"] = link
	}
	return shown
}

// withShownLinks returns a value without links that are not allowed. It copies only the parts of the value that change.
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

// same reports whether withShownLinks has returned its argument itself, and not a copy.
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
