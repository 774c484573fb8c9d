package sites

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/section"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/sites"
)

// addresses has the operations that find the targets of published addresses.
type addresses struct {
	sites  *handlers
	store  *store.Store
	view   view.Presenter
	tokens *access.SiteTokens
}

func addressRows(h *addresses) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/urls/published", ID: "getPublishedContentByUrl", Tag: "urls",
			Doc:   "Find what a published address leads to. Deprecated: use resolvePublishedContentByUrl.",
			Scope: access.AnyUser().OrFrontEnd(), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPost, Path: "/urls/published", ID: "resolvePublishedContentByUrl", Tag: "urls",
			Doc:   "Find what a published address leads to: the site and the part of it, with a token for its readers, or another address. A user finds the sites of the user's organizations.",
			Scope: access.AnyUser().OrFrontEnd(), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.resolve),
		},
	}
}

type publishedURLRequest struct {
	URL              *string `query:"url" rules:"required,len=1..2048"`
	VisitorAuthToken *string `query:"visitorAuthToken" rules:"len=..4096"`
	RedirectOnError  *bool   `query:"redirectOnError" rules:"default=false"`
}

func (h *addresses) get(ctx context.Context, c *access.Caller, r *publishedURLRequest) (schema.PublishedURL, error) {
	return h.find(ctx, c, *r.URL, visitor{token: schema.Or(r.VisitorAuthToken, ""), redirectOnError: schema.Or(r.RedirectOnError, false)})
}

type resolveURLRequest struct {
	Body struct {
		URL             *string `json:"url" rules:"required,len=1..2048"`
		RedirectOnError *bool   `json:"redirectOnError"`
		Visitor         *struct {
			Type           *string        `json:"type"`
			JWTToken       *string        `json:"jwtToken" rules:"len=..4096"`
			UnsignedClaims map[string]any `json:"unsignedClaims"`
		} `json:"visitor"`
	} `body:"json"`
}

func (h *addresses) resolve(ctx context.Context, c *access.Caller, r *resolveURLRequest) (schema.PublishedURL, error) {
	who := visitor{redirectOnError: schema.Or(r.Body.RedirectOnError, false)}
	if v := r.Body.Visitor; v != nil {
		who.token, who.unsigned = schema.Or(v.JWTToken, ""), v.UnsignedClaims
	}
	return h.find(ctx, c, *r.Body.URL, who)
}

// nowhere is the error for an address that leads to nothing that the caller may see.
var nowhere = schema.NotFound("published content")

