package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

const (
	// integrationSigningKeyName is the name of a key. The signing secrets of integrations are derived from this key. A
	// release may change the name, because each event that an integration receives contains the current secret.
	integrationSigningKeyName = "integration-signature"
	// integrationTokenLife is the lifetime of a token of an integration or of an installation.
	integrationTokenLife = time.Hour
	// integrationTokens is the largest number of valid tokens of one integration or installation. If there are more,
	// the oldest token becomes invalid.
	integrationTokens = 200
)

// CreateIntegrationToken creates a token of an integration, or of an installation if `installation` is not "". Only the
// token's hash is stored.
func (s *Store) CreateIntegrationToken(ctx context.Context, name, installation string) (token string, expiresAt time.Time, err error) {
	token, expiresAt = schema.NewIntegrationToken(), time.Now().Add(integrationTokenLife).UTC().Truncate(time.Second)
	hash := schema.HashToken([]byte(token))
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		err := q.InsertIntegrationToken(ctx, db.InsertIntegrationTokenParams{
			ID: schema.NewID(), Hash: hash[:], Integration: name, InstallationID: postgres.UnlessEmpty(installation),
			ExpiresAt: expiresAt,
		})
		if err == nil {
			err = q.DeleteOldIntegrationTokens(ctx, db.DeleteOldIntegrationTokensParams{
				Integration: name, InstallationID: postgres.UnlessEmpty(installation), Kept: integrationTokens,
			})
		}
		return postgres.Interpret(err, "token")
	})
	return token, expiresAt, err
}

// AuthenticateIntegration returns the principal of a token that belongs to an integration or an installation.
func (s *Store) AuthenticateIntegration(ctx context.Context, hash schema.TokenHash) (Principal, error) {
	row, err := s.db.Queries.IntegrationTokenByHash(ctx, hash[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return Principal{}, schema.Unauthorized("the token is not valid")
	}
	if err != nil {
		return Principal{}, postgres.Interpret(err, "token")
	}
	p := Principal{
		// All tokens of one integration or installation have the same TokenID, so that rate limits count them together.
		TokenID: "integration/" + row.Integration, Kind: schema.TokenIntegration, Integration: row.Integration, OrganizationID: row.Owner,
		ExpiresAt: row.ExpiresAt,
	}
	if row.InstallationID != nil {
		p.TokenID, p.Kind, p.InstallationID = "installation/"+*row.InstallationID, schema.TokenInstallation, *row.InstallationID
		p.OrganizationID, p.UserID = postgres.Deref(row.OrganizationID), postgres.Deref(row.UserID)
		p.Scopes = row.Scopes
	}
	return p, nil
}

// IntegrationSigningSecret returns the secret with which an integration verifies that calls come from this service.
// Each owner of a name has a different secret, which never changes. So a former owner of the name does not know the
// secret of the current owner.
func (s *Store) IntegrationSigningSecret(ctx context.Context, name, owner string) (string, error) {
	key, err := s.db.Key(ctx, integrationSigningKeyName)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(owner + "/" + name))
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// SpaceOfInstallation reads a space that an installation covers. A paused installation covers no spaces.
func (s *Store) SpaceOfInstallation(ctx context.Context, installation, space string) (Space, error) {
	row, err := s.db.Queries.SpaceOfInstallation(ctx, db.SpaceOfInstallationParams{
		InstallationID: installation, SpaceID: space,
	})
	return row.Space, postgres.Interpret(err, "space")
}

// SiteOfInstallation reads a site that an installation covers. A paused installation covers no sites.
func (s *Store) SiteOfInstallation(ctx context.Context, installation, organization, site string) (sites.Row, error) {
	row, err := s.db.Queries.SiteOfInstallation(ctx, db.SiteOfInstallationParams{
		InstallationID: installation, OrganizationID: organization, SiteID: site,
	})
	return sites.Row{Site: row.Site, SiteSpaces: row.SiteSpaces}, postgres.Interpret(err, "site")
}

// OrganizationOfInstallation reads the organization of an installation.
func (s *Store) OrganizationOfInstallation(
	ctx context.Context, installation, organization string,
) (orgs.Organization, error) {
	row, err := s.db.Queries.OrganizationOfInstallation(ctx, db.OrganizationOfInstallationParams{
		InstallationID: installation, OrganizationID: organization,
	})
	return row.Organization, postgres.Interpret(err, "organization")
}
