package store

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// SAMLProvider is a row of its table.
type SAMLProvider = db.SamlProvider

// NewSAMLProvider is what a provider is made of; all but the label may come later.
type NewSAMLProvider struct {
	OrganizationID string
	Label          string
	EntityID       *string
	Certificate    *string
	SSOURL         *string
	DefaultRole    *string
}

// CreateSAMLProvider adds a provider.
func (s *Store) CreateSAMLProvider(ctx context.Context, p NewSAMLProvider) (SAMLProvider, error) {
	row, err := s.queries.InsertSAMLProvider(ctx, db.InsertSAMLProviderParams{
		ID: schema.NewID(), OrganizationID: p.OrganizationID, Label: p.Label, EntityID: p.EntityID, Certificate: p.Certificate,
		SsoUrl: p.SSOURL, DefaultRole: p.DefaultRole,
	})
	return row, interpret(err, "SAML provider")
}

// SAMLProviderChange says what of a provider changes; what is not set stays.
type SAMLProviderChange struct {
	Label       *string
	EntityID    schema.Opt[string]
	Certificate schema.Opt[string]
	SSOURL      schema.Opt[string]
	DefaultRole schema.Opt[string]
}

// UpdateSAMLProvider changes a provider of an organization.
func (s *Store) UpdateSAMLProvider(ctx context.Context, organizationID, id string, c SAMLProviderChange) (SAMLProvider, error) {
	row, err := s.queries.UpdateSAMLProvider(ctx, db.UpdateSAMLProviderParams{
		OrganizationID: organizationID, ID: id, Label: c.Label,
		SetEntityID: c.EntityID.Set, EntityID: c.EntityID.Value,
		SetCertificate: c.Certificate.Set, Certificate: c.Certificate.Value,
		SetSsoUrl: c.SSOURL.Set, SsoUrl: c.SSOURL.Value,
		SetDefaultRole: c.DefaultRole.Set, DefaultRole: c.DefaultRole.Value,
	})
	return row, interpret(err, "SAML provider")
}

// SAMLProvider reads a provider of an organization.
func (s *Store) SAMLProvider(ctx context.Context, organizationID, id string) (SAMLProvider, error) {
	row, err := s.queries.SAMLProviderByID(ctx, db.SAMLProviderByIDParams{ID: id, OrganizationID: organizationID})
	return row, interpret(err, "SAML provider")
}

// DeleteSAMLProvider deletes a provider if it is there.
func (s *Store) DeleteSAMLProvider(ctx context.Context, organizationID, id string) error {
	err := s.queries.DeleteSAMLProvider(ctx, db.DeleteSAMLProviderParams{ID: id, OrganizationID: organizationID})
	return interpret(err, "SAML provider")
}

// ListSAMLProviders lists an organization's providers in the order they were made, after the id `after`.
func (s *Store) ListSAMLProviders(ctx context.Context, organizationID, after string, size int) (Page[SAMLProvider], error) {
	total, err := s.queries.CountSAMLProviders(ctx, organizationID)
	if err != nil {
		return Page[SAMLProvider]{}, interpret(err, "SAML providers")
	}
	rows, err := s.queries.ListSAMLProviders(ctx, db.ListSAMLProvidersParams{
		OrganizationID: organizationID, After: after, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[SAMLProvider]{}, interpret(err, "SAML providers")
	}
	return pageOf(rows, size, total), nil
}

// SSOLogin is what somebody who wants to log in sees of a provider.
type SSOLogin = db.ActiveSAMLProvidersRow

// SSOLogins gives the providers of an organization that one can log in with.
func (s *Store) SSOLogins(ctx context.Context, organizationID string) ([]SSOLogin, error) {
	rows, err := s.queries.ActiveSAMLProviders(ctx, organizationID)
	return rows, interpret(err, "SAML providers")
}
