package insights

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// annotations has the operations on annotations, which mark events in a site's graphs.
type annotations struct {
	store *store.Store
	view  view.Presenter
}

func annotationOperations(h *annotations) []frame.Operation {
	const (
		many = insightsBase + "/annotations"
		one  = many + "/{annotationId}"
	)
	creators := access.Having(access.RightCreate, access.OnInsights)
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: many, ID: "listSiteAnnotations", Tag: "insights",
			Doc: "List what happened on a site, the newest first. Octavo adds an annotation when a change request " +
				"of a " +
				"space of the site is merged (merge), Git content comes into such a space (import), the site is " +
				"published or unpublished (publication), and a redirect is created or changed (redirect). Of each of " +
				"these kinds the newest stay; users make manual ones. from and to bound the time at. pageId selects " +
				"the annotations that name a page; changes of more than 200 pages name none.",
			Scope: readScope(), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: many, ID: "createSiteAnnotation", Tag: "insights", Strict: true,
			Doc: "Annotate a moment (at) or a day in the site's time zone (date) of a site's graphs; now if both are " +
				"absent. Page, space and path say what the annotation is about.",
			Scope: creators, Status: http.StatusCreated, BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON,
			Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getSiteAnnotation", Tag: "insights",
			Doc: "Read an annotation.", Scope: readScope(), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: one, ID: "updateSiteAnnotation", Tag: "insights", Strict: true,
			Doc:   "Change an annotation that was made by hand.",
			Scope: creators, Status: http.StatusOK, BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON,
			Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "deleteSiteAnnotation", Tag: "insights",
			Doc:   "Delete an annotation of any kind. Octavo does not add it again.",
			Scope: creators, Status: http.StatusNoContent, Handler: frame.Handle(h.delete),
		},
	}
}

type listAnnotationsRequest struct {
	schema.PageRequest
	From  *string  `query:"from" rules:"pattern=dateTime"`
	To    *string  `query:"to" rules:"pattern=dateTime"`
	Kinds []string `query:"kind" each:"enum=annotationKind"`
	Page  *string  `query:"pageId"`
}

func (h *annotations) list(
	ctx context.Context, c *access.Caller, r *listAnnotationsRequest,
) (schema.List[schema.Annotation], error) {
	site := c.EventSite.SiteID
	filter := sites.AnnotationFilter{
		Kinds: r.Kinds, Page: r.Page, Since: schema.MomentOf(r.From), Until: schema.MomentOf(r.To),
	}
	name := fmt.Sprintf("annotations %s %q %q %q %q", site, r.Kinds, schema.Or(r.Page, ""), schema.Or(r.From, ""),
		schema.Or(r.To, ""))
	var users map[string]orgs.User
	return frame.ListKeyed(ctx, name, r.PageRequest, 2,
		func(keys []string, size int) (postgres.Page[sites.Annotation], error) {
			after, err := postgres.ParseCursor[time.Time](keys)
			if err != nil {
				return postgres.Page[sites.Annotation]{}, err
			}
			page, err := h.store.Sites.ListAnnotations(ctx, site, filter, after, size)
			if err == nil {
				users, err = h.users(ctx, page.Rows...)
			}
			return page, err
		},
		func(row sites.Annotation) schema.Annotation { return h.resource(c, row, users) },
		func(row sites.Annotation) []string { return sites.AnnotationCursor(row).Keys() })
}

// annotationBody has the members of an annotation that users may change.
type annotationBody struct {
	Text  *string            `json:"text" rules:"len=1..500,pattern=title"`
	At    *string            `json:"at" rules:"pattern=dateTime"`
	Date  *string            `json:"date" rules:"pattern=date"`
	Page  schema.Opt[string] `json:"page" rules:"len=1..64,pattern=pageId"`
	Space schema.Opt[string] `json:"space" rules:"len=1..64"`
	Path  schema.Opt[string] `json:"path" rules:"len=1..1024,pattern=urlPath"`
}

// problems reports a time that no graph shows, and an annotation that has both a moment and a day.
func (b *annotationBody) problems() []schema.Detail {
	var c rules.Checker
	if b.At != nil && b.Date != nil {
		c.Add("date", "cannot stand beside at")
	}
	begin, end := insights.TimeBounds()
	first, last := begin.Year()+1, end.Year()-1 // In every time zone, the day is within these years.
	shown := func(field string, at *time.Time) {
		if at != nil && (at.UTC().Year() < first || at.UTC().Year() > last) {
			c.Add(field, fmt.Sprintf("must be in the years from %d to %d", first, last))
		}
	}
	shown("at", schema.MomentOf(b.At))
	shown("date", b.day())
	return c.Details
}

