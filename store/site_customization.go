package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// SiteCustomization reads what a site sets; all of it is absent where nothing was set.
func (s *Store) SiteCustomization(ctx context.Context, siteID string) (schema.Customization, error) {
	stored, err := s.queries.SiteCustomization(ctx, siteID)
	if errors.Is(err, pgx.ErrNoRows) {
		return schema.Customization{}, nil
	}
	if err != nil {
		return schema.Customization{}, interpret(err, "customization")
	}
	return fromJSON[schema.Customization](stored)
}

// SetSiteCustomization replaces what a site sets. The settings hold no nulls.
func (s *Store) SetSiteCustomization(ctx context.Context, siteID string, settings schema.Customization) error {
	stored, err := toJSON(settings)
	if err != nil {
		return err
	}
	err = s.queries.SaveSiteCustomization(ctx, db.SaveSiteCustomizationParams{SiteID: siteID, Settings: stored})
	return interpret(err, "site")
}

// SiteSpaceCustomization reads what a site sets and what one of its site spaces overrides.
func (s *Store) SiteSpaceCustomization(
	ctx context.Context, siteID, siteSpaceID string,
) (settings, overrides schema.Customization, err error) {
	return siteSpaceCustomization(ctx, s.queries, siteID, siteSpaceID)
}

func siteSpaceCustomization(
	ctx context.Context, q *db.Queries, siteID, siteSpaceID string,
) (settings, overrides schema.Customization, err error) {
	row, err := q.SiteSpaceCustomization(ctx, db.SiteSpaceCustomizationParams{SiteSpaceID: siteSpaceID, SiteID: siteID})
	if err != nil {
		return settings, overrides, interpret(err, "site space")
	}
	if settings, err = fromJSON[schema.Customization](row.Settings); err != nil {
		return settings, overrides, err
	}
	overrides, err = fromJSON[schema.Customization](row.Overrides)
	return settings, overrides, err
}

// OverrideSiteSpaceCustomization merges a patch into what a site space overrides, and gives the site's settings with the
// overrides as they are then. Patches that come together are applied one after the other: none is lost.
func (s *Store) OverrideSiteSpaceCustomization(
	ctx context.Context, siteID, siteSpaceID string, patch schema.Customization,
) (settings, overrides schema.Customization, err error) {
	err = s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		_, err := q.LockSiteSpace(ctx, db.LockSiteSpaceParams{SiteSpaceID: siteSpaceID, SiteID: siteID})
		if err != nil {
			return interpret(err, "site space")
		}
		settings, overrides, err = siteSpaceCustomization(ctx, q, siteID, siteSpaceID)
		if err != nil {
			return err
		}
		overrides = schema.Merge(overrides, patch)
		stored, err := toJSON(overrides)
		if err != nil {
			return err
		}
		err = q.SaveSiteSpaceCustomization(ctx, db.SaveSiteSpaceCustomizationParams{SiteSpaceID: siteSpaceID, Overrides: stored})
		return interpret(err, "site space")
	})
	return settings, overrides, err
}

// DeleteSiteSpaceCustomization removes all that a site space overrides. It is no mistake if that was nothing.
func (s *Store) DeleteSiteSpaceCustomization(ctx context.Context, siteID, siteSpaceID string) error {
	err := s.queries.DeleteSiteSpaceCustomization(ctx, db.DeleteSiteSpaceCustomizationParams{
		SiteSpaceID: siteSpaceID, SiteID: siteID,
	})
	return interpret(err, "site space")
}
