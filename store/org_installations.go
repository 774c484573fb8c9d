package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Installation is an integration that an organization has installed. Role is the role of the requesting user in the
// organization, or "" if there is no user.
type Installation struct {
	Row db.IntegrationInstallation
	// Manifest is the manifest of the integration's newest version.
	Manifest schema.IntegrationManifest
	Role     schema.Role
	// Spaces is the number of spaces that have the installation.
	Spaces        int64
	Configuration map[string]any
}

// Status returns the state of the installation.
func (i Installation) Status() string {
	switch {
	case i.Row.Paused:
		return schema.InstallationPaused
	case !i.Manifest.Configurations.Of("account").Complete(i.Configuration):
		return schema.InstallationPending
	}
	return schema.InstallationActive
}

func (i Installation) state() *schema.InstallationState {
	return &schema.InstallationState{Status: i.Status(), Configuration: i.Configuration}
}

func installationOf(row db.IntegrationInstallation, manifest schema.IntegrationManifest) (Installation, error) {
	configuration, err := postgres.FromJSON[map[string]any](row.Configuration)
	return Installation{Row: row, Manifest: manifest, Configuration: configuration}, err
}

func readInstallation(row db.IntegrationInstallation, manifest []byte) (Installation, error) {
	read, err := postgres.FromJSON[schema.IntegrationManifest](manifest)
	if err != nil {
		return Installation{}, err
	}
	return installationOf(row, read)
}

// countSpaces sets the field Spaces of installations, with one statement.
func (s *Store) countSpaces(ctx context.Context, q *db.Queries, installations ...*Installation) error {
	if len(installations) == 0 {
		return nil
	}
	ids := make([]string, len(installations))
	for i, installation := range installations {
		ids[i] = installation.Row.ID
	}
	rows, err := q.CountInstalledSpaces(ctx, ids)
	if err != nil {
		return postgres.Interpret(err, "installation")
	}
	counts := make(map[string]int64, len(rows))
	for _, row := range rows {
		counts[row.ID] = row.Spaces
	}
	for _, installation := range installations {
		installation.Spaces = counts[installation.Row.ID]
	}
	return nil
}

// InstallIntegration installs an integration in an organization. It returns an error if the organization already has
// the integration. The organization allows the scopes that the integration requests now. The installation's tokens do
// not get scopes that only later versions request.
func (s *Store) InstallIntegration(
	ctx context.Context, integration Integration, target orgs.Membership,
) (made Installation, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		author, err := orgs.InsertUser(ctx, q, orgs.NewUser{DisplayName: *integration.Manifest.Title})
		if err != nil {
			return err
		}
		row, err := q.InsertInstallation(ctx, db.InsertInstallationParams{
			ID: schema.NewID(), Integration: integration.Name, OrganizationID: target.Organization.ID,
			Scopes: postgres.NotNil(integration.Manifest.Scopes), UserID: author.ID,
		})
		if err != nil {
			return postgres.Interpret(err, "installation")
		}
		made = Installation{
			Row: row, Manifest: integration.Manifest, Role: target.Role, Configuration: map[string]any{},
		}
		if err := s.countSpaces(ctx, q, &made); err != nil {
			return err
		}
		return recordEvent(ctx, q, made, schema.IntegrationEventPayload{Type: schema.EventInstallationSetup, Status: made.Status()})
	})
	return made, err
}

// Installation reads an installation. It returns not_found if the user is not in the installation's organization.
func (s *Store) Installation(ctx context.Context, userID, name, id string) (Installation, error) {
	row, err := s.db.Queries.InstallationForUser(ctx, db.InstallationForUserParams{
		UserID: userID, ID: id, Integration: name,
	})
	if err != nil {
		return Installation{}, postgres.Interpret(err, "installation")
	}
	i, err := readInstallation(row.IntegrationInstallation, row.Manifest)
	if err != nil {
		return i, err
	}
	i.Role = schema.RoleFromNullable(row.Role)
	return i, s.countSpaces(ctx, s.db.Queries, &i)
}

// InstallationOf reads an installation of an integration. The caller must have checked that the user may see all
// installations of the integration.
func (s *Store) InstallationOf(ctx context.Context, name, id string) (Installation, error) {
	i, err := lookUpInstallation(ctx, s.db.Queries, name, id)
	if err != nil {
		return i, err
	}
	return i, s.countSpaces(ctx, s.db.Queries, &i)
}

func lookUpInstallation(ctx context.Context, q *db.Queries, name, id string) (Installation, error) {
	row, err := q.InstallationByID(ctx, db.InstallationByIDParams{ID: id, Integration: name})
	if err != nil {
		return Installation{}, postgres.Interpret(err, "installation")
	}
	return readInstallation(row.IntegrationInstallation, row.Manifest)
}

// InstallationChange has the new values of an installation. Nil fields leave the value unchanged.
type InstallationChange struct {
	Configuration                 map[string]any
	ExternalIDs, Scopes           []string
	Paused                        *bool
	SpaceSelection, SiteSelection *string
}

