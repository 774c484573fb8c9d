package sites

import (
	"net/url"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
)

// askedAddress is a published address in a request.
type askedAddress struct {
	// origin is the scheme and the host; host is the host alone, in lower case and without a port.
	origin, host string
	// path has the segments as they were sent. names has the same segments, unescaped.
	path, names []string
}

// parseAddress reads an absolute http(s) address. Its query and fragment do not affect the target.
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

// prefix is the path of the first n segments, with a slash at both ends.
func (a askedAddress) prefix(n int) string {
	if n == 0 {
		return "/"
	}
	return "/" + strings.Join(a.path[:n], "/") + "/"
}

// rest is the path of the segments from n on.
func (a askedAddress) rest(n int) string { return "/" + strings.Join(a.path[n:], "/") }

// previews is the name in a front end's addresses for previews of a site. The older generation uses
// https://preview/<id>, where preview is not a real host. The newer generation uses https://<host>/preview/<id>.
const previews = "preview"

// siteByPath finds the id in <base>/~/sites/<id>. A proxy may have removed the base's path. Front ends show previews of
// a site at separate addresses. n is the number of segments in the site's address.
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

// shareKey returns the key of a share link if segment n is a share key, and otherwise an empty key. next is the segment
// after the key.
func (a askedAddress) shareKey(n int) (key string, next int) {
	if n < len(a.names) && sites.IsShareKey(a.names[n]) {
		return a.names[n][1:], n + 1
	}
	return "", n
}

// previewed reports whether the first n segments are the address of a site's preview, with or without the key of a
// share link.
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
	// complete means that no later segment can name a section or a site space.
	complete bool
}

// walk finds the part of a site that a path leads to. parts are the parts that the reader sees, in order. A section has
// precedence over a site space or a page with its path. The path may leave out the default section and site space. If
// the reader does not see the default, the first visible part replaces it. If the reader sees no parts, walk finds no
// part.
func walk(parts []sites.PublishedPart, names []string) (shownPart, bool) {
	if len(parts) == 0 {
		return shownPart{}, false
	}
	next := func(n int) string { // Paths are never empty.
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
	alone := len(parts) == 1 && parts[0].IsDefault // Its path is not part of any address.
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
