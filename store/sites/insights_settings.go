package sites

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// InsightsSettings is a row of the table insights_settings.
type InsightsSettings = db.InsightsSetting

// InsightsSettings returns the settings of a site's insights. If they were never changed, it returns the defaults.
func (s *Store) InsightsSettings(ctx context.Context, siteID string) (InsightsSettings, error) {
	return insightsSettings(ctx, s.db.Queries, siteID)
}

func insightsSettings(ctx context.Context, q *db.Queries, siteID string) (InsightsSettings, error) {
	row, err := q.InsightsSettings(ctx, siteID)
	if errors.Is(err, pgx.ErrNoRows) {
		return InsightsSettings{
			SiteID: siteID, Timezone: insights.UTC.String(), WeekStart: insights.WeekStarts()[0], Hosts: []string{},
			RespectGpc: true,
		}, nil
	}
	return row, postgres.Interpret(err, "settings of insights")
}

// InsightsSettingsChange has the new values of settings. Nil and unset fields leave the value unchanged.
type InsightsSettingsChange struct {
	Timezone, WeekStart *string
	// Hosts are in the form of [schema.CanonicalHost].
	Hosts      []string
	RespectGPC *bool
	// Retention is the number of days for which the site stores events. Null means that the site never deletes them.
	Retention schema.Opt[int]
}

// row reports whether the change affects the row of settings. The retention is in another table, so the result does
// not depend on the retention.
func (c InsightsSettingsChange) row() bool {
	return c.Timezone != nil || c.WeekStart != nil || c.Hosts != nil || c.RespectGPC != nil
}

// SetInsightsSettings changes the settings of a site's insights. If the time zone changes, annotations of days move to
// the beginnings of the days in the new time zone.
func (s *Store) SetInsightsSettings(ctx context.Context, siteID string, c InsightsSettingsChange) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if c.Retention.Set {
			if err := setRetention(ctx, q, siteID, c.Retention.Value); err != nil {
				return err
			}
		}
		if !c.row() {
			return nil
		}
		if _, err := q.LockSite(ctx, siteID); err != nil {
			return postgres.Interpret(err, "site")
		}
		row, err := q.SetInsightsSettings(ctx, db.SetInsightsSettingsParams{
			SiteID: siteID, Timezone: c.Timezone, WeekStart: c.WeekStart, Hosts: c.Hosts, RespectGpc: c.RespectGPC,
		})
		if err != nil || c.Timezone == nil {
			return postgres.Interpret(err, "settings of insights")
		}
		return moveAnnotatedDays(ctx, q, siteID, row.Timezone)
	})
}

// moveAnnotatedDays moves the annotations of days to the beginnings of the days in a time zone.
func moveAnnotatedDays(ctx context.Context, q *db.Queries, siteID, timezone string) error {
	zone, err := insights.Location(timezone)
	if err != nil {
		return err
	}
	days, err := q.AnnotatedDays(ctx, siteID)
	if err != nil {
		return postgres.Interpret(err, "annotations")
	}
	times := make([]time.Time, len(days))
	for i, day := range days {
		times[i] = startOfDay(day.Time, zone)
	}
	return postgres.Interpret(q.MoveAnnotatedDays(ctx, db.MoveAnnotatedDaysParams{
		SiteID: siteID, Days: days, Times: times,
	}), "annotations")
}

// QueriedSite has the data about a site that the query service needs.
type QueriedSite = db.QueriedSiteRow

// Queried returns the data about a site that the query service needs.
func (s *Store) Queried(ctx context.Context, siteID string) (QueriedSite, error) {
	row, err := s.db.Queries.QueriedSite(ctx, siteID)
	return row, postgres.Interpret(err, "site")
}
