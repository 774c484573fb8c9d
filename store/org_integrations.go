package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// Integration is an integration as a user sees it. Owner's role means something only if the user IsMember.
type Integration struct {
	Name          string
	Version       int32
	Verified      bool
	Manifest      schema.IntegrationManifest
	Icon          *string
	PreviewImages []string
	Owner         Membership
	IsMember      bool
}

// IntegrationAsset is a picture of an integration. Its id is made of its bytes.
type IntegrationAsset struct {
	ID          string
	ContentType string
	Content     []byte
}

// NewIntegration is what is published under a name. The manifest is normalized.
type NewIntegration struct {
	Name     string
	Manifest schema.IntegrationManifest
	Script   string
	// Secrets are what the script may read when it runs.
	Secrets       map[string]string
	Icon          *IntegrationAsset
	PreviewImages []IntegrationAsset
}

// OrganizationByName reads an organization that the user is in by its id or its hostname; any other is not found.
func (s *Store) OrganizationByName(ctx context.Context, userID, idOrHostname string) (Membership, error) {
	row, err := s.queries.OrganizationByIDOrHostname(ctx, db.OrganizationByIDOrHostnameParams{UserID: userID, Name: idOrHostname})
	if err != nil {
		return Membership{}, interpret(err, "organization")
	}
	return Membership{Organization: row.Organization, Role: schema.RoleFromNullable(row.Role)}, nil
}

// PublishIntegration makes the first or the next version of an integration. If another organization owns the name, it is refused,
// and not found if the user may not see that integration.
func (s *Store) PublishIntegration(
	ctx context.Context, userID string, owner Membership, n NewIntegration,
) (Integration, error) {
	params, assets, err := s.publishing(ctx, owner, n)
	if err != nil {
		return Integration{}, err
	}
	var published db.Integration
	err = s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		published, err = q.PublishIntegration(ctx, params)
		if errors.Is(err, pgx.ErrNoRows) {
			if _, err := q.IntegrationForUser(ctx, db.IntegrationForUserParams{UserID: userID, Name: n.Name}); err != nil {
				return interpret(err, "integration")
			}
			return schema.Forbidden("the integration belongs to another organization")
		}
		if err != nil {
			return interpret(err, "integration")
		}
		if published.Version == 1 {
			if err := s.within(ctx, q, quotaIntegrations, owner.Organization.ID); err != nil {
				return err
			}
		}
		keep := []string{}
		for _, asset := range assets {
			keep = append(keep, asset.ID)
			err := q.InsertIntegrationAsset(ctx, db.InsertIntegrationAssetParams{
				Integration: n.Name, ID: asset.ID, ContentType: asset.ContentType, Content: asset.Content,
			})
			if err != nil {
				return interpret(err, "integration")
			}
		}
		err := q.DeleteOtherIntegrationAssets(ctx, db.DeleteOtherIntegrationAssetsParams{Integration: n.Name, Keep: keep})
		return interpret(err, "integration")
	})
	if err != nil {
		return Integration{}, err
	}
	return Integration{
		Name: n.Name, Version: published.Version, Verified: published.Verified, Manifest: n.Manifest, Icon: published.Icon,
		PreviewImages: published.PreviewImages, Owner: owner, IsMember: true,
	}, nil
}

// publishing makes the row of a new version.
func (s *Store) publishing(
	ctx context.Context, owner Membership, n NewIntegration,
) (db.PublishIntegrationParams, []IntegrationAsset, error) {
	m := &n.Manifest
	params := db.PublishIntegrationParams{
		Name: n.Name, OrganizationID: owner.Organization.ID, Visibility: *m.Visibility, Target: *m.Target, Script: n.Script,
		Title: *m.Title, Scopes: notNil(m.Scopes), Categories: notNil(m.Categories), BlockDomains: m.BlockDomains(),
		HasBlocks: len(m.Blocks) > 0, HasContentSources: len(m.ContentSources) > 0, PreviewImages: []string{},
	}
	var err error
	if params.Manifest, err = toJSON(m); err != nil {
		return params, nil, err
	}
	assets := n.PreviewImages
	for _, image := range n.PreviewImages {
		params.PreviewImages = append(params.PreviewImages, image.ID)
	}
	if n.Icon != nil {
		params.Icon = &n.Icon.ID
		assets = append(assets, *n.Icon)
	}
	if len(n.Secrets) > 0 {
		secrets, err := toJSON(n.Secrets)
		if err != nil {
			return params, nil, err
		}
		if params.Secrets, err = s.seal(ctx, "integration "+n.Name, secrets); err != nil {
			return params, nil, err
		}
	}
	return params, assets, nil
}