// day returns midnight (UTC) of the date, or nil if there is no valid date.
func (b *annotationBody) day() *time.Time {
	if b.Date == nil {
		return nil
	}
	day, err := time.Parse(time.DateOnly, *b.Date)
	if err != nil {
		return nil
	}
	return &day
}

func (b *annotationBody) change() sites.AnnotationChange {
	return sites.AnnotationChange{
		At: schema.MomentOf(b.At), Day: b.day(), Text: b.Text, Page: b.Page, Space: b.Space, Path: b.Path,
	}
}

// createAnnotationRequest has the same members as annotationBody, but text is required.
type createAnnotationRequest struct {
	Body struct {
		Text  *string            `json:"text" rules:"required,len=1..500,pattern=title"`
		At    *string            `json:"at" rules:"pattern=dateTime"`
		Date  *string            `json:"date" rules:"pattern=date"`
		Page  schema.Opt[string] `json:"page" rules:"len=1..64,pattern=pageId"`
		Space schema.Opt[string] `json:"space" rules:"len=1..64"`
		Path  schema.Opt[string] `json:"path" rules:"len=1..1024,pattern=urlPath"`
	} `body:"json"`
}

func (r *createAnnotationRequest) body() *annotationBody {
	body := annotationBody(r.Body)
	return &body
}

// Validate checks the members `at` and `date`.
func (r *createAnnotationRequest) Validate() []schema.Detail { return r.body().problems() }

func (h *annotations) create(
	ctx context.Context, c *access.Caller, r *createAnnotationRequest,
) (schema.Annotation, error) {
	n := r.body().change()
	if n.At == nil && n.Day == nil {
		now := c.Now.Truncate(time.Millisecond)
		n.At = &now
	}
	row, err := h.store.Sites.CreateAnnotation(ctx, c.EventSite.SiteID, c.Principal.UserID, n)
	return h.answer(ctx, c, row, err)
}

type annotationRequest struct {
	ID string `path:"annotationId"`
}

func (h *annotations) get(ctx context.Context, c *access.Caller, r *annotationRequest) (schema.Annotation, error) {
	row, err := h.store.Sites.Annotation(ctx, c.EventSite.SiteID, r.ID)
	return h.answer(ctx, c, row, err)
}

type updateAnnotationRequest struct {
	annotationRequest
	Body annotationBody `body:"json"`
}

// Validate checks the members `at` and `date`.
func (r *updateAnnotationRequest) Validate() []schema.Detail { return r.Body.problems() }

func (h *annotations) update(
	ctx context.Context, c *access.Caller, r *updateAnnotationRequest,
) (schema.Annotation, error) {
	row, err := h.store.Sites.UpdateAnnotation(ctx, c.EventSite.SiteID, r.ID, r.Body.change())
	return h.answer(ctx, c, row, err)
}

func (h *annotations) delete(ctx context.Context, c *access.Caller, r *annotationRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Sites.DeleteAnnotation(ctx, c.EventSite.SiteID, r.ID)
}

// users loads the users who made the annotations.
func (h *annotations) users(ctx context.Context, rows ...sites.Annotation) (map[string]orgs.User, error) {
	var ids []string
	for _, row := range rows {
		if row.CreatedBy != nil {
			ids = append(ids, *row.CreatedBy)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return h.store.Orgs.UsersByID(ctx, ids)
}

// answer converts the store's result for an annotation: it returns an answer or the store's error.
func (h *annotations) answer(
	ctx context.Context, c *access.Caller, row sites.Annotation, err error,
) (schema.Annotation, error) {
	if err != nil {
		return schema.Annotation{}, err
	}
	users, err := h.users(ctx, row)
	return h.resource(c, row, users), err
}

func (h *annotations) resource(
	c *access.Caller, row sites.Annotation, users map[string]orgs.User,
) schema.Annotation {
	a := schema.Annotation{
		Object: "insights-annotation", ID: row.ID, Kind: row.Kind, At: row.At.UTC(), Text: row.Text,
		Space: schema.Or(row.SpaceID, ""), Path: schema.Or(row.Path, ""),
		ChangeRequest: schema.Or(row.ChangeRequestID, ""), CreatedAt: row.CreatedAt.UTC(),
		URLs: locationOf(h.view.URLs, c, "annotations", row.ID),
	}
	if row.Day.Valid {
		a.Date = row.Day.Time.Format(time.DateOnly)
	}
	if len(row.Pages) == 1 {
		a.Page = row.Pages[0]
	} else {
		a.Pages = row.Pages
	}
	if row.CreatedBy != nil {
		if user, ok := users[*row.CreatedBy]; ok {
			shown := h.view.User(user)
			a.CreatedBy = &shown
		}
	}
	return a
}
