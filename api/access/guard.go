package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Config has the operator's settings for the Guard. The type Config of package api/frame documents them.
type Config struct {
	AuthTTL             time.Duration
	AuthEntries         int
	RateLimit           int
	EventRateLimit      int
	KeyRateLimit        int
	PublicRateLimit     int
	WrongTokenRateLimit int
	TrustedProxies      []netip.Prefix
}

// Guard admits callers to operations: it identifies them, finds their rights on objects, and limits the rates of their
// requests. Config.AuthEntries limits the entries of the Guard's caches.
type Guard struct {
	store  *store.Store
	tokens *ttlCache[schema.TokenHash, *Session]
	sites  *ttlCache[eventSiteKey, eventSiteGrant]
	// open caches the sites that accept events without a token.
	open *ttlCache[eventSiteKey, eventSiteGrant]
	// keys caches publishable keys by their texts. A made-up text is refused without an entry in this cache.
	keys      *ttlCache[string, *PublishableKey]
	keySecret *KeySecret
	uses      *useRecorder
	rates     *rateLimits
	keyRates  *keyRates
	// addresses limits the requests of each client address whose token is not known to be valid.
	addresses *addressLimits
	// siteTokens checks the tokens of sites' readers.
	siteTokens *SiteTokens
	// insightsSessions checks the tokens of sessions that share links of insights have opened.
	insightsSessions *InsightsSessions
}

// NewGuard builds a Guard. The use of tokens is recorded while Run runs.
func NewGuard(cfg Config, st *store.Store, log *slog.Logger) (*Guard, error) {
	g := &Guard{
		store: st, uses: newUseRecorder(st, log), siteTokens: NewSiteTokens(st), keySecret: NewKeySecret(st),
		insightsSessions: NewInsightsSessions(st),
	}
	var errs [7]error
	g.tokens, errs[0] = newTTLCache[schema.TokenHash, *Session](cfg.AuthEntries, cfg.AuthTTL, func(h schema.TokenHash) string {
		return string(h[:])
	})
	g.sites, errs[1] = newEventSites(cfg.AuthEntries, cfg)
	g.open, errs[4] = newEventSites(openSites, cfg)
	g.rates, errs[2] = newRateLimits(cfg)
	g.addresses, errs[3] = newAddressLimits(cfg)
	g.keys, errs[5] = newTTLCache[string, *PublishableKey](cfg.AuthEntries, cfg.AuthTTL,
		func(text string) string { return text })
	g.keyRates, errs[6] = newKeyRates(cfg)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("cannot build the guard: %w", err)
	}
	return g, nil
}

// Run records the use of tokens until ctx ends, then writes the queued uses and closes Done.
func (g *Guard) Run(ctx context.Context) { g.uses.run(ctx) }

// Done returns a channel that is closed when Run has returned.
func (g *Guard) Done() <-chan struct{} { return g.uses.done }

// TakePublic counts a request that needs no token, or refuses it with 429.
func (g *Guard) TakePublic(ip netip.Addr, now time.Time) error {
	return g.addresses.takePublic(ip, now)
}

// Take counts a session's request in a rate class. Allowance.Wait is above 0 if the request is refused. The Allowance
// is zero if the class has no limit.
func (g *Guard) Take(class RateClass, s *Session, now time.Time) Allowance {
	return g.rates.limits[class].take(&s.use[class], now)
}

// Admit refuses callers outside the operation's scope with 403 or 404, and stores the scope's object in the Caller. The
// caller's Principal must be set. If Admit returns ErrAlreadyGone, the response must be 204.
func (g *Guard) Admit(ctx context.Context, s Scope, path PathParams, c *Caller) error {
	if err := s.admit(c.Principal); err != nil {
		return err
	}
	if s.Object == nil {
		return nil
	}
	find := s.Object.find
	installation := c.Principal.Kind == schema.TokenInstallation || c.Principal.Kind == schema.TokenIntegration
	switch {
	case c.Reader != nil:
		find = s.Object.findForReader
	case c.Principal.Kind == schema.TokenInsightsLink:
		find = findSharedInsights
	case installation:
		find = s.Object.findForInstallation
	}
	err := find(ctx, g, path, c)
	if err == nil && installation {
		c.Rights = RightView | RightAccess | s.Right // The installation's scope gives these rights.
	}
	if err == nil {
		err = c.KeepTo(c.objectOrganization(), cmp.Or(s.Object.below, s.Object.name))
	}
	if err == nil {
		err = c.Require(s.Right, s.Object.name)
	}
	if s.OrGone && schema.IsCode(err, schema.CodeNotFound) {
		return ErrAlreadyGone
	}
	return err
}

