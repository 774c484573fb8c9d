package insights

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// savedSegments has the operations on filters that people save under a name.
type savedSegments struct {
	store *store.Store
	urls  schema.URLs
}

func segmentOperations(h *savedSegments) []frame.Operation {
	const (
		many = insightsBase + "/saved-segments"
		one  = many + "/{segmentId}"
	)
	scope := access.Having(access.RightAccess, access.OnInsights)
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: many, ID: "listSiteSavedSegments", Tag: "insights",
			Doc: "List the saved segments of a site that the caller sees: the site's, and the caller's personal " +
				"ones. Queries name them in segments. An addition to the published contract.",
			Scope: scope, Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: many, ID: "createSiteSavedSegment", Tag: "insights", Strict: true,
			Doc: "Save filters under a name. A personal segment is its creator's alone. A segment of the site takes " +
				"the right to edit. Names are unique among a site's segments, and among the personal segments of one " +
				"user. An addition to the published contract.",
			Scope: scope, Status: http.StatusCreated, BodyLimit: queryBodyLimit, Accepts: frame.MediaJSON,
			Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getSiteSavedSegment", Tag: "insights",
			Doc: "Read a saved segment. An addition to the published contract.", Scope: scope, Status: http.StatusOK,
			Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: one, ID: "updateSiteSavedSegment", Tag: "insights", Strict: true,
			Doc: "Change the name or the filters of a saved segment. Queries and share links that name it use the " +
				"new filters from then on. An addition to the published contract.",
			Scope: scope, Status: http.StatusOK, BodyLimit: queryBodyLimit, Accepts: frame.MediaJSON,
			Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "deleteSiteSavedSegment", Tag: "insights",
			Doc: "Delete a saved segment. A share link that names it shows nothing until it names others. " +
				"An addition to the published contract.",
			Scope: scope, Status: http.StatusNoContent, Handler: frame.Handle(h.delete),
		},
	}
}

func (h *savedSegments) list(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[schema.SavedSegment], error) {
	site, user := c.EventSite.SiteID, c.Principal.UserID
	return frame.ListPage(ctx, "saved-segments "+site+" "+user, *r,
		func(after string, size int) (postgres.Page[sites.SavedSegment], error) {
			return h.store.Sites.ListSavedSegments(ctx, site, user, after, size)
		},
		func(row sites.SavedSegment) schema.SavedSegment { return h.resource(c, row) },
		func(row sites.SavedSegment) string { return row.ID })
}

type createSegmentRequest struct {
	Body struct {
		Name  *string    `json:"name" rules:"required,len=1..128"`
		Scope *string    `json:"scope" rules:"enum=segmentScope,default=site"`
		Where conditions `json:"where" rules:"required"`
	} `body:"json"`
}

func (h *savedSegments) create(
	ctx context.Context, c *access.Caller, r *createSegmentRequest,
) (schema.SavedSegment, error) {
	n := sites.NewSavedSegment{Creator: &c.Principal.UserID, Name: *r.Body.Name, Filters: string(r.Body.Where)}
	if schema.Or(r.Body.Scope, schema.SegmentOfSite) == schema.SegmentOfSite {
		if err := c.Require(access.RightEdit, "site"); err != nil {
			return schema.SavedSegment{}, err
		}
	} else {
		n.Owner = n.Creator
	}
	if err := checkSegment(r.Body.Where); err != nil {
		return schema.SavedSegment{}, err
	}
	row, err := h.store.Sites.CreateSavedSegment(ctx, c.EventSite.SiteID, n)
	return h.resource(c, row), err
}

// checkSegment returns an error for filters that queries do not accept, and for an empty list of filters.
func checkSegment(where conditions) error {
	if err := query.CheckWhere(where); err != nil {
		return err
	}
	if none, err := isEmpty(where); err != nil || !none {
		return err
	}
	return schema.Invalid("where", "must have at least one condition")
}

// isEmpty reports whether `list` is the text of an empty JSON list.
func isEmpty(list []byte) (bool, error) {
	value := jsontext.Value(list).Clone()
	err := value.Compact()
	return string(value) == "[]", err
}

type segmentRequest struct {
	ID string `path:"segmentId"`
}

func (h *savedSegments) get(ctx context.Context, c *access.Caller, r *segmentRequest) (schema.SavedSegment, error) {
	row, err := h.store.Sites.SavedSegment(ctx, c.EventSite.SiteID, c.Principal.UserID, r.ID)
	return h.resource(c, row), err
}

// changeable returns an error if the caller may not change or delete a segment.
func (h *savedSegments) changeable(ctx context.Context, c *access.Caller, id string) error {
	row, err := h.store.Sites.SavedSegment(ctx, c.EventSite.SiteID, c.Principal.UserID, id)
	if err == nil && row.OwnerID == nil {
		err = c.Require(access.RightEdit, "site")
	}
	return err
}

type updateSegmentRequest struct {
	segmentRequest
	Body struct {
		Name  *string    `json:"name" rules:"len=1..128"`
		Where conditions `json:"where"`
	} `body:"json"`
}

func (h *savedSegments) update(
	ctx context.Context, c *access.Caller, r *updateSegmentRequest,
) (schema.SavedSegment, error) {
	if err := h.changeable(ctx, c, r.ID); err != nil {
		return schema.SavedSegment{}, err
	}
	change := sites.SavedSegmentChange{Name: r.Body.Name}
	if len(r.Body.Where) > 0 {
		if err := checkSegment(r.Body.Where); err != nil {
			return schema.SavedSegment{}, err
		}
		change.Filters = new(string(r.Body.Where))
	}
	row, err := h.store.Sites.UpdateSavedSegment(ctx, c.EventSite.SiteID, r.ID, change)
	return h.resource(c, row), err
}

func (h *savedSegments) delete(ctx context.Context, c *access.Caller, r *segmentRequest) (frame.NoContent, error) {
	err := h.changeable(ctx, c, r.ID)
	if schema.IsCode(err, schema.CodeNotFound) {
		return frame.NoContent{}, nil
	}
	if err == nil {
		err = h.store.Sites.DeleteSavedSegment(ctx, c.EventSite.SiteID, r.ID)
	}
	return frame.NoContent{}, err
}

func (h *savedSegments) resource(c *access.Caller, row sites.SavedSegment) schema.SavedSegment {
	scope := schema.SegmentOfSite
	if row.OwnerID != nil {
		scope = schema.SegmentOfOnePerson
	}
	return schema.SavedSegment{
		Object: "saved-segment", ID: row.ID, Name: row.Name, Scope: scope, Where: listOr([]byte(row.Filters)),
		CreatedBy: postgres.Deref(row.CreatedBy), CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
		URLs: locationOf(h.urls, c, "saved-segments", row.ID),
	}
}
