package sites

import (
	"context"
	"net/url"
	"strings"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// siteAddress is where readers find a published site, and what its sections, site spaces and pages are found below:
//
//	<base>/~/sites/<site>[/~<share key>][/<section>][/<site space>][/<page>]...
//	https://<proxy>[/~<share key>][/<section>][/<site space>][/<page>]...
//
// The default section and the default site space of a section leave their path out. Paths of the structure cannot begin with
// "~", so nothing is mistaken for a key; where a page, or a site space of the default section, has the path of a section, the
// address is the section's. The address holds the site's id, because its basename may change.
//
// The zero siteAddress is that of a site that nobody can read now: one that is not published, or one that is published by
// share links to a caller without the key of an active one. A wrong key is not an error: it opens nothing, so that what is
// answered has no published address, and tells nothing about keys.
type siteAddress struct{ root string }

// address resolves the address of a site for a caller who may have sent a share key. Sites that anybody may read need none
// and take no notice of it.
func (h *sites) address(ctx context.Context, site store.Site, shareKey *string) (siteAddress, error) {
	root := h.view.PublishedSite(site)
	switch {
	case !site.Published:
		return siteAddress{}, nil
	case site.Visibility != schema.VisibilityShareLink:
		return siteAddress{root}, nil
	case shareKey == nil:
		return siteAddress{}, nil
	}
	key := store.ShareKey(*shareKey)
	opens, err := h.store.ShareKeyOpens(ctx, site.ID, key)
	if err != nil || !opens {
		return siteAddress{}, err
	}
	return siteAddress{sharedRoot(root, key)}, nil
}

// sharedRoot is the address of a site with the key that opens it.
func sharedRoot(root, key string) string { return root + "/~" + url.PathEscape(key) }

// siteView is a site as the caller sees it: its address, and what the caller may do with each of its spaces.
type siteView struct {
	siteAddress
	spaces map[string]store.ContentAccess
}

func (h *sites) seenBy(ctx context.Context, c *access.Caller, shareKey *string) (siteView, error) {
	address, err := h.address(ctx, c.Site.Site, shareKey)
	if err != nil {
		return siteView{}, err
	}
	viewer := store.Viewer{UserID: c.Principal.UserID, Role: c.Site.Role}
	spaces, err := h.store.AccessToSiteSpaces(ctx, viewer, c.Site.Site.ID)
	return siteView{address, spaces}, err
}

// published gives the address of a part of the site, nothing where nobody can read it.
func (a siteAddress) published(path []string) schema.PublishedURLs {
	if a.root == "" {
		return schema.PublishedURLs{}
	}
	return schema.PublishedURLs{Published: a.target(path)}
}

// target is the address of a part of the site, or its path below the site's address where that is not known.
func (a siteAddress) target(path []string) string {
	var b strings.Builder
	b.WriteString(a.root)
	for _, element := range path {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(element))
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

func sectionPath(path string, isDefault bool) []string {
	if isDefault {
		return nil
	}
	return []string{path}
}

func siteSpacePath(row store.SiteSpaceRow) []string {
	path := sectionPath(schema.Or(row.SectionPath, ""), row.SectionDefault)
	if row.SiteSpace.IsDefault {
		return path
	}
	return append(path, row.SiteSpace.Path)
}
