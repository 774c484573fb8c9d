package access

import (
	"context"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// openSites is the largest number of sites in Guard.open, the cache for callers without a token. They have their own
// cache, so that made-up site ids cannot evict the sites of callers with a token.
const openSites = 1 << 12

// nobody is the principal of all callers without a token. All these callers together may use as much memory for request
// bodies as one token.
var nobody = &store.Principal{TokenID: "none", Kind: schema.TokenNone}

// AdmitNobody admits a caller without a token to a site that accepts events from such callers. For any other site, the
// answer is 401, as for a missing token. So callers cannot find out which sites exist. A call that needs a query to the
// store counts against the caller's address. A call to a site that was open recently does not count.
func (g *Guard) AdmitNobody(ctx context.Context, path PathParams, c *Caller) error {
	// The strings in `key` may share the memory of the request. Cache lookups only compare them, and the cache stores
	// clones.
	key := eventSiteKey{kind: schema.TokenNone, organization: path.PathParam("organizationId"), site: path.PathParam("siteId")}
	grant, err, known := g.open.peek(key, c.Now)
	switch {
	case !known && (!schema.ValidID(key.organization) || !schema.ValidID(key.site)), known && err != nil:
		return g.refuseToken(c.IP, c.Now, noToken)
	case !known:
		key.organization, key.site = strings.Clone(key.organization), strings.Clone(key.site)
		grant, err = loadCounted(ctx, g.addresses, g.open, key, c.IP, c.Now, func(ctx context.Context) (eventSiteGrant, error) {
			grant, err := loadEventSite(ctx, g.store, key)
			if schema.IsCode(err, schema.CodeNotFound) {
				err = schema.Unauthorized(noToken)
			}
			return grant, err
		})
		if err != nil {
			return err
		}
	}
	c.Principal, c.EventSite, c.Rights = nobody, grant.site, grant.rights
	return nil
}
