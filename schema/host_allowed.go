package schema

import (
	"strings"
	"unicode"
)

// HostAllowed reports whether a list contains a host. An entry of the list is a host name, or *.example.com for every
// host below example.com. The entries must have the form that [CanonicalHost] returns. HostAllowed ignores the case,
// the port and a trailing dot of the host.
func HostAllowed(hosts []string, host string) bool {
	host = bareHost(host)
	if host == "" {
		return false
	}
	for _, allowed := range hosts {
		// domain begins with a dot
		if domain, below := strings.CutPrefix(allowed, "*"); below {
			if len(host) > len(domain) && sameHost(host[len(host)-len(domain):], domain) {
				return true
			}
		} else if sameHost(host, allowed) {
			return true
		}
	}
	return false
}

// HostOf returns the host of an absolute URL or of an origin, including the port. It returns "" for any other text. It
// allocates no memory. As in browsers, a backslash ends the host in the same way as a slash does.
func HostOf(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		rest = rest[:end]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

// bareHost removes the port and a trailing dot from a host.
func bareHost(host string) string {
	// the colons of an IPv6 address are in brackets
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.IndexByte(host[i:], ']') < 0 {
		host = host[:i]
	}
	return strings.TrimSuffix(host, ".")
}

// sameHost reports whether a host equals a name in lower case. In host names, only ASCII letters have upper and lower
// case.
func sameHost(host, name string) bool {
	if len(host) != len(name) {
		return false
	}
	for i := range len(host) {
		c := host[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != name[i] {
			return false
		}
	}
	return true
}

// maxHostLength bounds the length of a host name (RFC 1035, 2.3.4).
const maxHostLength = 253

// CanonicalHost returns a host in lower case. Lists of hosts contain this form. It accepts a host name, an IPv4
// address, and "*." followed by a name of at least two parts. It returns "" for any other text. A name in another
// script must have the form that browsers send, for example xn--bcher-kva.example.
func CanonicalHost(text string) string {
	if len(text) > maxHostLength || strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		// For some letters outside of ASCII, the lower case is an ASCII letter. So the lower case of such a text could
		// be another host.
		return ""
	}
	host := strings.ToLower(text)
	name, below := strings.CutPrefix(host, "*.")
	if below && !strings.Contains(name, ".") {
		return ""
	}
	for label := range strings.SplitSeq(name, ".") {
		if !validLabel(label) {
			return ""
		}
	}
	return host
}

// validLabel reports whether a text is a valid part of a host name. Underscores are allowed, because existing hosts
// have underscores in their names.
func validLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for i := range len(label) {
		c := label[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
