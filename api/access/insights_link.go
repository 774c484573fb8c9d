package access

import (
	"context"
	"net/netip"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/sites"
)

// InsightsSessions makes and checks the tokens of sessions that share links of insights have opened.
type InsightsSessions struct{ key installationKey }

// NewInsightsSessions builds InsightsSessions. The key is read from the store at its first use.
func NewInsightsSessions(st *store.Store) *InsightsSessions {
	return &InsightsSessions{installationKey{find: st.InsightsSessionsKey}}
}

// Make returns the token of a session.
func (s *InsightsSessions) Make(ctx context.Context, t schema.InsightsSessionToken) (string, error) {
	key, err := s.key.Read(ctx)
	if err != nil {
		return "", err
	}
	return t.Sign(key), nil
}

// insightsLink finds the session of a share link by its token. A made-up token is refused without a query to the store.
// All sessions of a link share the limits of one token, because everybody who has the link can open any number of
// sessions.
func (g *Guard) insightsLink(ctx context.Context, token []byte, ip netip.Addr, now time.Time) (*Session, error) {
	key, err := g.readKey(ctx, &g.insightsSessions.key, ip, now)
	if err != nil {
		return nil, err
	}
	t, signed := schema.ReadInsightsSession(key, token)
	if !signed || !now.Before(t.ExpiresAt) {
		return nil, g.refuseToken(ip, now, "the token is not valid")
	}
	principal := store.Principal{
		TokenID: "insights-share-link/" + t.Link, Kind: schema.TokenInsightsLink, ExpiresAt: t.ExpiresAt,
		ShareLink: t.Link, Generation: t.Generation,
	}
	return &Session{Principal: principal, use: g.rates.of(principal.TokenID)}, nil
}

// findSharedInsights finds the site of a share link's session. It reads the link from the store for each request. So a
// session ends when its link ends, and a change of the link has an effect at once.
func findSharedInsights(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	link, err := g.store.Sites.InsightsShareLinkInUse(ctx, c.Principal.ShareLink)
	switch {
	case schema.IsCode(err, schema.CodeNotFound):
		return schema.Unauthorized("the share link of this token has ended")
	case err != nil:
		return err
	case int(link.Generation) != c.Principal.Generation:
		return schema.Unauthorized("the share link of this token has another password")
	case path.PathParam("organizationId") != link.Site.OrganizationID || path.PathParam("siteId") != link.Site.SiteID:
		return schema.NotFound("site")
	}
	c.EventSite, c.Rights, c.View = link.Site, readerRights, InsightsView(link.InsightsShareLink)
	return nil
}

// InsightsView returns the part of a site's insights that a share link shows.
func InsightsView(link sites.InsightsShareLink) *schema.InsightsView {
	return &schema.InsightsView{
		Where: []byte(link.Filters), Segments: link.Segments, Ranges: []byte(link.Ranges), Timezone: link.Timezone,
	}
}
