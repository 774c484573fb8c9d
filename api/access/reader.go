package access

import (
	"context"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/condition"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// Reader is a visitor of a published site, with the parts of the site that the visitor sees.
type Reader struct {
	site     sites.Row
	shareKey string
	// changeRequest is the draft that the reader previews, if any.
	changeRequest string
	// user is the user who requested the token, if any. The reader may preview the drafts that the user may read.
	user string
	// Parts are the site spaces that the reader may see, in the order of the site's structure.
	Parts    []sites.PublishedPart
	ids      map[string]bool
	spaces   map[string]bool
	sections map[string]bool
	claims   map[string]any
}

// Site returns the site that the reader visits.
func (r *Reader) Site() sites.Site { return r.site.Site }

// ShareKey returns the key of the share link that opened the site to the reader, if any.
func (r *Reader) ShareKey() string { return r.shareKey }

// Previews returns the single draft that the reader may preview, or the user whose drafts the reader may preview. Both
// results are empty if the reader may preview no draft.
func (r *Reader) Previews() (changeRequest, user string) {
	if r.changeRequest != "" {
		return r.changeRequest, ""
	}
	return "", r.user
}

// SeesSiteSpace reports whether the reader may see a site space of the site.
func (r *Reader) SeesSiteSpace(id string) bool { return r.ids[id] }

// SiteSpaces returns the ids of the site spaces that the reader may see.
func (r *Reader) SiteSpaces() []string {
	ids := make([]string, len(r.Parts))
	for i, part := range r.Parts {
		ids[i] = part.ID
	}
	return ids
}

// SeesSection reports whether the reader may see any part of a section of the site.
func (r *Reader) SeesSection(id string) bool { return r.sections[id] }

// SeesSpace reports whether the site shows a space to the reader.
func (r *Reader) SeesSpace(id string) bool { return r.spaces[id] }

// Place returns the site space where the reader finds a space, or nil if the site does not show the space to the
// reader.
func (r *Reader) Place(space string) *sites.SpacePlace {
	i := slices.IndexFunc(r.Parts, func(p sites.PublishedPart) bool { return p.SpaceID == space })
	if i < 0 {
		return nil
	}
	return &sites.SpacePlace{Site: r.site.Site, ShareKey: r.shareKey, Part: r.Parts[i]}
}

// Spaces returns the reader's access to the spaces of the site, by the space's id.
func (r *Reader) Spaces() map[string]postgres.ContentAccess {
	access := make(map[string]postgres.ContentAccess, len(r.spaces))
	for id := range r.spaces {
		access[id] = postgres.ContentAccess{Reader: true}
	}
	return access
}

// NewReader decides what a published site shows to an admitted visitor. A part of the site is a site space. If a site
// space or its section has a condition, visitors see the site space only if their claims meet the condition.
func NewReader(site sites.Published, claims map[string]any) *Reader {
	r := &Reader{
		site: site.Row(), shareKey: site.ShareKey, ids: map[string]bool{}, spaces: map[string]bool{}, sections: map[string]bool{}, claims: claims,
	}
	for _, part := range site.Parts {
		if !allows(part.SectionCondition, claims) || !allows(part.Condition, claims) {
			continue
		}
		r.Parts = append(r.Parts, part)
		r.ids[part.ID], r.spaces[part.SpaceID] = true, true
		if part.SectionID != nil {
			r.sections[*part.SectionID] = true
		}
	}
	return r
}

// Allows reports whether the reader's claims meet a condition of the content. It returns false if the condition cannot
// be parsed.
func (r *Reader) Allows(condition string) bool { return allows(&condition, r.claims) }

// allows reports whether claims meet a condition; nil is no condition. It returns false for a condition that cannot be
// parsed. Only another version of Octavo can have stored such a condition.
func allows(text *string, claims map[string]any) bool {
	if text == nil {
		return true
	}
	parsed, err := condition.Parse(*text)
	return err == nil && parsed.Allows(claims)
}

// OpenTo reports whether a site admits a visitor with this share link and this visitor type. shareLink is the id of an
// active share link of the site, or "" if the visitor has none.
func OpenTo(site sites.Site, shareLink, visitorType string) bool {
	switch {
	case !site.Published:
		return false
	case site.Visibility == schema.VisibilityShareLink:
		return shareLink != ""
	case site.Visibility == schema.VisibilityVisitorAuth:
		return visitorType == VisitorAuthenticated
	}
	return true
}

// reader finds the session of a site token. Each time the session is loaded into the cache, the site is read again. So
// the token ends when the site is unpublished or the share link ends.
func (g *Guard) reader(ctx context.Context, token []byte, now time.Time) (*Session, error) {
	refused := schema.Unauthorized("the token is not valid")
	claims, err := g.siteTokens.read(ctx, token, now)
	if err != nil {
		return nil, err
	}
	site, err := g.store.Sites.Published(ctx, sites.PublishedRef{Site: claims.Site, ShareLink: claims.ShareLink})
	switch {
	case schema.IsCode(err, schema.CodeNotFound):
		return nil, refused
	case err != nil:
		return nil, err
	case site.Site.OrganizationID != claims.Organization || site.ShareLink != claims.ShareLink:
		return nil, refused
	case !OpenTo(site.Site, site.ShareLink, claims.VisitorType):
		return nil, refused
	}
	if claims.VisitorKey != "" {
		auth, err := g.store.Sites.VisitorAuth(ctx, claims.Site)
		switch {
		case schema.IsCode(err, schema.CodeNotFound) || err == nil && VisitorKeyID(auth.Key) != claims.VisitorKey:
			return nil, refused
		case err != nil:
			return nil, err
		}
	}
	if claims.ChangeRequest != "" {
		space, err := g.store.Space(ctx, claims.User, claims.Space)
		if schema.IsCode(err, schema.CodeNotFound) || err == nil && !ContentRights(space.ContentAccess).Has(RightAccess) {
			return nil, refused
		}
		if err != nil {
			return nil, err
		}
	}
	principal := store.Principal{
		// The rate limit counts all visitors of a site together, because one front end sends their requests.
		TokenID: "site/" + claims.Site, Kind: schema.TokenReader, SiteID: claims.Site, OrganizationID: claims.Organization,
		ExpiresAt: time.Unix(claims.ExpiresAt, 0),
	}
	reader := NewReader(site, claims.Claims)
	reader.changeRequest, reader.user = claims.ChangeRequest, claims.User
	return &Session{Principal: principal, Reader: reader, use: g.rates.of(principal.TokenID)}, nil
}

func findSiteForReader(_ context.Context, _ *Guard, path PathParams, c *Caller) error {
	site := &c.Reader.site
	if path.PathParam("organizationId") != site.Site.OrganizationID || path.PathParam("siteId") != site.Site.ID {
		return schema.NotFound("site")
	}
	// If the path names a part of the site, the reader must see that part.
	if id := path.PathParam("siteSpaceId"); id != "" && !c.Reader.SeesSiteSpace(id) {
		return schema.NotFound("site space")
	}
	c.Site = &sites.Access{Row: *site, Role: schema.RoleRead}
	c.Rights = readerRights
	return nil
}

func findSpaceForReader(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	id, ok := pathID(path, "spaceId")
	if !ok || !c.Reader.SeesSpace(id) {
		return schema.NotFound("space")
	}
	space, err := g.store.SpaceByID(ctx, id)
	if err != nil {
		return err
	}
	// Readers see the space's current and earlier content, and the drafts that they may preview.
	if revision := path.PathParam("revisionId"); revision != "" && revision != space.Revision {
		id, ok := pathID(path, "revisionId")
		if !ok {
			return schema.NotFound("revision")
		}
		found, err := g.store.Revision(ctx, space.ID, id)
		if err != nil {
			return err
		}
		if found.Branch != space.ID {
			if err := g.mayPreview(ctx, c.Reader, space.ID, found.Branch, "revision"); err != nil {
				return err
			}
		}
	}
	c.Space = &store.SpaceAccess{Space: space, ContentAccess: postgres.ContentAccess{Reader: true}}
	c.Rights = readerRights
	return nil
}

func findChangeRequestForReader(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	if err := findSpaceForReader(ctx, g, path, c); err != nil {
		return err
	}
	id, ok := pathID(path, "changeRequestId")
	if !ok || c.Reader.changeRequest == "" && c.Reader.user == "" {
		return schema.NotFound("change request")
	}
	request, err := g.store.ChangeRequest(ctx, c.Space.Space.ID, id)
	if err != nil {
		return err
	}
	if err := g.mayPreview(ctx, c.Reader, c.Space.Space.ID, request.ID, "change request"); err != nil {
		return err
	}
	c.ChangeRequest = &request
	return nil
}

// mayPreview refuses a draft that the token does not name. A token with a user and without a draft may preview the
// drafts that its user may read now. `what` names the object in the error.
func (g *Guard) mayPreview(ctx context.Context, r *Reader, space, draft, what string) error {
	if draft == r.changeRequest {
		return nil
	}
	if r.user == "" || r.changeRequest != "" {
		return schema.NotFound(what)
	}
	found, err := g.store.Space(ctx, r.user, space)
	if schema.IsCode(err, schema.CodeNotFound) || err == nil && !ContentRights(found.ContentAccess).Has(RightAccess) {
		return schema.NotFound(what)
	}
	return err
}

func findOrganizationForReader(_ context.Context, _ *Guard, path PathParams, c *Caller) error {
	if path.PathParam("organizationId") != c.Principal.OrganizationID {
		return schema.NotFound("organization")
	}
	c.Organization = &orgs.Membership{
		Organization: orgs.Organization{ID: c.Principal.OrganizationID}, Role: schema.RoleGuest,
	}
	c.Rights = readerRights
	return nil
}