// AdmitNamed is like Admit, for an operation whose body names the object that it reads or changes. Handlers must use
// the object in the Caller. They must not read the object's name from the body again, because the body may contain this
// member twice.
func (g *Guard) AdmitNamed(ctx context.Context, s Scope, name string, c *Caller) error {
	if err := s.Named.find(ctx, g, name, c); err != nil {
		return err
	}
	if err := c.KeepTo(c.objectOrganization(), s.Named.name); err != nil {
		return err
	}
	return c.Require(s.Right, s.Named.name)
}

// AdmitWidening checks the caller of an operation that lets more people read a site. The caller must have the right to
// read every space that the site shows. The error does not reveal which spaces these are.
func (g *Guard) AdmitWidening(ctx context.Context, c *Caller) error {
	if c.Rights.Has(RightAdmin) {
		return nil // Admins of the organization read all of its spaces.
	}
	viewer := postgres.Viewer{UserID: c.Principal.UserID, Role: c.Site.Role}
	spaces, err := g.store.Sites.AccessToSiteSpaces(ctx, viewer, c.Site.Site.ID)
	if err != nil {
		return err
	}
	for _, space := range spaces {
		if !ContentRights(space).Has(RightAccess) {
			return schema.Forbidden(
				"you may not let more people read the site: it takes the right to read every space that the site shows",
			)
		}
	}
	return nil
}

// admit decides whether a principal of this kind may call the operation with the scope `s`. It refuses kinds that this
// version of the code does not know.
func (s Scope) admit(p *store.Principal) error {
	switch p.Kind {
	case schema.TokenUser:
		return nil
	case schema.TokenSession:
		if s.Object == nil && s.Named == nil && !s.Session {
			return schema.Forbidden("a session of single sign-on is for its organization only: this takes a user's token")
		}
		return nil
	case schema.TokenSite:
		if !s.SiteKey {
			return schema.Forbidden("a site key may only post its site's events")
		}
		return nil
	case schema.TokenFrontEnd:
		if !s.FrontEnd {
			return schema.Forbidden("a front end's token may only find published sites and post their events")
		}
		return nil
	case schema.TokenReader:
		if !s.Readers {
			return schema.Forbidden("a site token may only read what its site shows")
		}
		return nil
	case schema.TokenIntegration:
		if !s.Integration {
			return schema.Forbidden("the token of an integration may only find its installations")
		}
		return nil
	case schema.TokenInstallation:
		return s.admitInstallation(p)
	case schema.TokenInsights:
		if !s.Insights {
			return schema.Forbidden("this token may only read the insights of its site")
		}
		return nil
	case schema.TokenInsightsLink:
		if !s.InsightsLinks {
			return schema.Forbidden("a share link shows only answers of queries")
		}
		return nil
	case schema.TokenNone:
		return schema.Unauthorized(noToken) // [Guard.AdmitNobody] admits these callers.
	case schema.TokenPublishable:
		return schema.Forbidden("a publishable key is no token") // [Guard.AdmitKey] admits these callers.
	default:
		return schema.Forbidden("this version does not support this kind of token")
	}
}

// KeepTo returns 404 if the caller has a session of single sign-on and the object of the call is outside the session's
// organization. This holds even if the user has a role there, because an identity provider vouches only for the users
// of its organization. Operations whose body names a second organization call KeepTo for that organization too.
func (c *Caller) KeepTo(organization, object string) error {
	if c.Principal.Kind != schema.TokenSession || organization == c.Principal.OrganizationID {
		return nil
	}
	return schema.NotFound(object)
}

// objectOrganization returns the organization of the scope's object.
func (c *Caller) objectOrganization() string {
	switch {
	case c.Organization != nil:
		return c.Organization.Organization.ID
	case c.Site != nil:
		return c.Site.Site.OrganizationID
	case c.Space != nil:
		return c.Space.Space.OrganizationID
	case c.Collection != nil:
		return c.Collection.Collection.OrganizationID
	case c.Installation != nil:
		return c.Installation.Row.OrganizationID
	case c.Integration != nil:
		return c.Integration.Owner.Organization.ID
	}
	return c.EventSite.OrganizationID
}

// ErrAlreadyGone ends a call with the status 204, because the object that the call deletes does not exist.
var ErrAlreadyGone = errors.New("nothing there to delete")

// Require returns an error if the caller lacks the right on the scope's object. The error is 404 if the caller may not
// know that the object exists, and otherwise 403. A Scope states the rights that an operation always needs. Handlers
// require rights that depend on the request.
func (c *Caller) Require(right Rights, object string) error { return c.Rights.Require(right, object) }

func (r Rights) Require(right Rights, object string) error {
	switch {
	case r.Has(right):
		return nil
	case !r.Has(RightView):
		return schema.NotFound(object)
	}
	return schema.Forbidden("you may not do this: it takes the right to " + rightNames[right] + " on the " + object)
}