// find finds what an address leads to. It reads the address from left to right: first the site and the share key, then
// the section and the site space, and then the page's path.
func (h *addresses) find(ctx context.Context, c *access.Caller, address string, who visitor) (schema.PublishedURL, error) {
	asked, ok := parseAddress(address)
	if !ok {
		return schema.PublishedURL{}, schema.Invalid("url", "must be an absolute http or https address")
	}
	site, key, at, err := h.siteOf(ctx, asked)
	siteEnd := at // For a reader with a share key, addresses below the site contain the key.
	if schema.IsCode(err, schema.CodeNotFound) || err == nil && (!site.Site.Published || site.ShareKey != key) {
		return schema.PublishedURL{}, nowhere
	}
	if err == nil {
		err = h.mayFind(ctx, c, site.Site)
	}
	if err != nil {
		return schema.PublishedURL{}, err
	}
	known, err := h.know(ctx, site.Site, who, c.Now)
	if err != nil {
		return schema.PublishedURL{}, err
	}
	if known.login != "" {
		return schema.PublishedURL{Target: schema.RedirectTargetExternal, Site: site.Site.ID, Redirect: loginFor(known.login, asked.rest(siteEnd))}, nil
	}
	if !access.OpenTo(site.Site, site.ShareLink, known.kind) {
		return schema.PublishedURL{}, nowhere
	}
	reader := access.NewReader(site, known.claims)
	part, ok := walk(reader.Parts, asked.names[at:])
	if !ok {
		return schema.PublishedURL{}, nowhere
	}
	at += part.segments
	found := schema.PublishedURL{
		Organization: site.Site.OrganizationID, Site: site.Site.ID, SiteSection: section.Shown(schema.Or(part.SectionID, "")), SiteSpace: part.ID, Space: part.SpaceID,
		ShareKey: key, SiteBasePath: asked.prefix(siteEnd), Complete: &part.complete, ContextID: contextID(known.claims),
	}
	preview := at
	claims := access.SiteClaims{
		Organization: found.Organization, Site: found.Site, SiteSection: found.SiteSection, SiteSpace: part.ID, Space: part.SpaceID,
		ShareLink: site.ShareLink, User: c.Principal.UserID, VisitorType: known.kind, Claims: known.claims,
		VisitorKey: known.key, ExpiresAt: known.until,
	}
	if at, err = h.preview(ctx, c, asked, at, &found, &claims); err != nil {
		return schema.PublishedURL{}, err
	}
	found.BasePath, found.Pathname = asked.prefix(at), asked.rest(at)
	if site.Redirects && at < len(asked.path) && at == preview {
		source := asked.rest(siteEnd)
		to, err := h.redirect(ctx, c, site, reader, part.PublishedPart, h.root(asked, site, siteEnd), source, found.Pathname)
		if err != nil || to.Redirect != "" {
			return to, err
		}
	}
	found.CanonicalURL = canonical(h.root(asked, site, siteEnd), part.PublishedPart, asked.path[at:])
	claims.NameSpaces(slices.Sorted(maps.Keys(reader.Spaces())))
	found.APIToken, err = h.tokens.Make(ctx, claims, c.Now)
	return found, err
}

// siteOf finds the site of an address, by its host, or by its path if no site has the host. `key` is the share key in
// the address. `at` is the number of path segments that name the site and the key.
func (h *addresses) siteOf(
	ctx context.Context, asked askedAddress,
) (site sites.Published, key string, at int, err error) {
	key, at = asked.shareKey(0)
	site, err = h.store.Sites.Published(ctx, sites.PublishedRef{Hostname: asked.host, ShareKey: key})
	if !schema.IsCode(err, schema.CodeNotFound) {
		return site, key, at, err
	}
	id, n, ok := asked.siteByPath(h.view.PathNames())
	if !ok || !schema.ValidID(id) {
		return site, "", 0, nowhere
	}
	key, at = asked.shareKey(n)
	site, err = h.store.Sites.Published(ctx, sites.PublishedRef{Site: id, ShareKey: key})
	return site, key, at, err
}

// mayFind returns an error if the caller is a user who may not read the site. If the user is not in the site's
// organization, the error is `nowhere`.
func (h *addresses) mayFind(ctx context.Context, c *access.Caller, site sites.Site) error {
	if c.Principal.Kind == schema.TokenFrontEnd {
		return nil
	}
	found, err := h.store.Sites.Site(ctx, c.Principal.UserID, site.OrganizationID, site.ID)
	if schema.IsCode(err, schema.CodeNotFound) {
		return nowhere
	}
	if err != nil {
		return err
	}
	return access.RightsOf(access.Access{Role: found.Role}).Require(access.RightAccess, "site")
}

// preview reads `~/changes/<id>` or `~/revisions/<id>` in the path, from the segment `at` on. It returns the segment at
// which the page's path begins. To open a draft, the caller must be a user who may read the space. To open an older
// revision of the main content, this right is not needed, because the revision was once public.
func (h *addresses) preview(
	ctx context.Context, c *access.Caller, asked askedAddress, at int, found *schema.PublishedURL, claims *access.SiteClaims,
) (int, error) {
	names := asked.names[at:]
	if len(names) == 0 || names[0] != "~" {
		return at, nil
	}
	if len(names) < 3 || !schema.ValidID(names[2]) {
		return at, nowhere
	}
	switch names[1] {
	case "revisions":
		revision, err := h.store.Revision(ctx, found.Space, names[2])
		if schema.IsCode(err, schema.CodeNotFound) || err == nil && revision.Branch != found.Space {
			return at, nowhere
		}
		found.Revision = revision.ID
		return at + 3, err
	case "changes":
		if c.Principal.Kind != schema.TokenUser {
			return at, nowhere
		}
		space, err := h.store.Space(ctx, c.Principal.UserID, found.Space)
		if schema.IsCode(err, schema.CodeNotFound) || err == nil && !access.ContentRights(space.ContentAccess).Has(access.RightAccess) {
			return at, nowhere
		}
		if err != nil {
			return at, err
		}
		request, err := h.store.ChangeRequest(ctx, found.Space, names[2])
		if schema.IsCode(err, schema.CodeNotFound) {
			return at, nowhere
		}
		found.ChangeRequest = request.ID
		claims.ChangeRequest = request.ID
		return at + 3, err
	}
	return at, nowhere
}

