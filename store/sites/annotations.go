package sites

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Annotation is a row of the table insights_annotations.
type Annotation = db.InsightsAnnotation

// AnnotationChange has the values of a new annotation, or the new values of an existing one. Nil and unset fields leave
// the value unchanged. A new annotation must have a text, and a time or a day.
type AnnotationChange struct {
	// At is the annotation's time. Day is the midnight in UTC of the annotation's day. At most one of At and Day is
	// set.
	At, Day           *time.Time
	Text              *string
	Page, Space, Path schema.Opt[string]
}

// CreateAnnotation adds an annotation that a user has written.
func (s *Store) CreateAnnotation(
	ctx context.Context, siteID, userID string, n AnnotationChange,
) (row Annotation, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		made := Annotation{ID: schema.NewID(), SiteID: siteID, Pages: []string{}}
		if err := n.apply(ctx, q, &made); err != nil {
			return err
		}
		row, err = q.InsertAnnotation(ctx, db.InsertAnnotationParams{
			ID: made.ID, SiteID: siteID, Kind: schema.AnnotationManual, At: made.At, Day: made.Day, Text: made.Text,
			Pages: made.Pages, SpaceID: made.SpaceID, Path: made.Path, CreatedBy: postgres.UnlessEmpty(userID),
		})
		if err != nil {
			return postgres.Interpret(err, "site")
		}
		return s.db.Within(ctx, q, postgres.QuotaAnnotations, siteID)
	})
	return row, err
}

// UpdateAnnotation changes an annotation that a user has written. For an annotation by Octavo, it returns a conflict.
func (s *Store) UpdateAnnotation(
	ctx context.Context, siteID, id string, change AnnotationChange,
) (row Annotation, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err = q.LockAnnotation(ctx, db.LockAnnotationParams{ID: id, SiteID: siteID})
		if err != nil {
			return postgres.Interpret(err, "annotation")
		}
		if row.Kind != schema.AnnotationManual {
			return schema.Conflict("the annotation was made by a change, not by hand: it can be deleted, not changed")
		}
		if err := change.apply(ctx, q, &row); err != nil {
			return err
		}
		row, err = q.UpdateAnnotation(ctx, db.UpdateAnnotationParams{
			ID: id, At: row.At, Day: row.Day, Text: row.Text, Pages: row.Pages, SpaceID: row.SpaceID, Path: row.Path,
		})
		return postgres.Interpret(err, "annotation")
	})
	return row, err
}

// apply sets the changed values of an annotation's row. It returns an error if the site does not show the named space.
func (c AnnotationChange) apply(ctx context.Context, q *db.Queries, row *Annotation) error {
	if c.At != nil {
		row.At, row.Day = *c.At, pgtype.Date{}
	}
	if c.Day != nil {
		// The lock prevents a change of the site's time zone until the annotation is stored.
		if _, err := q.LockSite(ctx, row.SiteID); err != nil {
			return postgres.Interpret(err, "site")
		}
		settings, err := insightsSettings(ctx, q, row.SiteID)
		if err != nil {
			return err
		}
		zone, err := insights.Location(settings.Timezone)
		if err != nil {
			return schema.Internal(err)
		}
		row.At, row.Day = startOfDay(*c.Day, zone), pgtype.Date{Time: *c.Day, Valid: true}
	}
	if c.Text != nil {
		row.Text = *c.Text
	}
	if space := c.Space.Value; space != nil {
		shown, err := q.SitesOfSpaces(ctx, []string{*space})
		if err != nil {
			return postgres.Interpret(err, "site")
		}
		if !slices.Contains(shown, row.SiteID) {
			return schema.Invalid("space", "names no space of this site")
		}
	}
	row.SpaceID, row.Path = c.Space.Or(row.SpaceID), c.Path.Or(row.Path)
	if c.Page.Set {
		row.Pages = []string{}
		if c.Page.Value != nil {
			row.Pages = []string{*c.Page.Value}
		}
	}
	return nil
}

// startOfDay returns the first instant of a day in a time zone. `day` is the day's midnight in UTC.
func startOfDay(day time.Time, zone *time.Location) time.Time {
	return insights.DayOf(day.UTC()).Start(zone).UTC()
}

// Annotation returns an annotation of a site.
func (s *Store) Annotation(ctx context.Context, siteID, id string) (Annotation, error) {
	row, err := s.db.Queries.AnnotationByID(ctx, db.AnnotationByIDParams{ID: id, SiteID: siteID})
	return row, postgres.Interpret(err, "annotation")
}

// DeleteAnnotation removes an annotation of any kind, if it exists.
func (s *Store) DeleteAnnotation(ctx context.Context, siteID, id string) error {
	err := s.db.Queries.DeleteAnnotation(ctx, db.DeleteAnnotationParams{ID: id, SiteID: siteID})
	return postgres.Interpret(err, "annotation")
}

// AnnotationFilter narrows a list of annotations. A nil field does not filter.
type AnnotationFilter struct {
	Kinds []string
	// Page is the id of a page to which the annotations refer.
	Page *string
	// Since is the first time of the range. Until is the first time after the range.
	Since, Until *time.Time
}

// AnnotationCursor returns the cursor of an annotation. The next page of a list begins after the cursor.
func AnnotationCursor(row Annotation) postgres.Cursor[time.Time] {
	return postgres.Cursor[time.Time]{Key: row.At, ID: row.ID}
}

// ListAnnotations lists a site's annotations. The newest annotation is first. If `after` is set, the list continues
// after this cursor.
func (s *Store) ListAnnotations(
	ctx context.Context, siteID string, f AnnotationFilter, after *postgres.Cursor[time.Time], size int,
) (postgres.Page[Annotation], error) {
	total, err := s.db.Planned.CountAnnotations(ctx, db.CountAnnotationsParams{
		SiteID: siteID, Since: f.Since, Until: f.Until, Kinds: f.Kinds, Page: f.Page,
	})
	if err != nil {
		return postgres.Page[Annotation]{}, postgres.Interpret(err, "annotations")
	}
	from := after.OrFirst(postgres.EndOfTime)
	rows, err := s.db.Planned.ListAnnotations(ctx, db.ListAnnotationsParams{
		SiteID: siteID, Since: f.Since, Until: f.Until, Kinds: f.Kinds, Page: f.Page,
		Before: from.Key, BeforeID: from.ID, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Annotation]{}, postgres.Interpret(err, "annotations")
	}
	return postgres.PageOf(rows, size, total), nil
}
