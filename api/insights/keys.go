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
	"github.com/octavo-docs/octavo/store/sites"
)

// publishableKeys has the operations on the keys with which browsers post a site's events.
type publishableKeys struct {
	store  *store.Store
	secret *access.KeySecret
	urls   schema.URLs
}

const (
	defaultDailyCap = 1_000_000
	defaultOverlap  = 7 * 24 * 60 * 60 // This is 7 days in seconds.
)

func keyOperations(h *publishableKeys) []frame.Operation {
	const (
		many = insightsBase + "/keys"
		one  = many + "/{keyId}"
	)
	admin := access.Having(access.RightAdmin, access.OnInsights)
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: many, ID: "listSitePublishableKeys", Tag: "insights",
			Doc:   "List the publishable keys of a site: the keys with which browsers post its events at /e/{key}.",
			Scope: admin, Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: many, ID: "createSitePublishableKey", Tag: "insights", Strict: true,
			Doc: "Make a publishable key. Its text may be seen by everybody: it posts events of this site from the " +
				"listed hosts, and does nothing else. " +
				"A host is a name, or *.example.com for every host below example.com. A node refuses events beyond " +
				"dailyCap until midnight (UTC). Without respectGPC it has the site's: see the settings.",
			Scope: admin, Status: http.StatusCreated, BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON,
			Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getSitePublishableKey", Tag: "insights",
			Doc: "Read a publishable key with its text.", Scope: admin, Status: http.StatusOK,
			Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: one, ID: "updateSitePublishableKey", Tag: "insights", Strict: true,
			Doc:   "Change a publishable key. Its text stays the same.",
			Scope: admin, Status: http.StatusOK, BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON,
			Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodPost, Path: one + "/rotate", ID: "rotateSitePublishableKey", Tag: "insights",
			Strict: true,
			Doc: "Give a publishable key another text. The text before it works for overlap seconds more: 7 days if " +
				"absent, at most 30. " +
				"Texts that are older end at once. The events' column eventKey tells the generations apart.",
			Scope: admin, Status: http.StatusOK, BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON,
			Handler: frame.Handle(h.rotate),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "deleteSitePublishableKey", Tag: "insights",
			Doc: "Delete a publishable key: its texts post nothing any more, within the seconds for which nodes " +
				"remember tokens.",
			Scope: admin, Status: http.StatusNoContent, Handler: frame.Handle(h.delete),
		},
	}
}

func (h *publishableKeys) list(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[schema.PublishableKey], error) {
	site := c.EventSite.SiteID
	secret, err := h.secret.Read(ctx)
	if err != nil {
		return schema.List[schema.PublishableKey]{}, err
	}
	return frame.ListPage(ctx, "publishable-keys "+site, *r,
		func(after string, size int) (postgres.Page[sites.PublishableKey], error) {
			return h.store.Sites.ListPublishableKeys(ctx, site, after, size)
		},
		func(row sites.PublishableKey) schema.PublishableKey { return h.resource(c, secret, row) },
		func(row sites.PublishableKey) string { return row.ID })
}

type createKeyRequest struct {
	Body struct {
		Name       *string  `json:"name" rules:"required,len=1..128"`
		Hosts      []string `json:"hosts" rules:"required,len=1..50" each:"len=..253,pattern=keyHost"`
		DailyCap   *int     `json:"dailyCap" rules:"range=1..1000000000"`
		RespectGPC *bool    `json:"respectGPC"`
	} `body:"json"`
}

func (h *publishableKeys) create(ctx context.Context, c *access.Caller, r *createKeyRequest) (schema.PublishableKey,
	error) {
	settings, err := h.store.Sites.InsightsSettings(ctx, c.EventSite.SiteID)
	if err != nil {
		return schema.PublishableKey{}, err
	}
	row, err := h.store.Sites.CreatePublishableKey(ctx, c.EventSite.SiteID, sites.NewPublishableKey{
		Name: *r.Body.Name, Hosts: canonicalHosts(r.Body.Hosts),
		DailyCap:   int64(schema.Or(r.Body.DailyCap, defaultDailyCap)),
		RespectGPC: schema.Or(r.Body.RespectGPC, settings.RespectGpc),
	})
	return h.answer(ctx, c, row, err)
}

