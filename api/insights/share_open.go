package insights

import (
	"context"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
)

const (
	openBodyLimit = 4 << 10
	// sessionTime is the lifetime of the token that opening a share link gives. Opening the link again gives a new
	// token.
	sessionTime = time.Hour
)

// openLinkRequest has the secret in the body, because logs contain URLs.
type openLinkRequest struct {
	Body struct {
		Secret   *string `json:"secret" rules:"required,len=1..512"`
		Password *string `json:"password" rules:"len=..128"`
	} `body:"json"`
}

func (h *shareLinks) open(ctx context.Context, c *access.Caller, r *openLinkRequest) (schema.InsightsSession, error) {
	link, err := h.store.Sites.InsightsShareLinkOf(ctx, *r.Body.Secret)
	if schema.IsCode(err, schema.CodeNotFound) {
		return schema.InsightsSession{}, schema.Unauthorized("there is no such share link, or it has ended")
	}
	if err == nil {
		err = h.checkPassword(ctx, c, link.InsightsShareLink, r.Body.Password)
	}
	if err != nil {
		return schema.InsightsSession{}, err
	}
	ends := c.Now.Add(sessionTime)
	if link.ExpiresAt != nil && link.ExpiresAt.Before(ends) {
		ends = *link.ExpiresAt
	}
	// The expiry in a token has a precision of one second.
	ends = ends.Truncate(time.Second)
	token, err := h.sessions.Make(ctx, schema.InsightsSessionToken{
		Link: link.ID, Generation: int(link.Generation), ExpiresAt: ends,
	})
	return schema.InsightsSession{
		Object: "insights-session", Token: token, ExpiresAt: ends.UTC(),
		Organization: link.Site.OrganizationID, Site: link.SiteID,
	}, err
}

// checkPassword returns an error if the password is wrong. Too many guesses are refused before a hash is computed.
func (h *shareLinks) checkPassword(
	ctx context.Context, c *access.Caller, link sites.InsightsShareLink, password *string,
) error {
	switch {
	case link.Password == nil:
		return nil
	case password == nil:
		return schema.Unauthorized("the share link takes a password")
	}
	if err := h.guesses.Take(c.IP, link.ID, c.Now); err != nil {
		return err
	}
	right, err := h.passwords.matches(ctx, *link.Password, *password)
	if right || err != nil {
		h.guesses.GiveBack(c.IP, link.ID)
	}
	if err == nil && !right {
		err = schema.Unauthorized("the password is wrong")
	}
	return err
}