// redirect answers with the target of a redirect, if no page has the path and the site has a redirect for it. `source`
// is the path below the site. `pathname` is the path below the site space.
func (h *addresses) redirect(
	ctx context.Context, c *access.Caller, site sites.Published, reader *access.Reader, part sites.PublishedPart,
	root siteAddress, source, pathname string,
) (schema.PublishedURL, error) {
	row, err := h.store.Sites.RedirectBySource(ctx, site.Site.ID, source)
	if schema.IsCode(err, schema.CodeNotFound) {
		return schema.PublishedURL{}, nil
	}
	if err != nil {
		return schema.PublishedURL{}, err
	}
	space, err := h.store.SpaceByID(ctx, part.SpaceID)
	if err != nil {
		return schema.PublishedURL{}, err
	}
	path, err := url.PathUnescape(pathname)
	if err != nil {
		return schema.PublishedURL{}, nil //nolint:nilerr // No page and no redirect has such a path.
	}
	path = strings.Trim(path, "/")
	// Former paths of pages are not searched, because the site's redirect has precedence over them.
	if pages, err := h.store.PagesAt(ctx, space.ID, space.Revision, []string{path}); err != nil || pages[path] != "" {
		return schema.PublishedURL{}, err
	}
	if row.Url != nil {
		return schema.PublishedURL{Target: schema.RedirectTargetExternal, Site: site.Site.ID, Redirect: *row.Url}, nil
	}
	as := access.Caller{Principal: c.Principal, Reader: reader, Site: &sites.Access{Row: site.Row()}}
	to, err := h.sites.destination(ctx, &as, redirectResource(row).Destination)
	if schema.IsCode(err, schema.CodeNotFound) {
		return schema.PublishedURL{}, nil // The target page is deleted, or this reader may not see it.
	}
	return schema.PublishedURL{Target: schema.RedirectTargetContent, Redirect: root.target(to.path)}, err
}

// root returns the address of a site, with the key of a share link if the requested address has one. A site without its
// own host gets the scheme and the port of the request, if the request was to our host. A preview keeps the address of
// the preview, because drafts open only there.
func (h *addresses) root(asked askedAddress, site sites.Published, siteEnd int) siteAddress {
	root := h.view.PublishedSite(site.Site)
	u, err := url.Parse(root)
	if asked.previewed(siteEnd) || err == nil && strings.EqualFold(u.Hostname(), asked.host) && u.Path != "" {
		// The prefix of the requested address includes the share key, if any.
		return siteAddress{asked.origin + strings.TrimSuffix(asked.prefix(siteEnd), "/")}
	}
	if site.ShareKey != "" {
		return siteAddress{view.SharedSite(root, site.ShareKey)}
	}
	return siteAddress{root}
}

// canonical returns the single canonical address of a page. It omits the names of the default section and the default
// site space.
func canonical(root siteAddress, part sites.PublishedPart, page []string) string {
	address := root.target(view.PartPath(part))
	for _, segment := range page {
		address += "/" + segment
	}
	return address
}

// contextID returns a hash of a visitor's claims. The hash changes when the claims change. It returns "" if the visitor
// has no claims.
func contextID(claims map[string]any) string {
	if len(claims) == 0 {
		return ""
	}
	text, err := json.Marshal(claims, json.Deterministic(true))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
