package access

import (
	"context"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// KeySecret is the secret that is used to make the texts of publishable keys.
type KeySecret struct{ installationKey }

// NewKeySecret builds a KeySecret. The secret is read from the store at its first use.
func NewKeySecret(st *store.Store) *KeySecret {
	return &KeySecret{installationKey{find: st.PublishableKeysSecret}}
}

// PublishableKey is a valid publishable key in a node's cache.
type PublishableKey struct {
	ID         string
	Generation int
	// Hosts are the hosts whose pages may post with the key. See schema.HostAllowed.
	Hosts []string
	// RespectGPC means that the events of a request with the header Sec-GPC: 1 are not stored.
	RespectGPC bool

	site      schema.EventSite
	principal store.Principal
	// ends is the time at which the key's text becomes invalid. It is zero if the text is valid until the key is
	// rotated.
	ends     time.Time
	dailyCap int64
	use      *keyUse
	siteUse  *keyUse
}

// badKey is the error message for a text that is not, or is no longer, a valid key.
const badKey = "the key is not valid"

// AdmitKey admits a caller with a publishable key in the path. A text that is not signed with KeySecret is refused
// without a query to the store. Each request with a bad key counts against the caller's address.
func (g *Guard) AdmitKey(ctx context.Context, path PathParams, c *Caller) error {
	text := path.PathParam("key") // text may alias the request, which ttlCache.peek allows.
	k, err, known := g.keys.peek(text, c.Now)
	switch {
	case !known:
		if k, err = g.loadKey(ctx, strings.Clone(text), c); err != nil {
			return err
		}
	case err != nil:
		return g.refuseToken(c.IP, c.Now, badKey)
	}
	if !k.ends.IsZero() && !c.Now.Before(k.ends) {
		return g.refuseToken(c.IP, c.Now, badKey)
	}
	c.Key, c.Principal, c.EventSite, c.Rights = k, &k.principal, k.site, RightView
	return nil
}

func (g *Guard) loadKey(ctx context.Context, text string, c *Caller) (*PublishableKey, error) {
	secret, err := g.readKey(ctx, &g.keySecret.installationKey, c.IP, c.Now)
	if err != nil {
		return nil, err
	}
	id, generation, made := schema.ReadPublishableKey(secret, text)
	if !made {
		return nil, g.refuseToken(c.IP, c.Now, badKey)
	}
	return loadCounted(ctx, g.addresses, g.keys, text, c.IP, c.Now, func(ctx context.Context) (*PublishableKey, error) {
		return g.findKey(ctx, id, generation)
	})
}

func (g *Guard) findKey(ctx context.Context, id string, generation int) (*PublishableKey, error) {
	row, err := g.store.Sites.PostingKey(ctx, id)
	if schema.IsCode(err, schema.CodeNotFound) {
		return nil, schema.Unauthorized(badKey)
	}
	if err != nil {
		return nil, err
	}
	ends, works := row.Ends(generation)
	if !works {
		return nil, schema.Unauthorized(badKey)
	}
	return &PublishableKey{
		ID: id, Generation: generation, Hosts: row.Hosts, RespectGPC: row.RespectGpc, ends: ends, site: row.Site,
		dailyCap: row.DailyCap, use: g.keyRates.of("key/" + id), siteUse: g.keyRates.of("site/" + row.Site.SiteID),
		principal: store.Principal{
			TokenID: "key/" + id, Kind: schema.TokenPublishable,
			OrganizationID: row.Site.OrganizationID, SiteID: row.Site.SiteID,
		},
	}, nil
}

// TakeKey counts a request with a publishable key against the key and then against its site, or refuses it with 429. It
// returns the allowance of the key, which is zero if keys have no limit.
func (g *Guard) TakeKey(k *PublishableKey, now time.Time) (Allowance, error) {
	take := g.keyRates.key.take(&k.use.arrival, now)
	if take.Wait > 0 {
		return take, schema.TooManyRequests("too many requests with this key", take.Wait)
	}
	if site := g.keyRates.site.take(&k.siteUse.arrival, now); site.Wait > 0 {
		return take, schema.TooManyRequests("too many requests with the keys of this site", site.Wait)
	}
	return take, nil
}
