package intake

import "strings"

// hostAllowed reports whether a host is in a publishable key's list. An entry is an exact name, or *.example.com for
// all hosts below example.com. Case, the port and a trailing dot make no difference.
func hostAllowed(hosts []string, host string) bool {
	host = plainHost(host)
	if host == "" {
		return false
	}
	for _, entry := range hosts {
		below, wild := strings.CutPrefix(entry, "*.")
		below = plainHost(below)
		switch rest := len(host) - len(below); {
		case below == "":
		case !wild && strings.EqualFold(host, below):
			return true
		case wild && rest > 1 && host[rest-1] == '.' && strings.EqualFold(host[rest:], below):
			return true
		}
	}
	return false
}

// plainHost cuts a host's port and trailing dot. The colons of an IPv6 address are within brackets.
func plainHost(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.IndexByte(host[i:], ']') < 0 {
		host = host[:i]
	}
	return strings.TrimSuffix(host, ".")
}
