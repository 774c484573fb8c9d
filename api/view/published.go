package view

import (
	"net/url"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
)

// PublishedSite returns the URL at which readers find a published site. If the site's proxy is set, the URL is on the
// proxy. If the site's own host is proved, it is on this host. Otherwise it is on this server.
func (v Presenter) PublishedSite(s sites.Site) string {
	if s.Proxy != nil {
		return "https://" + *s.Proxy
	}
	if s.HostnameProvedAt != nil && s.Hostname != nil {
		return "https://" + *s.Hostname
	}
	return v.Published("sites", s.ID)
}

// SharedSite returns the address of a site that contains the key of a share link. `root` is the site's address.
func SharedSite(root, key string) string { return root + "/~" + url.PathEscape(key) }

// SiteAddress returns the address that opens a site to the caller, or "" if the site is not published. It also returns
// "" if the site is published by share links and the caller has no key. It ignores the key if the site is published in
// another way.
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

// PublishedPath returns the address of a path below `root`, which is the address of a site. It returns only the path if
// `root` is empty.
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

// SectionPath returns the path of a section below its site. The default section has an empty path.
func SectionPath(path string, isDefault bool) []string {
	if isDefault {
		return nil
	}
	return []string{path}
}

// PartPath returns the path of a part below its site. It omits the name of the default section and the name of a
// default part, if the part is found without them.
func PartPath(p sites.PublishedPart) []string {
	path := SectionPath(schema.Or(p.SectionPath, ""), p.SectionDefault && !p.SectionNamed)
	if p.IsDefault {
		return path
	}
	return append(path, p.Path)
}

// SpaceAddress returns the public address of a space. It returns "" if no address opens the space to the caller.
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

// spaceVisibility returns the audience of the published site that shows the space, or "private" if no site shows it.
// The contract has one more value, for a space that is published with its collection. It never occurs, because
// collections are not published.
func spaceVisibility(p *sites.SpacePlace) string {
	if p == nil {
		return schema.VisibilityPrivate
	}
	return p.Site.Visibility
}
