package sites

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema/customization"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Customization reads the settings of a site. Fields that are not set are absent.
func (s *Store) Customization(ctx context.Context, siteID string) (customization.Customization, error) {
	return siteCustomization(ctx, s.db.Queries, siteID)
}

func siteCustomization(ctx context.Context, q *db.Queries, siteID string) (customization.Customization, error) {
	stored, err := q.SiteCustomization(ctx, siteID)
	if errors.Is(err, pgx.ErrNoRows) {
		return customization.Customization{}, nil
	}
	if err != nil {
		return customization.Customization{}, postgres.Interpret(err, "customization")
	}
	return postgres.FromJSON[customization.Customization](stored)
}

// SetCustomization replaces the settings of a site. The settings must not contain nulls. Page actions have two forms in
// the settings. To make both forms agree, SetCustomization compares the new settings with the stored settings (see
// SettleActions). It locks the site, so that concurrent requests compare one after the other. It returns the stored
// settings.
func (s *Store) SetCustomization(
	ctx context.Context, siteID string, settings customization.Customization,
) (customization.Customization, error) {
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if _, err := q.LockSite(ctx, siteID); err != nil {
			return postgres.Interpret(err, "site")
		}
		before, err := siteCustomization(ctx, q, siteID)
		if err != nil {
			return err
		}
		settings.SettleActions(customization.Default(), before, settings)
		stored, err := postgres.ToJSON(settings)
		if err != nil {
			return err
		}
		err = q.SaveSiteCustomization(ctx, db.SaveSiteCustomizationParams{SiteID: siteID, Settings: stored})
		return postgres.Interpret(err, "site")
	})
	return settings, err
}

// Customizations reads the settings of a site, and the overrides of its site spaces by id.
func (s *Store) Customizations(
	ctx context.Context, siteID string,
) (settings customization.Customization, overrides map[string]customization.Customization, err error) {
	rows, err := s.db.Queries.CustomizationsOfSite(ctx, siteID)
	if err != nil {
		return settings, nil, postgres.Interpret(err, "customizations")
	}
	overrides = make(map[string]customization.Customization, len(rows))
	for _, row := range rows {
		if row.SiteSpaceID == "" {
			settings, err = postgres.FromJSON[customization.Customization](row.Settings)
		} else {
			overrides[row.SiteSpaceID], err = postgres.FromJSON[customization.Customization](row.Settings)
		}
		if err != nil {
			return settings, nil, err
		}
	}
	return settings, overrides, nil
}

// SiteSpaceCustomization reads the settings of a site, and the overrides of one of its site spaces.
func (s *Store) SiteSpaceCustomization(
	ctx context.Context, siteID, siteSpaceID string,
) (settings, overrides customization.Customization, err error) {
	return siteSpaceCustomization(ctx, s.db.Queries, siteID, siteSpaceID)
}

func siteSpaceCustomization(
	ctx context.Context, q *db.Queries, siteID, siteSpaceID string,
) (settings, overrides customization.Customization, err error) {
	row, err := q.SiteSpaceCustomization(ctx, db.SiteSpaceCustomizationParams{SiteSpaceID: siteSpaceID, SiteID: siteID})
	if err != nil {
		return settings, overrides, postgres.Interpret(err, "site space")
	}
	if settings, err = postgres.FromJSON[customization.Customization](row.Settings); err != nil {
		return settings, overrides, err
	}
	overrides, err = postgres.FromJSON[customization.Customization](row.Overrides)
	return settings, overrides, err
}

// OverrideSiteSpaceCustomization merges a patch into the overrides of a site space. It returns the site's settings and
// the new overrides. Concurrent patches are applied one after the other, so that no patch is lost.
func (s *Store) OverrideSiteSpaceCustomization(
	ctx context.Context, siteID, siteSpaceID string, patch customization.Customization,
) (settings, overrides customization.Customization, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		_, err := q.LockSiteSpace(ctx, db.LockSiteSpaceParams{SiteSpaceID: siteSpaceID, SiteID: siteID})
		if err != nil {
			return postgres.Interpret(err, "site space")
		}
		settings, overrides, err = siteSpaceCustomization(ctx, q, siteID, siteSpaceID)
		if err != nil {
			return err
		}
		before := overrides
		overrides = customization.Merge(before, patch)
		overrides.SettleActions(customization.Overlay(customization.Default(), settings), before, patch)
		stored, err := postgres.ToJSON(overrides)
		if err != nil {
			return err
		}
		err = q.SaveSiteSpaceCustomization(ctx, db.SaveSiteSpaceCustomizationParams{
			SiteSpaceID: siteSpaceID, Overrides: stored,
		})
		return postgres.Interpret(err, "site space")
	})
	return settings, overrides, err
}

// DeleteSiteSpaceCustomization deletes all overrides of a site space, if there are any.
func (s *Store) DeleteSiteSpaceCustomization(ctx context.Context, siteID, siteSpaceID string) error {
	err := s.db.Queries.DeleteSiteSpaceCustomization(ctx, db.DeleteSiteSpaceCustomizationParams{
		SiteSpaceID: siteSpaceID, SiteID: siteID,
	})
	return postgres.Interpret(err, "site space")
}
