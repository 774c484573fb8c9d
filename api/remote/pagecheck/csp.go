package pagecheck

import (
	"net/url"
	"slices"
	"strings"
)

// Policy is a content security policy that browsers enforce. It has the sources of each directive, by the directive's
// name in lower case. https://www.w3.org/TR/CSP3/ defines the syntax, and which sources match.
type Policy struct {
	directives map[string][]string
	// From says where the policy is, in words for users: "header" or "meta element".
	From string
}

// parsePolicies reads the value of a header. A header may have several policies.
func parsePolicies(value, from string) []Policy {
	var list []Policy
	for text := range strings.SplitSeq(value, ",") {
		p := Policy{directives: map[string][]string{}, From: from}
		for part := range strings.SplitSeq(text, ";") {
			words := strings.Fields(part)
			if len(words) == 0 {
				continue
			}
			name := strings.ToLower(words[0])
			if _, again := p.directives[name]; !again { // as in a browser, the first directive with a name applies
				p.directives[name] = words[1:]
			}
		}
		if len(p.directives) > 0 {
			list = append(list, p)
		}
	}
	return list
}

// sources returns the sources of the first of these directives that the policy has. `found` is false if the policy has
// none of these directives.
func (p Policy) sources(names ...string) (name string, sources []string, found bool) {
	for _, name := range names {
		if sources, found := p.directives[name]; found {
			return name, sources, true
		}
	}
	return "", nil, false
}

// Request is a request with which a page loads or sends data.
type Request struct {
	Kind   Kind
	Target *url.URL
	// Nonce and Integrity are the attributes of the script element, if the request loads a script.
	Nonce, Integrity string
	// Added is true if another script adds the script element.
	Added bool
}

// Kind is a kind of request for which policies have directives.
type Kind int

// These are the kinds of requests.
const (
	Script Kind = iota
	Connect
	Image
)

// directives returns the directives for this kind. If a policy has several of them, the first one applies.
func (k Kind) directives() []string {
	switch k {
	case Script:
		return []string{"script-src-elem", "script-src", "default-src"}
	case Connect:
		return []string{"connect-src", "default-src"}
	case Image:
		return []string{"img-src", "default-src"}
	}
	panic("BUG: a request of an unknown kind")
}

// Refuses returns the directive that refuses a request of a page. It returns "" if the policy allows the request.
func (p Policy) Refuses(page *url.URL, r Request) string {
	name, sources, found := p.sources(r.Kind.directives()...)
	if !found {
		return ""
	}
	if r.Kind == Script {
		if r.Nonce != "" && slices.Contains(sources, "'nonce-"+r.Nonce+"'") || trusts(sources, r.Integrity) {
			return ""
		}
		if has(sources, "'strict-dynamic'") { // browsers then ignore sources that name hosts
			if r.Added {
				return ""
			}
			return name
		}
	}
	for _, source := range sources {
		if matches(source, page, r.Target) {
			return ""
		}
	}
	return name
}

// trusts reports whether the policy lists all hashes in an integrity attribute.
func trusts(sources []string, integrity string) bool {
	hashes := strings.Fields(integrity)
	for _, hash := range hashes {
		if !slices.Contains(sources, "'"+hash+"'") {
			return false
		}
	}
	return len(hashes) > 0
}

func has(sources []string, keyword string) bool {
	return slices.ContainsFunc(sources, func(source string) bool { return strings.EqualFold(source, keyword) })
}

// matches reports whether a source of a directive allows a target.
func matches(source string, page, target *url.URL) bool {
	switch lower := strings.ToLower(source); {
	case lower == "*":
		return target.Scheme == "http" || target.Scheme == "https" || target.Scheme == page.Scheme
	case lower == "'self'":
		return strings.EqualFold(target.Hostname(), page.Hostname()) && upgrades(page.Scheme, target.Scheme) &&
			(portOf(target) == portOf(page) || standard(target) && standard(page))
	case strings.HasPrefix(lower, "'"):
		return false
	case strings.HasSuffix(lower, ":") && !strings.Contains(lower, "/"):
		return upgrades(strings.TrimSuffix(lower, ":"), target.Scheme)
	}
	return matchesHost(source, page, target)
}

// matchesHost reports whether a source of the form [scheme://]host[:port][/path] allows a target.
func matchesHost(source string, page, target *url.URL) bool {
	scheme, rest, named := strings.Cut(source, "://")
	if !named {
		scheme, rest = page.Scheme, source
	}
	if !upgrades(strings.ToLower(scheme), target.Scheme) {
		return false
	}
	authority, path, _ := strings.Cut(rest, "/")
	host, port, _ := strings.Cut(authority, ":")
	host, name := strings.ToLower(host), strings.ToLower(target.Hostname())
	if below, wild := strings.CutPrefix(host, "*"); wild {
		if below != "" && (!strings.HasPrefix(below, ".") || !strings.HasSuffix(name, below)) {
			return false
		}
	} else if host != name {
		return false
	}
	switch {
	case port == "*" || port == portOf(target):
	case port == "" && standard(target):
	case port == "80" && upgrades("http", target.Scheme) && portOf(target) == "443":
	default:
		return false
	}
	if path == "" { // "host" and "host/" allow every path
		return true
	}
	path = "/" + path
	at := target.EscapedPath()
	if strings.HasSuffix(path, "/") {
		return strings.HasPrefix(at, path)
	}
	return at == path
}

// upgrades reports whether a source's scheme allows a target's scheme. A source with http also allows https.
func upgrades(allowed, scheme string) bool {
	return allowed == scheme || allowed == "http" && scheme == "https"
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// standard reports whether the port of a URL is the standard port of its scheme.
func standard(u *url.URL) bool {
	return portOf(u) == map[string]string{"http": "80", "https": "443"}[u.Scheme]
}
