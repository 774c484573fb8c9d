package insights

import (
	"context"
	"net/http"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// insightsTokens has the operations on tokens that read a site's insights.
type insightsTokens struct {
	store *store.Store
	urls  schema.URLs
}

func tokenOperations(h *insightsTokens) []frame.Operation {
	const (
		many = insightsBase + "/tokens"
		one  = many + "/{tokenId}"
	)
	admin := access.Having(access.RightAdmin, access.OnInsights)
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: many, ID: "listSiteInsightsTokens", Tag: "insights",
			Doc: "List the read-only tokens of a site's insights that are not revoked, without the tokens " +
				"themselves. An addition to the published contract.",
			Scope: admin, Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: many, ID: "createSiteInsightsToken", Tag: "insights", Strict: true,
			Doc: "Make a token that reads the insights of this site, and does nothing else. The answer has the " +
				"token, which is shown only once. It ends after expiresIn seconds, or when it is revoked. " +
				"An addition to the published contract.",
			Scope: admin, Status: http.StatusCreated, BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON,
			Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getSiteInsightsToken", Tag: "insights",
			Doc:   "Read what is known about a read-only token. An addition to the published contract.",
			Scope: admin, Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "deleteSiteInsightsToken", Tag: "insights",
			Doc: "Revoke a read-only token. It ends within the seconds for which nodes remember tokens. " +
				"An addition to the published contract.",
			Scope: admin, Status: http.StatusNoContent, Handler: frame.Handle(h.delete),
		},
	}
}

func (h *insightsTokens) list(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[schema.InsightsToken], error) {
	site := c.EventSite.SiteID
	return frame.ListPage(ctx, "insights-tokens "+site, *r,
		func(after string, size int) (postgres.Page[store.Token], error) {
			return h.store.Sites.ListInsightsTokens(ctx, site, after, size)
		},
		func(row store.Token) schema.InsightsToken { return h.resource(c, row) },
		func(row store.Token) string { return row.ID })
}

type createTokenRequest struct {
	Body struct {
		Name *string `json:"name" rules:"required,len=1..128"`
		// ExpiresIn is in seconds.
		ExpiresIn *int `json:"expiresIn" rules:"range=60..315360000"`
	} `body:"json"`
}

func (h *insightsTokens) create(
	ctx context.Context, c *access.Caller, r *createTokenRequest,
) (schema.InsightsToken, error) {
	secret, row, err := h.store.Sites.CreateInsightsToken(
		ctx, c.EventSite.SiteID, *r.Body.Name, endsIn(c.Now, r.Body.ExpiresIn))
	token := h.resource(c, row)
	token.Token = secret
	return token, err
}

// endsIn returns the sum of `now` and `seconds`, or nil if `seconds` is nil.
func endsIn(now time.Time, seconds *int) *time.Time {
	if seconds == nil {
		return nil
	}
	return new(now.Add(time.Duration(*seconds) * time.Second))
}

type tokenRequest struct {
	ID string `path:"tokenId"`
}

func (h *insightsTokens) get(ctx context.Context, c *access.Caller, r *tokenRequest) (schema.InsightsToken, error) {
	row, err := h.store.Sites.InsightsToken(ctx, c.EventSite.SiteID, r.ID)
	return h.resource(c, row), err
}

func (h *insightsTokens) delete(ctx context.Context, c *access.Caller, r *tokenRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Sites.RevokeInsightsToken(ctx, c.EventSite.SiteID, r.ID)
}

func (h *insightsTokens) resource(c *access.Caller, row store.Token) schema.InsightsToken {
	return schema.InsightsToken{
		Object: "insights-token", ID: row.ID, Name: row.Name, CreatedAt: row.CreatedAt.UTC(),
		ExpiresAt: schema.UTC(row.ExpiresAt), LastUsedAt: schema.UTC(row.LastUsedAt),
		URLs: locationOf(h.urls, c, "tokens", row.ID),
	}
}
