package sites

import (
	"net/url"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
)

// askedAddress is the address that a request asks about. It is the address of a published site or of a part of it.
type askedAddress struct {
	// origin is the scheme and the host; `host` is the host alone, in lower case and without a port.
	origin, host string
	// path has the segments as they were sent. `names` has the same segments, unescaped.
	path, names []string
}

// parseAddress reads an absolute http(s) address. It ignores the query string and the fragment.
func parseAddress(text string) (askedAddress, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return askedAddress{}, false
	}
	a := askedAddress{origin: u.Scheme + "://" + u.Host, host: strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")}
	for segment := range strings.SplitSeq(u.EscapedPath(), "/") {
		name, err := url.PathUnescape(segment)
		if err != nil {
			return askedAddress{}, false
		}
		if segment != "" {
			a.path, a.names = append(a.path, segment), append(a.names, name)
		}
	}
	return a, true
}

// prefix returns the path of the first n segments, with a slash at the beginning and at the end.
func (a askedAddress) prefix(n int) string {
	if n == 0 {
		return "/"
	}
	return "/" + strings.Join(a.path[:n], "/") + "/"
}

// rest returns the path without its first n segments.
func (a askedAddress) rest(n int) string { return "/" + strings.Join(a.path[n:], "/") }

// previews is the word in a front end's addresses that marks a preview of a site. The older generation uses
// https://preview/<id>, where `preview` is not a real host. The newer generation uses https://<host>/preview/<id>.
const previews = "preview"

// siteByPath finds the id of a site in an address such as <base>/~/sites/<id>, or in the address of a preview (see
// previews). `base` is the path of our public address. A proxy may have removed it from the address. `n` is the number
// of segments up to the id.
func (a askedAddress) siteByPath(base []string) (id string, n int, ok bool) {
	names := a.names
	if a.host == previews && len(names) > 0 {
		return names[0], 1, true
	}
	if len(base) > 0 && len(names) > len(base) && slices.Equal(names[:len(base)], base) {
		names = names[len(base):]
	}
	for _, lead := range [][]string{{"~", "sites"}, {previews}} {
		if n := len(lead); len(names) > n && slices.Equal(names[:n], lead) {
			return names[n], len(a.names) - len(names) + n + 1, true
		}
	}
	return "", 0, false
}

// shareKey returns the key of a share link if segment n is a share key, and otherwise "". `next` is the number of the
// first segment after the key.
func (a askedAddress) shareKey(n int) (key string, next int) {
	if n < len(a.names) && sites.IsShareKey(a.names[n]) {
		return a.names[n][1:], n + 1
	}
	return "", n
}

// previewed reports whether the host and the first n segments are the address of a site's preview. The key of a share
// link may follow the site's id.
func (a askedAddress) previewed(n int) bool {
	if n > 0 && sites.IsShareKey(a.names[n-1]) {
		n--
	}
	return a.host == previews || n > 1 && a.names[n-2] == previews && schema.ValidID(a.names[n-1])
}

// shownPart is the part of a site that a path leads to.
type shownPart struct {
	sites.PublishedPart
	// segments is the number of the path's segments that name the section and the site space.
	segments int
	// complete means that further segments of the path can only name a page, not a section or a site space.
	complete bool
}

// walk finds the part of a site that a path leads to. `parts` are the parts that the reader sees, in order. If a
// section and a site space or a page have the same path, walk finds the section. The path may omit the default section
// and the default site space. If the reader does not see a default, walk uses the first section or site space that the
// reader sees. `walk` returns false if `parts` is empty.
func walk(parts []sites.PublishedPart, names []string) (shownPart, bool) {
	if len(parts) == 0 {
		return shownPart{}, false
	}
	next := func(n int) string { // An empty result matches nothing, because paths are never empty.
		if n < len(names) {
			return names[n]
		}
		return ""
	}
	var found shownPart
	sections := slices.ContainsFunc(parts, func(p sites.PublishedPart) bool { return p.SectionID != nil })
	if sections {
		at := slices.IndexFunc(
			parts, func(p sites.PublishedPart) bool { return p.SectionPath != nil && *p.SectionPath == next(0) },
		)
		if at >= 0 {
			found.segments++
		} else {
			at = max(0, slices.IndexFunc(
				parts, func(p sites.PublishedPart) bool { return p.SectionID != nil && p.SectionDefault },
			))
		}
		section := parts[at].SectionID
		parts = slices.DeleteFunc(slices.Clone(parts), func(p sites.PublishedPart) bool {
			return section == nil != (p.SectionID == nil) || section != nil && *section != *p.SectionID
		})
	}
	named := found.segments > 0 || !sections
	at := -1
	alone := len(parts) == 1 && parts[0].IsDefault // Addresses omit the path of a default that is the only part.
	if !alone {
		at = slices.IndexFunc(parts, func(p sites.PublishedPart) bool { return p.Path == next(found.segments) })
	}
	switch {
	case at >= 0:
		found.segments++
		found.complete = true
	default:
		at = max(0, slices.IndexFunc(parts, func(p sites.PublishedPart) bool { return p.IsDefault }))
		found.complete = len(names) > found.segments || named && alone
	}
	found.PublishedPart = parts[at]
	return found, true
}