// IntegrationSecrets reads the secrets of an integration for its script. No answer ever contains them.
func (s *Store) IntegrationSecrets(ctx context.Context, name string) (map[string]string, error) {
	sealed, err := s.queries.IntegrationSecrets(ctx, name)
	if err != nil || sealed == nil {
		return nil, interpret(err, "integration")
	}
	secrets, err := s.unseal(ctx, "integration "+name, sealed)
	if err != nil {
		return nil, err
	}
	return fromJSON[map[string]string](secrets)
}

// Integration reads an integration that the user may see; any other is not found.
func (s *Store) Integration(ctx context.Context, userID, name string) (Integration, error) {
	row, err := s.queries.IntegrationForUser(ctx, db.IntegrationForUserParams{UserID: userID, Name: name})
	if err != nil {
		return Integration{}, interpret(err, "integration")
	}
	return integrationOf(db.ListIntegrationsRow(row))
}

func integrationOf(row db.ListIntegrationsRow) (Integration, error) {
	manifest, err := fromJSON[schema.IntegrationManifest](row.Manifest)
	if err != nil {
		return Integration{}, err
	}
	return Integration{
		Name: row.Name, Version: row.Version, Verified: row.Verified, Manifest: manifest, Icon: row.Icon,
		PreviewImages: row.PreviewImages, IsMember: row.IsMember,
		Owner: Membership{Organization: row.Organization, Role: schema.RoleFromNullable(row.Role)},
	}, nil
}

// IntegrationFilter narrows a list of integrations; nil members let everything through.
type IntegrationFilter struct {
	Search, Category, BlockDomain, Owner, Scope, Target *string
	Blocks, ContentSources                              *bool
}

// ListIntegrations lists the public integrations by name, after the name `after`, as the user sees them.
func (s *Store) ListIntegrations(
	ctx context.Context, userID string, f IntegrationFilter, after string, size int,
) (Page[Integration], error) {
	total, err := s.planned.CountIntegrations(ctx, db.CountIntegrationsParams{
		Search: f.Search, Category: f.Category, Scope: f.Scope, Target: f.Target, Owner: f.Owner, Blocks: f.Blocks,
		ContentSources: f.ContentSources, BlockDomain: f.BlockDomain,
	})
	if err != nil {
		return Page[Integration]{}, interpret(err, "integrations")
	}
	rows, err := s.planned.ListIntegrations(ctx, db.ListIntegrationsParams{
		UserID: userID, Search: f.Search, Category: f.Category, Scope: f.Scope, Target: f.Target, Owner: f.Owner, Blocks: f.Blocks,
		ContentSources: f.ContentSources, BlockDomain: f.BlockDomain, After: after, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[Integration]{}, interpret(err, "integrations")
	}
	integrations := make([]Integration, len(rows))
	for i, row := range rows {
		if integrations[i], err = integrationOf(row); err != nil {
			return Page[Integration]{}, err
		}
	}
	return pageOf(integrations, size, total), nil
}

// IntegrationAsset reads a picture. Its id works like a secret: only those who were shown the integration know it.
func (s *Store) IntegrationAsset(ctx context.Context, name, id string) (IntegrationAsset, error) {
	row, err := s.queries.IntegrationAsset(ctx, db.IntegrationAssetParams{Integration: name, ID: id})
	if err != nil {
		return IntegrationAsset{}, interpret(err, "asset")
	}
	return IntegrationAsset{ID: id, ContentType: row.ContentType, Content: row.Content}, nil
}

// Installation is an integration in an organization, with the number of the organization's spaces, which are all in it.
type Installation struct {
	Row    db.IntegrationInstallation
	Role   schema.Role
	Spaces int64
}

// InstallIntegration puts an integration into an organization, once.
func (s *Store) InstallIntegration(ctx context.Context, name string, target Membership) (Installation, error) {
	row, err := s.queries.InsertInstallation(ctx, db.InsertInstallationParams{
		ID: schema.NewID(), Integration: name, OrganizationID: target.Organization.ID,
	})
	if err != nil {
		return Installation{}, interpret(err, "installation")
	}
	return s.installation(ctx, row, target.Role)
}

// Installation reads an installation in an organization that the user is in; any other is not found.
func (s *Store) Installation(ctx context.Context, userID, name, id string) (Installation, error) {
	row, err := s.queries.InstallationForUser(ctx, db.InstallationForUserParams{UserID: userID, ID: id, Integration: name})
	if err != nil {
		return Installation{}, interpret(err, "installation")
	}
	return s.installation(ctx, row.IntegrationInstallation, schema.RoleFromNullable(row.Role))
}

func (s *Store) installation(ctx context.Context, row db.IntegrationInstallation, role schema.Role) (Installation, error) {
	spaces, err := s.queries.CountInstalledSpaces(ctx, row.OrganizationID)
	return Installation{Row: row, Role: role, Spaces: spaces}, interpret(err, "installation")
}
