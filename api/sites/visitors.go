package sites

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/sites"
)

// visitorAuth has the operations on the authentication of a site's visitors.
type visitorAuth struct {
	store *store.Store
}

func visitorAuthRows(h *visitorAuth) []frame.Operation {
	const base, tag = "/orgs/{organizationId}/sites/{siteId}/publishing/auth", "site-publishing-auth"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: base, ID: "getSitePublishingAuthById", Tag: tag,
			Doc:   "Read how a site knows its visitors: the key that its own service signs their tokens with, and where they log in.",
			Scope: access.Having(access.RightAdmin, access.OnSite), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: base, ID: "updateSitePublishingAuthById", Tag: tag,
			Doc:   "Set where the visitors of a site log in.",
			Scope: access.Having(access.RightAdmin, access.OnSite), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodPost, Path: base + "/regenerate", ID: "regenerateSitePublishingAuthById", Tag: tag,
			Doc:   "Give a site a new key for its visitors' tokens. Those signed with the one before are refused from then on.",
			Scope: access.Having(access.RightAdmin, access.OnSite), Status: http.StatusOK, Handler: frame.Handle(h.renew),
		},
	}
}

func publishingAuth(auth sites.VisitorAuth, err error) (schema.SitePublishingAuth, error) {
	return schema.SitePublishingAuth{
		Object: "publishing-auth", Backend: schema.VisitorAuthCustom, PrivateKey: auth.Key, FallbackURL: auth.FallbackURL,
	}, err
}

func (h *visitorAuth) get(ctx context.Context, c *access.Caller, _ *struct{}) (schema.SitePublishingAuth, error) {
	return publishingAuth(h.store.Sites.EnsureVisitorAuth(ctx, c.Site.Site.ID))
}

type updatePublishingAuthRequest struct {
	Body struct {
		Backend     *string            `json:"backend" rules:"enum=visitorAuthBackend"`
		FallbackURL schema.Opt[string] `json:"fallbackURL" rules:"len=..2048,pattern=uri"`
	} `body:"json"`
}

func (h *visitorAuth) update(ctx context.Context, c *access.Caller, r *updatePublishingAuthRequest) (schema.SitePublishingAuth, error) {
	if !r.Body.FallbackURL.Set {
		return publishingAuth(h.store.Sites.EnsureVisitorAuth(ctx, c.Site.Site.ID))
	}
	return publishingAuth(h.store.Sites.SetVisitorFallback(ctx, c.Site.Site.ID, r.Body.FallbackURL.Value))
}

func (h *visitorAuth) renew(ctx context.Context, c *access.Caller, _ *struct{}) (schema.SitePublishingAuth, error) {
	return publishingAuth(h.store.Sites.RenewVisitorKey(ctx, c.Site.Site.ID))
}

// visitor has what a front end sent about a visitor.
type visitor struct {
	// token is the JWT by which the site's own service vouches for the visitor.
	token    string
	unsigned map[string]any
	// redirectOnError requests a redirect to the login for a visitor with a refused token.
	redirectOnError bool
}

// knownVisitor has what is known about a visitor: the claims, and `kind`, which is the VisitorType in site tokens.
// `login` is the address of the login if the visitor must log in.
type knownVisitor struct {
	claims map[string]any
	kind   string
	login  string
	// key and `until` describe the token by which the site's service vouches for the visitor: the id of its key, and
	// its expiry.
	key   string
	until int64
}

// unsignedClaims is the name of the claim that contains the unsigned claims. If the token has a claim of this name, the
// claim is ignored.
const unsignedClaims = "unsigned"

// longestClaims is the largest size of a visitor's claims in bytes of JSON. The site token contains the claims and is
// sent in headers, so it must be short.
const longestClaims = 2048

// know checks what a front end sent about a visitor. If the site is for authenticated visitors and the visitor has no
// token, the result has the login. If the token is bad, the result has the login only if the front end requested a
// redirect. Without a redirect or a login, a bad token is an error.
func (h *addresses) know(ctx context.Context, site sites.Site, who visitor, now time.Time) (knownVisitor, error) {
	var known knownVisitor
	adaptive, closed := schema.Or(site.AdaptiveContent, false), site.Visibility == schema.VisibilityVisitorAuth
	var auth sites.VisitorAuth
	if closed || adaptive && who.token != "" {
		var err error
		if auth, err = h.store.Sites.VisitorAuth(ctx, site.ID); err != nil && !schema.IsCode(err, schema.CodeNotFound) {
			return knownVisitor{}, err
		}
		claims, until, good := checkVisitor(who.token, auth.Key, now)
		switch {
		case good:
			known.claims, known.kind = claims, access.VisitorAuthenticated
			known.key, known.until = access.VisitorKeyID(auth.Key), until
		case auth.FallbackURL != "" && (who.redirectOnError || closed && who.token == ""):
			return knownVisitor{login: auth.FallbackURL}, nil
		case who.token != "":
			return knownVisitor{}, schema.Invalid("visitor.jwtToken", "is not valid")
		}
	}
	if adaptive && len(who.unsigned) > 0 {
		if known.claims == nil {
			known.claims = map[string]any{}
		}
		known.claims[unsignedClaims] = who.unsigned
	}
	if text, err := json.Marshal(known.claims); err != nil || len(text) > longestClaims {
		return knownVisitor{}, schema.Invalid("visitor", "must have at most 2 KiB of claims")
	}
	return known, nil
}

// loginFor adds the requested path of the site to the address of the login. So the login can send the visitor back to
// this path.
func loginFor(login, path string) string {
	to, err := url.Parse(login)
	if err != nil || path == "/" {
		return login
	}
	query := to.Query()
	query.Set("location", path)
	to.RawQuery = query.Encode()
	return to.String()
}

// checkVisitor checks a visitor's token, and returns its claims about the visitor and its expiry. The site's service
// signs tokens with HS256.
func checkVisitor(token, key string, now time.Time) (named map[string]any, until int64, good bool) {
	if token == "" || key == "" {
		return nil, 0, false
	}
	claims := jwt.MapClaims{}
	_, err := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired(), jwt.WithTimeFunc(func() time.Time { return now }),
	).ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return []byte(key), nil })
	if err != nil {
		return nil, 0, false
	}
	expires, err := claims.GetExpirationTime()
	if err != nil || expires == nil {
		return nil, 0, false
	}
	// These claims differ in every token of a visitor, but the visitor's site token must stay the same.
	for _, name := range []string{"exp", "iat", "nbf", "jti", unsignedClaims} {
		delete(claims, name)
	}
	if expires.After(now.Add(366 * 24 * time.Hour)) {
		return claims, 0, true // A site token ends after a day at most, and a time in the far future may overflow.
	}
	return claims, expires.Add(time.Second - 1).Unix(), true // A fraction of a second is rounded up to a second.
}
