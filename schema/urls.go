package schema

import (
	"fmt"
	"net/url"
	"strings"
)

// URLs builds the absolute urls of resources from the address at which clients reach this installation.
type URLs struct {
	base string
}

// NewURLs checks the base address. It must be absolute, because clients parse every `urls` member as a URI.
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

// Base is the base address of all addresses, without a slash at the end.
func (u URLs) Base() string { return u.base }

// API returns the url of a resource of the API.
func (u URLs) API(elements ...string) string { return u.join("/v1", elements) }

// App returns the url of the page that shows a resource to a person.
func (u URLs) App(elements ...string) string { return u.join("/app", elements) }

// Published returns the url where readers find published content.
func (u URLs) Published(elements ...string) string { return u.join("/~", elements) }

// Host is the name of the host, without a port.
func (u URLs) Host() string {
	parsed, err := url.Parse(u.base)
	if err != nil {
		return ""
	}
	return parsed.Hostname()
}

// PathNames are the segments of the path below which everything is.
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
