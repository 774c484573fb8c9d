package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// ContentInstallation is the installation of an integration on a space or a site.
type ContentInstallation struct {
	Row           db.IntegrationContentInstallation
	Installation  Installation
	Configuration map[string]any
}

// ContentRef names a space or a site. Exactly one of its fields is set.
type ContentRef struct{ Space, Site string }

// contentKind has the names that depend on whether a ContentRef is a space or a site.
type contentKind struct{ level, setup, deleted, what string }

func (r ContentRef) kind() contentKind {
	if r.Space != "" {
		return contentKind{"space", schema.EventSpaceInstallationSetup, schema.EventSpaceInstallationDeleted, "space"}
	}
	return contentKind{"site", schema.EventSiteInstallationSetup, schema.EventSiteInstallationDeleted, "site"}
}

// Level returns the name of the integration's configuration for this kind of content.
func (r ContentRef) Level() string { return r.kind().level }

// Status returns the state of the installation on the space or site.
func (c ContentInstallation) Status() string {
	ref := ContentRef{Space: postgres.Deref(c.Row.SpaceID), Site: postgres.Deref(c.Row.SiteID)}
	switch {
	case c.Installation.Row.Paused:
		return schema.InstallationPaused
	case !c.Installation.Manifest.Configurations.Of(ref.Level()).Complete(c.Configuration):
		return schema.InstallationPending
	}
	return schema.InstallationActive
}

func contentInstallationOf(i Installation, row db.IntegrationContentInstallation) (ContentInstallation, error) {
	configuration, err := postgres.FromJSON[map[string]any](row.Configuration)
	return ContentInstallation{Row: row, Installation: i, Configuration: configuration}, err
}

// InstallOn adds an installation to a space or site of its organization. It returns an error if the space or site
// already has the installation.
func (s *Store) InstallOn(ctx context.Context, i Installation, ref ContentRef) (made ContentInstallation, err error) {
	kind := ref.kind()
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		row, err := q.InsertContentInstallation(ctx, db.InsertContentInstallationParams{
			InstallationID: i.Row.ID, SpaceID: postgres.UnlessEmpty(ref.Space), SiteID: postgres.UnlessEmpty(ref.Site),
		})
		if err != nil {
			err = postgres.Interpret(err, "installation on the "+kind.what)
			if schema.IsCode(err, schema.CodeNotFound) {
				err = schema.NotFound(kind.what)
			}
			return err
		}
		if made, err = contentInstallationOf(i, row); err != nil {
			return err
		}
		return recordEvent(ctx, q, i, schema.IntegrationEventPayload{
			Type: kind.setup, SpaceID: ref.Space, SiteID: ref.Site, Status: made.Status(),
		})
	})
	return made, err
}

// ContentInstallation reads the installation on a space or site.
func (s *Store) ContentInstallation(ctx context.Context, i Installation, ref ContentRef) (ContentInstallation, error) {
	return lookUpContentInstallation(ctx, s.db.Queries, i, ref)
}

func lookUpContentInstallation(ctx context.Context, q *db.Queries, i Installation, ref ContentRef) (ContentInstallation, error) {
	row, err := q.ContentInstallation(ctx, db.ContentInstallationParams{
		InstallationID: i.Row.ID, SpaceID: postgres.UnlessEmpty(ref.Space), SiteID: postgres.UnlessEmpty(ref.Site),
	})
	if err != nil {
		return ContentInstallation{}, postgres.Interpret(err, "installation on the "+ref.kind().what)
	}
	return contentInstallationOf(i, row)
}

// UpdateContentInstallation changes the configuration or the external ids of the installation on a space or site. A nil
// argument leaves the value unchanged.
func (s *Store) UpdateContentInstallation(
	ctx context.Context, i Installation, ref ContentRef, configuration map[string]any, externalIDs []string,
) (changed ContentInstallation, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if _, err := q.LockInstallation(ctx, i.Row.ID); err != nil {
			return postgres.Interpret(err, "installation")
		}
		before, err := lookUpContentInstallation(ctx, q, i, ref)
		if err != nil {
			return err
		}
		written, err := stored(configuration)
		if err != nil {
			return err
		}
		row, err := q.UpdateContentInstallation(ctx, db.UpdateContentInstallationParams{
			InstallationID: i.Row.ID, SpaceID: postgres.UnlessEmpty(ref.Space), SiteID: postgres.UnlessEmpty(ref.Site),
			Configuration: written, ExternalIds: externalIDs,
		})
		if err != nil {
			return postgres.Interpret(err, "installation on the "+ref.kind().what)
		}
		if changed, err = contentInstallationOf(i, row); err != nil {
			return err
		}
		return recordEvent(ctx, q, i, schema.IntegrationEventPayload{
			Type: ref.kind().setup, SpaceID: ref.Space, SiteID: ref.Site, Status: changed.Status(),
			Previous: &schema.InstallationState{Status: before.Status(), Configuration: before.Configuration},
		})
	})
	return changed, err
}

// UninstallFrom removes an installation from a space or site. It succeeds if the space or site does not have the
// installation.
func (s *Store) UninstallFrom(ctx context.Context, i Installation, ref ContentRef) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if _, err := q.LockInstallation(ctx, i.Row.ID); err != nil {
			return postgres.Interpret(err, "installation")
		}
		before, err := lookUpContentInstallation(ctx, q, i, ref)
		if schema.IsCode(err, schema.CodeNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		err = q.DeleteContentInstallation(ctx, db.DeleteContentInstallationParams{
			InstallationID: i.Row.ID, SpaceID: postgres.UnlessEmpty(ref.Space), SiteID: postgres.UnlessEmpty(ref.Site),
		})
		if err != nil {
			return postgres.Interpret(err, "installation")
		}
		return recordEvent(ctx, q, i, schema.IntegrationEventPayload{
			Type: ref.kind().deleted, SpaceID: ref.Space, SiteID: ref.Site,
			Previous: &schema.InstallationState{Configuration: before.Configuration},
		})
	})
}

// ListContentInstallations lists the spaces or the sites that have an installation, after the id `after`.
func (s *Store) ListContentInstallations(
	ctx context.Context, i Installation, spaces bool, after string, size int,
) (postgres.Page[ContentInstallation], error) {
	var total int64
	var rows []db.IntegrationContentInstallation
	var err error
	if spaces {
		if total, err = s.db.Queries.CountInstallationSpaces(ctx, i.Row.ID); err == nil {
			rows, err = s.db.Queries.ListInstallationSpaces(ctx, db.ListInstallationSpacesParams{
				InstallationID: i.Row.ID, After: after, PageSize: postgres.PageSize(size),
			})
		}
	} else if total, err = s.db.Queries.CountInstallationSites(ctx, i.Row.ID); err == nil {
		rows, err = s.db.Queries.ListInstallationSites(ctx, db.ListInstallationSitesParams{
			InstallationID: i.Row.ID, After: after, PageSize: postgres.PageSize(size),
		})
	}
	if err != nil {
		return postgres.Page[ContentInstallation]{}, postgres.Interpret(err, "installations")
	}
	all := make([]ContentInstallation, len(rows))
	for n, row := range rows {
		if all[n], err = contentInstallationOf(i, row); err != nil {
			return postgres.Page[ContentInstallation]{}, err
		}
	}
	return postgres.PageOf(all, size, total), nil
}