// UpdateInstallation changes an installation.
func (s *Store) UpdateInstallation(ctx context.Context, name, id string, change InstallationChange) (changed Installation, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if _, err := q.LockInstallation(ctx, id); err != nil {
			return postgres.Interpret(err, "installation")
		}
		before, err := lookUpInstallation(ctx, q, name, id)
		if err != nil {
			return err
		}
		configuration, err := stored(change.Configuration)
		if err != nil {
			return err
		}
		row, err := q.UpdateInstallation(ctx, db.UpdateInstallationParams{
			ID: id, Configuration: configuration, ExternalIds: change.ExternalIDs, Scopes: change.Scopes, Paused: change.Paused,
			SpaceSelection: change.SpaceSelection, SiteSelection: change.SiteSelection,
		})
		if err != nil {
			return postgres.Interpret(err, "installation")
		}
		changed = before
		changed.Row = row
		if change.Configuration != nil {
			changed.Configuration = change.Configuration
		}
		if err := s.countSpaces(ctx, q, &changed); err != nil {
			return err
		}
		return recordEvent(ctx, q, changed, schema.IntegrationEventPayload{
			Type: schema.EventInstallationSetup, Status: changed.Status(), Previous: before.state(),
		})
	})
	return changed, err
}

// stored encodes a configuration for its column. It returns nil for nil, which leaves the column unchanged.
func stored(configuration map[string]any) ([]byte, error) {
	if configuration == nil {
		return nil, nil
	}
	return postgres.ToJSON(configuration)
}

// Uninstall removes an installation from an organization, which also ends the installation's tokens. It succeeds if the
// installation does not exist.
func (s *Store) Uninstall(ctx context.Context, name, id string) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if _, err := q.LockInstallation(ctx, id); err != nil {
			if err = postgres.Interpret(err, "installation"); schema.IsCode(err, schema.CodeNotFound) {
				return nil
			}
			return err
		}
		before, err := lookUpInstallation(ctx, q, name, id)
		if err != nil {
			return err
		}
		if err := q.DeleteInstallation(ctx, id); err != nil {
			return postgres.Interpret(err, "installation")
		}
		return recordEvent(ctx, q, before, schema.IntegrationEventPayload{
			Type: schema.EventInstallationDeleted, Previous: &schema.InstallationState{Configuration: before.Configuration},
		})
	})
}

// ListInstallations lists the installations of an integration, after the id `after`. If externalID is set, the list has
// only installations with this external id.
func (s *Store) ListInstallations(
	ctx context.Context, integration Integration, externalID *string, after string, size int,
) (postgres.Page[Installation], error) {
	name := integration.Name
	total, err := s.db.Planned.CountInstallationsOfIntegration(ctx, db.CountInstallationsOfIntegrationParams{
		Integration: name, ExternalID: externalID,
	})
	if err != nil {
		return postgres.Page[Installation]{}, postgres.Interpret(err, "installations")
	}
	rows, err := s.db.Planned.ListInstallationsOfIntegration(ctx, db.ListInstallationsOfIntegrationParams{
		Integration: name, ExternalID: externalID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Installation]{}, postgres.Interpret(err, "installations")
	}
	all := make([]Installation, len(rows))
	each := make([]*Installation, len(rows))
	for i, row := range rows {
		if all[i], err = installationOf(row, integration.Manifest); err != nil {
			return postgres.Page[Installation]{}, err
		}
		each[i] = &all[i]
	}
	return postgres.PageOf(all, size, total), s.countSpaces(ctx, s.db.Queries, each...)
}

// Installed is an installation with its integration.
type Installed struct {
	Installation Installation
	Integration  Integration
}

// ListInstalled lists the installations in an organization of the user, after the id `after`. If `search` is set, the
// list has only integrations that match it.
func (s *Store) ListInstalled(
	ctx context.Context, target orgs.Membership, userID string, search *string, after string, size int,
) (postgres.Page[Installed], error) {
	organization := target.Organization.ID
	total, err := s.db.Planned.CountInstallationsInOrganization(ctx, db.CountInstallationsInOrganizationParams{
		OrganizationID: organization, Search: search,
	})
	if err != nil {
		return postgres.Page[Installed]{}, postgres.Interpret(err, "installations")
	}
	rows, err := s.db.Planned.ListInstallationsInOrganization(ctx, db.ListInstallationsInOrganizationParams{
		OrganizationID: organization, UserID: userID, Search: search, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Installed]{}, postgres.Interpret(err, "installations")
	}
	all := make([]Installed, len(rows))
	each := make([]*Installation, len(rows))
	for i, row := range rows {
		integration, err := integrationOf(db.ListIntegrationsRow{
			Name: row.Name, Version: row.Version, Verified: row.Verified, Manifest: row.Manifest, Icon: row.Icon, PreviewImages: row.PreviewImages,
			Organization: row.Organization, IsMember: row.IsMember, Role: row.Role,
		})
		if err != nil {
			return postgres.Page[Installed]{}, err
		}
		installation, err := installationOf(row.IntegrationInstallation, integration.Manifest)
		if err != nil {
			return postgres.Page[Installed]{}, err
		}
		installation.Role = target.Role
		all[i] = Installed{Installation: installation, Integration: integration}
		each[i] = &all[i].Installation
	}
	return postgres.PageOf(all, size, total), s.countSpaces(ctx, s.db.Queries, each...)
}

// InstalledIn reads the installation of an integration in an organization.
func (s *Store) InstalledIn(ctx context.Context, organizationID, name string) (Installation, error) {
	row, err := s.db.Queries.InstallationInOrganization(ctx, db.InstallationInOrganizationParams{
		OrganizationID: organizationID, Integration: name,
	})
	if err != nil {
		return Installation{}, postgres.Interpret(err, "installation")
	}
	return readInstallation(row.IntegrationInstallation, row.Manifest)
}

// AllowsScopes reports whether the manifest of the installation's integration requests all of the given scopes.
func (i Installation) AllowsScopes(scopes []string) bool {
	return !slices.ContainsFunc(scopes, func(scope string) bool { return !slices.Contains(i.Manifest.Scopes, scope) })
}
