package access

import (
	"context"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/sites"
)

// eventSiteKey is the cache key of a caller's access to a site. The caller is a user, has a token without a user (the
// site's own key or a front end's token), or has no token.
type eventSiteKey struct {
	kind                     schema.TokenKind
	user, organization, site string
}

// eventSiteGrant is the cached result of findEventSite: the site and the caller's rights on it.
type eventSiteGrant struct {
	site   schema.EventSite
	rights Rights
}

func newEventSites(entries int, cfg Config) (*ttlCache[eventSiteKey, eventSiteGrant], error) {
	return newTTLCache[eventSiteKey, eventSiteGrant](min(entries, cfg.AuthEntries), cfg.AuthTTL, func(k eventSiteKey) string {
		return string(k.kind) + "/" + k.user + "/" + k.organization + "/" + k.site
	})
}

// findEventSite does the same as findSite, with a cache, because requests for insights are the most frequent ones. It
// also admits the site's own key, front-end tokens and tokens for the site's insights.
func findEventSite(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	// The strings in `key` may alias the request. Cache lookups only compare the strings, and the cache stores clones.
	key := eventSiteKey{
		kind: c.Principal.Kind, user: c.Principal.UserID,
		organization: path.PathParam("organizationId"), site: path.PathParam("siteId"),
	}
	bound := key.kind == schema.TokenSite || key.kind == schema.TokenInsights
	if bound && (key.site != c.Principal.SiteID || key.organization != c.Principal.OrganizationID) {
		return schema.NotFound("site")
	}
	grant, err, known := g.sites.peek(key, c.Now)
	if !known {
		if !schema.ValidID(key.organization) || !schema.ValidID(key.site) {
			return schema.NotFound("site")
		}
		key.organization, key.site = strings.Clone(key.organization), strings.Clone(key.site)
		grant, err = g.sites.load(ctx, key, c.Now, func(ctx context.Context) (eventSiteGrant, error) {
			return loadEventSite(ctx, g.store, key)
		})
	}
	if err != nil {
		return err
	}
	c.EventSite, c.Rights = grant.site, grant.rights
	return nil
}

func loadEventSite(ctx context.Context, st *store.Store, key eventSiteKey) (eventSiteGrant, error) {
	found := sites.Access{Role: schema.RoleGuest}
	switch key.kind {
	case schema.TokenUser, schema.TokenSession:
		var err error
		if found, err = st.Sites.Site(ctx, key.user, key.organization, key.site); err != nil {
			return eventSiteGrant{}, err
		}
	// Front ends and callers without a token post the events of readers, so the site must be published.
	case schema.TokenFrontEnd, schema.TokenNone:
		site, err := st.Sites.ByID(ctx, key.site)
		if err != nil {
			return eventSiteGrant{}, err
		}
		if !site.Published || site.OrganizationID != key.organization || key.kind == schema.TokenNone && !site.AnonymousEvents {
			return eventSiteGrant{}, schema.NotFound("site")
		}
		found.Site = site
	case schema.TokenSite, schema.TokenInsights:
		// findEventSite has checked that the token belongs to this site and this organization.
		site, err := st.Sites.ByID(ctx, key.site)
		if err != nil {
			return eventSiteGrant{}, err
		}
		found.Site = site
		if key.kind == schema.TokenInsights {
			found.Role = schema.RoleRead
		}
	default:
		return eventSiteGrant{}, schema.NotFound("site")
	}
	site := found.Site
	return eventSiteGrant{
		site:   schema.EventSite{OrganizationID: site.OrganizationID, SiteID: site.ID, StoreClearIDs: site.StoreClearIds},
		rights: RightsOf(Access{Role: found.Role}),
	}, nil
}
