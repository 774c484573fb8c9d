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

// linkSchemes has the schemes that links may have in requests and responses. A relative link, which has no scheme, is
// also allowed. A browser could execute a link with another scheme as a script.
var linkSchemes = []string{"http", "https", "mailto", "tel"}

// maxReferencesDecoded is the largest number of times that LinkAllowed decodes a link's character references. The
// decoded text may contain references again. LinkAllowed returns false for a link with more levels of references.
const maxReferencesDecoded = 4

// LinkAllowed reports whether a link is relative, or has a scheme in linkSchemes. "//host" is not a relative link,
// because it contains a host. LinkAllowed also checks the link with decoded character references, because some clients
// decode them once more.
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

// hidden has at least the characters that browsers drop from the beginning of a link or between its characters.
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

// spelled returns an expression for a scheme in any case with hidden characters.
func spelled(scheme string) string {
	var letters strings.Builder
	for _, letter := range scheme {
		letters.WriteString("[" + string(letter) + strings.ToUpper(string(letter)) + "]" + hidden)
	}
	return letters.String()
}

// hostWithoutScheme matches links that browsers read as "//host", because they read a backslash as a slash.
var hostWithoutScheme = regexp.MustCompile(LinkNot)

// LinkLoginNot expresses LinkHasLogin as a regular expression.
var LinkLoginNot = `^` + hidden + spelled("http") + `(?:[sS]` + hidden + `)?:[\x00-\x20\x7f/\\]*[^/\\?#]*@`

var loginInLink = regexp.MustCompile(LinkLoginNot)

// LinkHasLogin reports whether an http or https link contains a user or a password.
func LinkHasLogin(link string) bool { return loginInLink.MatchString(link) }

// The problems of links that are not allowed.
const (
	ProblemLink  = "must be a relative link, or one of http, https, mailto or tel"
	ProblemLogin = "must not hold a user or a password"
)

// ShownLink returns a link in the form that documents and responses have. "//host" becomes "https://host". Any other
// link that is not allowed becomes "". Such links are stored, because links were once stored without a check.
func ShownLink(link string) string {
	if LinkAllowed(link) {
		return link
	}
	if secure := "https:" + link; strings.HasPrefix(link, "//") && AbsoluteURL(secure) {
		return secure
	}
	return ""
}

// LinkScheme returns the scheme that a browser would read. It ignores control characters and spaces, because browsers
// ignore them too.
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

// shownLinks removes links that are not allowed from data in responses. It removes them from references, and from the
// address of a block that embeds an address. If data has no such links, it returns data unchanged.
func shownLinks(data map[string]any) map[string]any {
	address, _ := data["url"].(string)
	shown, _ := withShownLinks(data).(map[string]any)
	if link := ShownLink(address); link != address {
		shown = maps.Clone(shown)
		shown["url"] = link
	}
	return shown
}

// withShownLinks returns a value without links that are not allowed. It copies only the parts that change.
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
