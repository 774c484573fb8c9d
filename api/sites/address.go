package sites

import (
	"context"
	"maps"
	"slices"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// siteAddress is the public address of a published site. The addresses of its sections, site spaces and pages begin
// with it. The forms are:
//
//	<base>/~/sites/<site>[/~<share key>][/<section>][/<site space>][/<page>]...
//	https://<hostname>[/~<share key>][/<section>][/<site space>][/<page>]...
//	https://<proxy>[/~<share key>][/<section>][/<site space>][/<page>]...
//
// The default section is omitted from addresses, and so is the default site space of each section. Paths of sections
// and site spaces cannot begin with "~", so they differ from share keys. The path of a page may begin with "~", but it
// never has the form of a share key. If a section and a page have the same path, the address leads to the section. If a
// site space of the default section and a page have the same path, the address leads to the site space. The address
// contains the site's id, because the site's basename may change.
//
// The zero siteAddress means that the caller cannot read the site: it is not published, or it needs a share link and
// the caller has no active key. A wrong key causes no error. The answer then has no published address, and does not
// show whether the key is wrong.
type siteAddress struct{ root string }

// shareKey returns the key that opens a site to the caller. This is the key `sent`, if it opens the site. If no key is
// sent, it is the key in a reader's token. It is empty if no key opens the site, or if the site needs none.
func (h *handlers) shareKey(ctx context.Context, c *access.Caller, sent *string) (string, error) {
	site := c.Site.Site
	switch {
	case !site.Published || site.Visibility != schema.VisibilityShareLink:
		return "", nil
	case sent == nil && c.Reader != nil:
		return c.Reader.ShareKey(), nil
	case sent == nil:
		return "", nil
	}
	key := sites.ShareKey(*sent)
	opens, err := h.store.Sites.ShareKeyOpens(ctx, site.ID, key)
	if err != nil || !opens {
		return "", err
	}
	return key, nil
}

// siteView is the caller's view of a site. It has the site's address, which includes the caller's share key, and the
// caller's access to each space.
type siteView struct {
	siteAddress
	id       string
	shareKey string
	spaces   map[string]postgres.ContentAccess
	// places has, by space, the site space that shows the space to readers. It is nil for a reader, because
	// Reader.Place gives the place.
	places map[string]*sites.SpacePlace
	// reader is nil for members, who see every part.
	reader *access.Reader
}

// sees reports whether the caller sees a site space.
func (v siteView) sees(id string) bool { return v.reader == nil || v.reader.SeesSiteSpace(id) }

// seesSection reports whether the caller sees a section.
func (v siteView) seesSection(id string) bool { return v.reader == nil || v.reader.SeesSection(id) }

// space returns a space of the site as the caller sees it.
func (v siteView) space(space store.Space) store.PlacedSpace {
	placed := store.PlacedSpace{SpaceAccess: store.SpaceAccess{Space: space, ContentAccess: v.spaces[space.ID]}, Place: v.places[space.ID]}
	if v.reader != nil {
		placed.Place = v.reader.Place(space.ID)
	}
	return placed
}

func (h *handlers) seenBy(ctx context.Context, c *access.Caller, shareKey *string) (siteView, error) {
	site := c.Site.Site
	key, err := h.shareKey(ctx, c, shareKey)
	if err != nil {
		return siteView{}, err
	}
	seen := siteView{id: site.ID, siteAddress: siteAddress{h.view.SiteAddress(site, key)}, shareKey: key, reader: c.Reader}
	if c.Reader != nil {
		seen.spaces = c.Reader.Spaces()
		return seen, nil
	}
	if seen.spaces, err = h.store.Sites.AccessToSiteSpaces(ctx, postgres.Viewer{
		UserID: c.Principal.UserID, Role: c.Site.Role,
	}, site.ID); err != nil {
		return siteView{}, err
	}
	if seen.places, err = h.store.Sites.PlacesOfSpaces(ctx, slices.Collect(maps.Keys(seen.spaces))...); err != nil {
		return siteView{}, err
	}
	for _, place := range seen.places {
		if place.Site.ID == site.ID {
			place.ShareKey = key
		}
	}
	return seen, nil
}

// published returns the address of a path below the site, or no address if the caller cannot read the site.
func (a siteAddress) published(path []string) schema.PublishedURLs {
	if a.root == "" {
		return schema.PublishedURLs{}
	}
	return schema.PublishedURLs{Published: a.target(path)}
}

// target returns the address of a path below the site. It returns only the path if the caller cannot read the site.
func (a siteAddress) target(path []string) string { return view.PublishedPath(a.root, path) }

func siteSpacePath(row sites.SiteSpaceRow) []string {
	return view.PartPath(sites.PublishedPart{
		Path: row.SiteSpace.Path, IsDefault: row.SiteSpace.IsDefault, SectionPath: row.SectionPath, SectionDefault: row.SectionDefault, SectionNamed: row.SectionNamed,
	})
}
