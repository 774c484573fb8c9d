package sites

import (
	"context"
	"net/url"
	"strings"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// siteAddress is where readers find a published site, and the prefix of its sections, site spaces and pages:
//
//	<base>/~/sites/<site>[/~<share key>][/<section>][/<site space>][/<page>]...
//	https://<hostname>[/~<share key>][/<section>][/<site space>][/<page>]...
//	https://<proxy>[/~<share key>][/<section>][/<site space>][/<page>]...
//
// The default section, and the default site space of a section, omit their path. Paths of the structure cannot begin
// with "~", so nothing is mistaken for a key; if a page, or a site space of the default section, has the same path as a
// section, the section wins. The address holds the site's id, because its basename may change.
//
// The zero siteAddress means that the caller cannot read the site: it is not published, or it is published by share
// links and the caller has no active key. A wrong key is not an error: it opens nothing, so the answer has no published
// address and reveals nothing about keys.
type siteAddress struct{ root string }

// address resolves a site's address for a caller who may have sent a share key. Public sites ignore the key.
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

// sharedRoot returns the address of a site with the key that opens it.
func sharedRoot(root, key string) string { return root + "/~" + url.PathEscape(key) }

// isShareKey reports whether a segment of an address is a share key. Front ends keep what they serve themselves, such as icons
// and the search index, below ~gitbook of every part.
func isShareKey(segment string) bool {
	return len(segment) > 1 && segment[0] == '~' && segment != "~gitbook"
}

// siteView is a site as the caller sees it: its address, and the caller's rights on each of its spaces.
type siteView struct {
	siteAddress
	spaces map[string]store.ContentAccess
	// reader is nil for members, who see every part.
	reader *access.Reader
}

// sees reports whether the caller sees a site space.
func (v siteView) sees(id string) bool { return v.reader == nil || v.reader.SeesSiteSpace(id) }

// seesSection reports whether the caller sees a section.
func (v siteView) seesSection(id string) bool { return v.reader == nil || v.reader.SeesSection(id) }

// addressFor is address for the caller: a reader has the key of the token.
func (h *sites) addressFor(ctx context.Context, c *access.Caller, shareKey *string) (siteAddress, error) {
	if c.Reader != nil && shareKey == nil && c.Reader.ShareKey() != "" {
		shareKey = new(c.Reader.ShareKey())
	}
	return h.address(ctx, c.Site.Site, shareKey)
}

func (h *sites) seenBy(ctx context.Context, c *access.Caller, shareKey *string) (siteView, error) {
	address, err := h.addressFor(ctx, c, shareKey)
	if err != nil {
		return siteView{}, err
	}
	if c.Reader != nil {
		return siteView{siteAddress: address, spaces: c.Reader.Spaces(), reader: c.Reader}, nil
	}
	viewer := store.Viewer{UserID: c.Principal.UserID, Role: c.Site.Role}
	spaces, err := h.store.AccessToSiteSpaces(ctx, viewer, c.Site.Site.ID)
	return siteView{siteAddress: address, spaces: spaces}, err
}

// published returns the address of a part of the site, or nothing if the caller cannot read it.
func (a siteAddress) published(path []string) schema.PublishedURLs {
	if a.root == "" {
		return schema.PublishedURLs{}
	}
	return schema.PublishedURLs{Published: a.target(path)}
}

// target returns the address of a part of the site, or only its path below the site if the address is unknown.
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
