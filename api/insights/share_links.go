package insights

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// shareLinks has the operations on links that show a part of a site's insights.
type shareLinks struct {
	store     *store.Store
	urls      schema.URLs
	passwords *passwords
	sessions  *access.InsightsSessions
	guesses   *access.Guesses
}

func newShareLinks(st *store.Store, urls schema.URLs) *shareLinks {
	guesses, err := access.NewGuesses()
	if err != nil {
		panic(err) // NewGuesses cannot fail, because its sizes are constants.
	}
	return &shareLinks{
		store: st, urls: urls, passwords: newPasswords(), sessions: access.NewInsightsSessions(st), guesses: guesses,
	}
}

func shareLinkOperations(h *shareLinks) []frame.Operation {
	const (
		many = insightsBase + "/share-links"
		one  = many + "/{linkId}"
	)
	edit := access.Having(access.RightEdit, access.OnInsights)
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: many, ID: "listSiteInsightsShareLinks", Tag: "insights",
			Doc: "List the links that show a part of a site's insights, without their secrets. " +
				"An addition to the published contract.",
			Scope: edit, Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: many, ID: "createSiteInsightsShareLink", Tag: "insights", Strict: true,
			Doc: "Make a link that shows a part of a site's insights: the events that meet where and are in all " +
				"segments, in one of the ranges. Columns of sessions are of whole sessions, also of events that the " +
				"link does not show. The answer has the link's secret, which is shown only once. The link works for " +
				"everybody who has the secret, and the password if there is one, until it expires (expiresIn " +
				"seconds) or is deleted. An addition to the published contract.",
			Scope: edit, Status: http.StatusCreated, BodyLimit: queryBodyLimit, Accepts: frame.MediaJSON,
			Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getSiteInsightsShareLink", Tag: "insights",
			Doc:   "Read a share link of insights without its secret. An addition to the published contract.",
			Scope: edit, Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: one, ID: "updateSiteInsightsShareLink", Tag: "insights", Strict: true,
			Doc: "Change a share link of insights. Its sessions show the new part from then on. A new password, or " +
				"none, ends them. An addition to the published contract.",
			Scope: edit, Status: http.StatusOK, BodyLimit: queryBodyLimit, Accepts: frame.MediaJSON,
			Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "deleteSiteInsightsShareLink", Tag: "insights",
			Doc:   "Delete a share link of insights. Its sessions end at once. An addition to the published contract.",
			Scope: edit, Status: http.StatusNoContent, Handler: frame.Handle(h.delete),
		},
		{
			Method: http.MethodPost, Path: "/insights/open", Root: true, ID: "openInsightsShareLink", Tag: "insights",
			Strict: true,
			Doc: "Open a share link of insights with its secret, and its password if it has one. The answer has a " +
				"token for the operations that read insights, for an hour at most. Wrong passwords are limited by " +
				"address and by link. An addition to the published contract.",
			Scope: access.Public(), Status: http.StatusOK, BodyLimit: openBodyLimit, Accepts: frame.MediaJSON,
			Handler: frame.Handle(h.open),
		},
	}
}

func (h *shareLinks) list(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[schema.InsightsShareLink], error) {
	site := c.EventSite.SiteID
	return frame.ListPage(ctx, "insights-share-links "+site, *r,
		func(after string, size int) (postgres.Page[sites.InsightsShareLink], error) {
			return h.store.Sites.ListInsightsShareLinks(ctx, site, after, size)
		},
		func(row sites.InsightsShareLink) schema.InsightsShareLink { return h.resource(c, row) },
		func(row sites.InsightsShareLink) string { return row.ID })
}

type createLinkRequest struct {
	Body struct {
		Name      *string    `json:"name" rules:"required,len=1..128"`
		Where     conditions `json:"where"`
		Segments  []string   `json:"segments" rules:"len=..10"`
		Ranges    rangeList  `json:"ranges"`
		Timezone  *string    `json:"timezone" rules:"len=1..64,default=UTC"`
		Password  *string    `json:"password" rules:"len=8..128"`
		ExpiresIn *int       `json:"expiresIn" rules:"range=60..315360000"`
	} `body:"json"`
}

func (h *shareLinks) create(
	ctx context.Context, c *access.Caller, r *createLinkRequest,
) (schema.InsightsShareLink, error) {
	n := sites.NewInsightsShareLink{
		Name: *r.Body.Name, Filters: string(r.Body.Where), Segments: append([]string{}, r.Body.Segments...),
		Ranges: string(r.Body.Ranges), Timezone: schema.Or(r.Body.Timezone, time.UTC.String()),
		ExpiresAt: endsIn(c.Now, r.Body.ExpiresIn), Creator: &c.Principal.UserID,
	}
	if err := h.check(ctx, c, n.Filters, n.Segments, n.Ranges, n.Timezone); err != nil {
		return schema.InsightsShareLink{}, err
	}
	var err error
	if n.Password, err = h.hashed(ctx, r.Body.Password); err != nil {
		return schema.InsightsShareLink{}, err
	}
	secret, row, err := h.store.Sites.CreateInsightsShareLink(ctx, c.EventSite.SiteID, n)
	link := h.resource(c, row)
	link.Secret = secret
	return link, err
}

