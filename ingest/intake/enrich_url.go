package intake

import (
	"strings"
	"unicode/utf8"
)

// campaign reads the five UTM parameters of the event's URL. If several parameters have the same name, the first value
// that is not empty is stored.
func (d *decoder) campaign() {
	e := &d.event
	url, _, _ := strings.Cut(e.URL, "#")
	_, query, ok := strings.Cut(url, "?")
	if !ok {
		return
	}
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if !strings.HasPrefix(pair, "utm_") {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		var dst *string
		switch name {
		case "utm_source":
			dst = &e.UTMSource
		case "utm_medium":
			dst = &e.UTMMedium
		case "utm_campaign":
			dst = &e.UTMCampaign
		case "utm_term":
			dst = &e.UTMTerm
		case "utm_content":
			dst = &e.UTMContent
		default:
			continue
		}
		if *dst == "" {
			*dst = d.unquery(value)
		}
	}
}

// unquery decodes a value of a URL's query string. It leaves invalid escapes unchanged. So a campaign whose name has a
// % that is not escaped is stored with this name.
func (d *decoder) unquery(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	from := len(d.scratch)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '+':
			c = ' '
		case c == '%' && i+2 < len(s):
			high, low := unhex(s[i+1]), unhex(s[i+2])
			if high < 16 && low < 16 {
				c = high<<4 | low
				i += 2
			}
		}
		d.scratch = append(d.scratch, c)
	}
	return validText(text(d.scratch[from:]))
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}

// host returns a URL's host in lower case, without user and port. It returns "" if the URL has no host.
func (d *decoder) host(url string, cutWWW bool) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	end := 0
	for end < len(rest) && rest[end] != '/' && rest[end] != '?' && rest[end] != '#' && rest[end] != '\\' {
		end++
	}
	host := rest[:end]
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	// The colons of an IPv6 address are within brackets.
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.IndexByte(host[i:], ']') < 0 {
		host = host[:i]
	}
	host = d.lower(host)
	if cutWWW {
		if cut := strings.TrimPrefix(host, "www."); cut != "" {
			host = cut
		}
	}
	return host
}

// lower converts only ASCII letters to lower case. Browsers convert the other letters of a host with a Unicode table,
// which this package does not have.
func (d *decoder) lower(s string) string {
	upper := false
	for i := range len(s) {
		upper = upper || 'A' <= s[i] && s[i] <= 'Z'
	}
	if !upper {
		return s
	}
	from := len(d.scratch)
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		d.scratch = append(d.scratch, c)
	}
	return text(d.scratch[from:])
}

// validText replaces invalid UTF-8. It allocates memory only if s has invalid UTF-8.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
