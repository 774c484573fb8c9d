package orgs

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// SAMLProvider is a row of the table saml_providers.
type SAMLProvider = db.SamlProvider

// NewSAMLProvider has the values of a new provider. All values except the label may be set later.
type NewSAMLProvider struct {
	OrganizationID string
	Label          string
	EntityID       *string
	Certificate    *string
	// CertificateUsable is true if Certificate can verify a login. Without such a certificate, the provider stays
	// pending.
	CertificateUsable bool
	SSOURL            *string
	DefaultRole       *string
	DefaultTeam       *string
}

// CreateSAMLProvider adds a provider. The default team must belong to the organization.
func (s *Store) CreateSAMLProvider(ctx context.Context, p NewSAMLProvider) (SAMLProvider, error) {
	if err := s.requireTeam(ctx, p.OrganizationID, p.DefaultTeam); err != nil {
		return SAMLProvider{}, err
	}
	row, err := s.db.Queries.InsertSAMLProvider(ctx, db.InsertSAMLProviderParams{
		ID: schema.NewID(), OrganizationID: p.OrganizationID, Label: p.Label, EntityID: p.EntityID, Certificate: p.Certificate,
		CertificateUsable: p.CertificateUsable,
		SsoUrl:            p.SSOURL, DefaultRole: p.DefaultRole, DefaultTeamID: p.DefaultTeam,
	})
	return row, postgres.Interpret(err, "SAML provider")
}

// requireTeam returns an error if a team does not belong to the organization. A team never changes its organization. If
// the team is deleted after this check, the statement that stores the provider fails because of its foreign key.
func (s *Store) requireTeam(ctx context.Context, organizationID string, id *string) error {
	if id == nil {
		return nil
	}
	_, err := s.db.Queries.TeamInOrganization(ctx, db.TeamInOrganizationParams{ID: *id, OrganizationID: organizationID})
	if err = postgres.Interpret(err, "team"); schema.IsCode(err, schema.CodeNotFound) {
		return schema.Invalid("defaultTeam", "names no team of this organization")
	}
	return err
}

// SAMLProviderChange has the new values of a provider. Nil and unset fields leave the value unchanged.
type SAMLProviderChange struct {
	Label       *string
	EntityID    schema.Opt[string]
	Certificate schema.Opt[string]
	// CertificateUsable belongs to the certificate, as in NewSAMLProvider.
	CertificateUsable bool
	SSOURL            schema.Opt[string]
	DefaultRole       schema.Opt[string]
	DefaultTeam       schema.Opt[string]
}

// UpdateSAMLProvider changes a provider of an organization.
func (s *Store) UpdateSAMLProvider(ctx context.Context, organizationID, id string, c SAMLProviderChange) (SAMLProvider, error) {
	if err := s.requireTeam(ctx, organizationID, c.DefaultTeam.Value); err != nil {
		return SAMLProvider{}, err
	}
	row, err := s.db.Queries.UpdateSAMLProvider(ctx, db.UpdateSAMLProviderParams{
		OrganizationID: organizationID, ID: id, Label: c.Label,
		SetEntityID: c.EntityID.Set, EntityID: c.EntityID.Value,
		SetCertificate: c.Certificate.Set, Certificate: c.Certificate.Value, CertificateUsable: c.CertificateUsable,
		SetSsoUrl: c.SSOURL.Set, SsoUrl: c.SSOURL.Value,
		SetDefaultRole: c.DefaultRole.Set, DefaultRole: c.DefaultRole.Value,
		SetDefaultTeam: c.DefaultTeam.Set, DefaultTeam: c.DefaultTeam.Value,
	})
	return row, postgres.Interpret(err, "SAML provider")
}

// SAMLProvider reads a provider of an organization.
func (s *Store) SAMLProvider(ctx context.Context, organizationID, id string) (SAMLProvider, error) {
	row, err := s.db.Queries.SAMLProviderByID(ctx, db.SAMLProviderByIDParams{ID: id, OrganizationID: organizationID})
	return row, postgres.Interpret(err, "SAML provider")
}

// DeleteSAMLProvider deletes a provider, if it exists.
func (s *Store) DeleteSAMLProvider(ctx context.Context, organizationID, id string) error {
	err := s.db.Queries.DeleteSAMLProvider(ctx, db.DeleteSAMLProviderParams{ID: id, OrganizationID: organizationID})
	return postgres.Interpret(err, "SAML provider")
}

// ListSAMLProviders lists an organization's providers in the order of their creation. The list begins after the id
// `after`.
func (s *Store) ListSAMLProviders(
	ctx context.Context, organizationID, after string, size int,
) (postgres.Page[SAMLProvider], error) {
	total, err := s.db.Queries.CountSAMLProviders(ctx, organizationID)
	if err != nil {
		return postgres.Page[SAMLProvider]{}, postgres.Interpret(err, "SAML providers")
	}
	rows, err := s.db.Queries.ListSAMLProviders(ctx, db.ListSAMLProvidersParams{
		OrganizationID: organizationID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[SAMLProvider]{}, postgres.Interpret(err, "SAML providers")
	}
	return postgres.PageOf(rows, size, total), nil
}

// DefaultTeams returns the default teams of providers as the user sees them, by team id.
func (s *Store) DefaultTeams(ctx context.Context, userID string, providers ...SAMLProvider) (map[string]TeamRow, error) {
	ids := []string{}
	for _, p := range providers {
		if p.DefaultTeamID != nil {
			ids = append(ids, *p.DefaultTeamID)
		}
	}
	teams := make(map[string]TeamRow, len(ids))
	if len(ids) == 0 {
		return teams, nil
	}
	found, err := s.db.Queries.TeamsByID(ctx, ids)
	if err != nil {
		return nil, postgres.Interpret(err, "teams")
	}
	rows, err := s.TeamRows(ctx, s.db.Queries, userID, found)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		teams[row.Team.ID] = row
	}
	return teams, nil
}

// SSOLogin is a provider in the form in which a person who wants to log in sees it.
type SSOLogin = db.ActiveSAMLProvidersRow

// SSOLogins returns the providers of an organization that accept logins.
func (s *Store) SSOLogins(ctx context.Context, organizationID string) ([]SSOLogin, error) {
	rows, err := s.db.Queries.ActiveSAMLProviders(ctx, organizationID)
	return rows, postgres.Interpret(err, "SAML providers")
}
