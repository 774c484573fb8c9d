package view

import (
	"net/url"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
)

// PublishedSite is the URL of a published site for readers: on its configured proxy, on its own host, or on this
// server.
func (v Presenter) PublishedSite(s sites.Site) string {
	if s.Proxy != nil {
		return "https://" + *s.Proxy
	}
	if s.HostnameProvedAt != nil && s.Hostname != nil {
		return "https://" + *s.Hostname
	}
	return v.Published("sites", s.ID)
}

// SharedSite returns the address of a site with the key that opens it.
func SharedSite(root, key string) string { return root + "/~" + url.PathEscape(key) }

// SiteAddress is the address that opens a site to the caller. It is empty while the site is not published. For a site
// that is published by share links, it is empty without a key. Other sites ignore the key.
func (v Presenter) SiteAddress(s sites.Site, key string) string {
	switch root := v.PublishedSite(s); {
	case !s.Published:
		return ""
	case s.Visibility != schema.VisibilityShareLink:
		return root
	case key == "":
		return ""
	default:
		return SharedSite(root, key)
	}
}

// PublishedPath returns the address of a path below a site's address. It returns only the path if the site's address is
// unknown.
func PublishedPath(root string, path []string) string {
	var b strings.Builder
	b.WriteString(root)
	for _, element := range path {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(element))
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

// SectionPath is the path of a section below its site.
func SectionPath(path string, isDefault bool) []string {
	if isDefault {
		return nil
	}
	return []string{path}
}

// PartPath is the path of a part below its site. It leaves out the names of defaults if they are not needed.
func PartPath(p sites.PublishedPart) []string {
	path := SectionPath(schema.Or(p.SectionPath, ""), p.SectionDefault && !p.SectionNamed)
	if p.IsDefault {
		return path
	}
	return append(path, p.Path)
}

// SpaceAddress returns the public address of a space. It is empty if no address opens the space to the caller.
func (v Presenter) SpaceAddress(p *sites.SpacePlace) string {
	if p == nil {
		return ""
	}
	root := v.SiteAddress(p.Site, p.ShareKey)
	if root == "" {
		return ""
	}
	return PublishedPath(root, PartPath(p.Part))
}

// spaceVisibility returns the space's readers in addition to its members: the audience of the published site that shows
// the space. The contract's value for a space that is published with its collection never occurs, because collections
// are not published.
func spaceVisibility(p *sites.SpacePlace) string {
	if p == nil {
		return schema.VisibilityPrivate
	}
	return p.Site.Visibility
}