// hashed returns the hash of a password, or nil if there is no password.
func (h *shareLinks) hashed(ctx context.Context, password *string) (*string, error) {
	if password == nil {
		return nil, nil
	}
	hash, err := h.passwords.hash(ctx, *password)
	return &hash, err
}

// check returns an error for conditions, segments or ranges that queries do not accept.
func (h *shareLinks) check(
	ctx context.Context, c *access.Caller, where string, segments []string, ranges, timezone string,
) error {
	if err := query.CheckWhere([]byte(where)); err != nil {
		return err
	}
	for i, id := range segments {
		_, err := h.store.Sites.SavedSegment(ctx, c.EventSite.SiteID, "", id)
		if schema.IsCode(err, schema.CodeNotFound) {
			return schema.Invalid(fmt.Sprintf("segments[%d]", i), "is not the id of a saved segment of the site")
		}
		if err != nil {
			return err
		}
	}
	return query.CheckRanges([]byte(ranges), timezone)
}

type linkRequest struct {
	ID string `path:"linkId"`
}

func (h *shareLinks) get(ctx context.Context, c *access.Caller, r *linkRequest) (schema.InsightsShareLink, error) {
	row, err := h.store.Sites.InsightsShareLink(ctx, c.EventSite.SiteID, r.ID)
	return h.resource(c, row), err
}

type updateLinkRequest struct {
	linkRequest
	Body struct {
		Name      *string            `json:"name" rules:"len=1..128"`
		Where     conditions         `json:"where"`
		Segments  []string           `json:"segments" rules:"len=..10"`
		Ranges    rangeList          `json:"ranges"`
		Timezone  *string            `json:"timezone" rules:"len=1..64"`
		Password  schema.Opt[string] `json:"password,omitzero" rules:"len=8..128"`
		ExpiresIn schema.Opt[int]    `json:"expiresIn,omitzero" rules:"range=60..315360000"`
	} `body:"json"`
}

func (h *shareLinks) update(
	ctx context.Context, c *access.Caller, r *updateLinkRequest,
) (schema.InsightsShareLink, error) {
	old, err := h.store.Sites.InsightsShareLink(ctx, c.EventSite.SiteID, r.ID)
	if err != nil {
		return schema.InsightsShareLink{}, err
	}
	change := sites.InsightsShareLinkChange{
		Name: r.Body.Name, Segments: r.Body.Segments, Timezone: r.Body.Timezone,
		Expires: schema.Opt[time.Time]{Set: r.Body.ExpiresIn.Set, Value: endsIn(c.Now, r.Body.ExpiresIn.Value)},
	}
	if len(r.Body.Where) > 0 {
		change.Filters = new(string(r.Body.Where))
	}
	if len(r.Body.Ranges) > 0 {
		change.Ranges = new(string(r.Body.Ranges))
	}
	err = h.check(ctx, c, schema.Or(change.Filters, ""), change.Segments, schema.Or(change.Ranges, old.Ranges),
		schema.Or(change.Timezone, old.Timezone))
	if err != nil {
		return schema.InsightsShareLink{}, err
	}
	change.Password.Set = r.Body.Password.Set
	if change.Password.Value, err = h.hashed(ctx, r.Body.Password.Value); err != nil {
		return schema.InsightsShareLink{}, err
	}
	row, err := h.store.Sites.UpdateInsightsShareLink(ctx, c.EventSite.SiteID, r.ID, change)
	return h.resource(c, row), err
}

func (h *shareLinks) delete(ctx context.Context, c *access.Caller, r *linkRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Sites.DeleteInsightsShareLink(ctx, c.EventSite.SiteID, r.ID)
}

func (h *shareLinks) resource(c *access.Caller, row sites.InsightsShareLink) schema.InsightsShareLink {
	return schema.InsightsShareLink{
		Object: "insights-share-link", ID: row.ID, Name: row.Name, Password: row.Password != nil,
		InsightsPart: partOf(*access.InsightsView(row)), CreatedBy: postgres.Deref(row.CreatedBy),
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), ExpiresAt: schema.UTC(row.ExpiresAt),
		URLs: locationOf(h.urls, c, "share-links", row.ID),
	}
}