// canonicalHosts returns the hosts in the form in which hosts are compared, without duplicates.
func canonicalHosts(hosts []string) []string {
	var list []string
	seen := map[string]bool{}
	for _, host := range hosts {
		if host = schema.CanonicalHost(host); !seen[host] {
			list, seen[host] = append(list, host), true
		}
	}
	return list
}

type keyRequest struct {
	ID string `path:"keyId"`
}

func (h *publishableKeys) get(ctx context.Context, c *access.Caller, r *keyRequest) (schema.PublishableKey, error) {
	row, err := h.store.Sites.PublishableKey(ctx, c.EventSite.SiteID, r.ID)
	return h.answer(ctx, c, row, err)
}

type updateKeyRequest struct {
	keyRequest
	Body struct {
		Name       *string  `json:"name" rules:"len=1..128"`
		Hosts      []string `json:"hosts" rules:"len=1..50" each:"len=..253,pattern=keyHost"`
		DailyCap   *int     `json:"dailyCap" rules:"range=1..1000000000"`
		RespectGPC *bool    `json:"respectGPC"`
	} `body:"json"`
}

func (h *publishableKeys) update(ctx context.Context, c *access.Caller, r *updateKeyRequest) (schema.PublishableKey,
	error) {
	change := sites.PublishableKeyChange{Name: r.Body.Name, Hosts: canonicalHosts(r.Body.Hosts),
		RespectGPC: r.Body.RespectGPC}
	if r.Body.DailyCap != nil {
		most := int64(*r.Body.DailyCap)
		change.DailyCap = &most
	}
	row, err := h.store.Sites.UpdatePublishableKey(ctx, c.EventSite.SiteID, r.ID, change)
	return h.answer(ctx, c, row, err)
}

type rotateKeyRequest struct {
	keyRequest
	Body struct {
		Overlap *int `json:"overlap" rules:"range=0..2592000"`
	} `body:"json,optional"`
}

func (h *publishableKeys) rotate(ctx context.Context, c *access.Caller, r *rotateKeyRequest) (schema.PublishableKey,
	error) {
	until := c.Now.Add(time.Duration(schema.Or(r.Body.Overlap, defaultOverlap)) * time.Second)
	row, err := h.store.Sites.RotatePublishableKey(ctx, c.EventSite.SiteID, r.ID, until)
	return h.answer(ctx, c, row, err)
}

func (h *publishableKeys) delete(ctx context.Context, c *access.Caller, r *keyRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Sites.DeletePublishableKey(ctx, c.EventSite.SiteID, r.ID)
}

// answer converts the store's result for a key: it returns an answer or the store's error.
func (h *publishableKeys) answer(
	ctx context.Context, c *access.Caller, row sites.PublishableKey, err error,
) (schema.PublishableKey, error) {
	if err != nil {
		return schema.PublishableKey{}, err
	}
	secret, err := h.secret.Read(ctx)
	return h.resource(c, secret, row), err
}

// resource returns the API form of a key, with the key's text.
func (h *publishableKeys) resource(c *access.Caller, secret []byte, row sites.PublishableKey) schema.PublishableKey {
	key := schema.PublishableKey{
		Object: "publishable-key", ID: row.ID, Name: row.Name, Hosts: row.Hosts,
		Key:      schema.PublishableKeyText(secret, row.ID, int(row.Generation)),
		DailyCap: int(row.DailyCap), RespectGPC: row.RespectGpc, Generation: int(row.Generation),
		CreatedAt: row.CreatedAt.UTC(),
		URLs:      locationOf(h.urls, c, "keys", row.ID),
	}
	if ends := row.PreviousEndsAt; ends != nil && c.Now.Before(*ends) {
		key.PreviousUntil = schema.UTC(ends)
	}
	return key
}
