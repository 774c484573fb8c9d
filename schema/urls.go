package schema

import (
	"fmt"
	"net/url"
	"strings"
)

// URLs builds the absolute URLs of resources. They begin with the base address, at which clients reach this
// installation.
type URLs struct {
	base string
}

// NewURLs returns URLs for a base address. The base address must be absolute, because clients parse every address in
// `urls` as a URI.
func NewURLs(base string) (URLs, error) {
	u, err := url.Parse(base)
	if err != nil {
		return URLs{}, fmt.Errorf("cannot use base URL: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return URLs{}, fmt.Errorf("cannot use base URL %q: want http(s)://host[:port][/path]", base)
	}
	return URLs{base: strings.TrimRight(base, "/")}, nil
}

// Base returns the base address, without a slash at the end.
func (u URLs) Base() string { return u.base }

// API returns the URL of a resource in the API.
func (u URLs) API(elements ...string) string { return u.join("/v1", elements) }

// App returns the URL of the page that shows a resource to a person.
func (u URLs) App(elements ...string) string { return u.join("/app", elements) }

// Published returns the URL at which readers find published content.
func (u URLs) Published(elements ...string) string { return u.join("/~", elements) }

// Host returns the host name in the base address, without a port.
func (u URLs) Host() string {
	parsed, err := url.Parse(u.base)
	if err != nil {
		return ""
	}
	return parsed.Hostname()
}

// PathNames returns the segments of the base address's path. The path of every URL begins with these segments.
func (u URLs) PathNames() []string {
	parsed, err := url.Parse(u.base)
	if err != nil || strings.Trim(parsed.Path, "/") == "" {
		return nil
	}
	return strings.Split(strings.Trim(parsed.Path, "/"), "/")
}

func (u URLs) join(prefix string, elements []string) string {
	var b strings.Builder
	b.WriteString(u.base)
	b.WriteString(prefix)
	for _, element := range elements {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(element))
	}
	return b.String()
}
