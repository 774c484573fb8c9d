package schema

import (
	"maps"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
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

// PublicAddress reports whether an address that this service would fetch from names a host of the public network, as far as
// the name alone tells. The code that fetches must also check the addresses that the name resolves to.
func PublicAddress(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	for _, private := range privateNames {
		if host == private || strings.HasSuffix(host, "."+private) {
			return false
		}
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return isPublic(ip)
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if _, err := strconv.ParseUint(last, 0, 64); err != nil && !isDigits(last) {
		// Resolvers may treat other digits like ASCII digits.
		return host != "" && strings.IndexFunc(host, func(r rune) bool { return r > 0x7f }) < 0
	}
	ip, ok := looseIPv4(host)
	return ok && isPublic(ip)
}

// privateNames are the names of this machine and of private networks, with all names below them. The metadata services of
// clouds are among them.
var privateNames = []string{"localhost", "localdomain", "internal", "local", "metadata", "instance-data"}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// looseIPv4 reads the forms that resolvers accept besides four decimal numbers: fewer numbers, and octal or hexadecimal ones.
func looseIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var all uint64
	for i, part := range parts {
		base := 10
		switch {
		case strings.HasPrefix(part, "0x"):
			part, base = part[2:]+strings.Repeat("0", max(0, 3-len(part))), 16
		case len(part) > 1 && part[0] == '0':
			base = 8
		}
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		n, err := strconv.ParseUint(part, base, bits)
		if err != nil {
			return netip.Addr{}, false
		}
		all = all<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(all >> 24), byte(all >> 16), byte(all >> 8), byte(all)}), true
}

// notPublic lists the networks that are not public and for which netip has no method.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("fec0::/10"),
}

// translated lists the networks whose addresses end with an IPv4 address.
var translated = []netip.Prefix{netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("::/96")}

func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	for _, prefix := range translated {
		if prefix.Contains(ip) {
			bytes := ip.As16()
			ip = netip.AddrFrom4([4]byte(bytes[12:]))
		}
	}
	return ip.IsGlobalUnicast() && !ip.IsPrivate() &&
		!slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(ip) })
}
