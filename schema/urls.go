package schema

import (
	"fmt"
	"net/url"
	"strings"
)

// URLs builds the absolute urls of resources from the one address under which clients reach this installation.
type URLs struct {
	base string
}

// NewURLs checks the address: it must be absolute, because clients parse every `urls` member as a uri.
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

// API gives the url of a resource of the API.
func (u URLs) API(elements ...string) string { return u.join("/v1", elements) }

// App gives the url of the page where a person looks at a resource.
func (u URLs) App(elements ...string) string { return u.join("/app", elements) }

// Published gives the url where readers find what is published.
func (u URLs) Published(elements ...string) string { return u.join("/~", elements) }

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
