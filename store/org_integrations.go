package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Integration is an integration as a user sees it. IsMember is true if the user is a member of the owner. Otherwise
// Owner.Role is meaningless.
type Integration struct {
	Name          string
	Version       int32
	Verified      bool
	Manifest      schema.IntegrationManifest
	Icon          *string
	PreviewImages []string
	Owner         orgs.Membership
	IsMember      bool
}

// IntegrationAsset is a picture of an integration. ID is derived from the bytes of the picture.
type IntegrationAsset struct {
	ID          string
	ContentType string
	Content     []byte
}

// NewIntegration is a version that will be published under a name. The manifest must be normalized.
type NewIntegration struct {
	Name     string
	Manifest schema.IntegrationManifest
	Script   string
	// Secrets are the secrets that the script may read when it runs.
	Secrets       map[string]string
	Icon          *IntegrationAsset
	PreviewImages []IntegrationAsset
}

// OrganizationByName reads an organization by its id or its hostname. It returns not_found if the user is not a member
// of the organization.
func (s *Store) OrganizationByName(ctx context.Context, userID, idOrHostname string) (orgs.Membership, error) {
	row, err := s.db.Queries.OrganizationByIDOrHostname(ctx, db.OrganizationByIDOrHostnameParams{
		UserID: userID, Name: idOrHostname,
	})
	if err != nil {
		return orgs.Membership{}, postgres.Interpret(err, "organization")
	}
	return orgs.Membership{Organization: row.Organization, Role: schema.RoleFromNullable(row.Role)}, nil
}

// PublishIntegration publishes the first or the next version of an integration. If another organization owns the name,
// it returns an error. This error is not_found if the user may not see the other organization's integration.
func (s *Store) PublishIntegration(
	ctx context.Context, userID string, owner orgs.Membership, n NewIntegration,
) (Integration, error) {
	params, assets, err := s.publishing(ctx, owner, n)
	if err != nil {
		return Integration{}, err
	}
	var published db.Integration
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		published, err = q.PublishIntegration(ctx, params)
		if errors.Is(err, pgx.ErrNoRows) {
			if _, err := q.IntegrationForUser(ctx, db.IntegrationForUserParams{UserID: userID, Name: n.Name}); err != nil {
				return postgres.Interpret(err, "integration")
			}
			return schema.Forbidden("the integration belongs to another organization")
		}
		if err != nil {
			return postgres.Interpret(err, "integration")
		}
		if err := keepVersion(ctx, q, userID, n, published.Version); err != nil {
			return err
		}
		if published.Version == 1 {
			if err := s.db.Within(ctx, q, postgres.QuotaIntegrations, owner.Organization.ID); err != nil {
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
				return postgres.Interpret(err, "integration")
			}
		}
		err := q.DeleteOtherIntegrationAssets(ctx, db.DeleteOtherIntegrationAssetsParams{Integration: n.Name, Keep: keep})
		return postgres.Interpret(err, "integration")
	})
	if err != nil {
		return Integration{}, err
	}
	return Integration{
		Name: n.Name, Version: published.Version, Verified: published.Verified, Manifest: n.Manifest, Icon: published.Icon,
		PreviewImages: published.PreviewImages, Owner: owner, IsMember: true,
	}, nil
}

// publishing returns the row and the pictures of a new version.
func (s *Store) publishing(
	ctx context.Context, owner orgs.Membership, n NewIntegration,
) (db.PublishIntegrationParams, []IntegrationAsset, error) {
	m := &n.Manifest
	params := db.PublishIntegrationParams{
		Name: n.Name, OrganizationID: owner.Organization.ID, Visibility: *m.Visibility, Target: *m.Target, Script: n.Script,
		Title: *m.Title, Scopes: postgres.NotNil(m.Scopes), Categories: postgres.NotNil(m.Categories),
		BlockDomains: m.BlockDomains(),
		HasBlocks:    len(m.Blocks) > 0, HasContentSources: len(m.ContentSources) > 0, PreviewImages: []string{},
	}
	var err error
	if params.Manifest, err = postgres.ToJSON(m); err != nil {
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
		secrets, err := postgres.ToJSON(n.Secrets)
		if err != nil {
			return params, nil, err
		}
		if params.Secrets, err = s.db.Seal(ctx, "integration "+n.Name, secrets); err != nil {
			return params, nil, err
		}
	}
	return params, assets, nil
}

// keptVersions is the largest number of stored versions of one integration. keptScripts is the largest number of these
// versions whose scripts are stored.
const (
	keptVersions = 1000
	keptScripts  = 20
)

// keepVersion records the published version and its publisher.
func keepVersion(ctx context.Context, q *db.Queries, userID string, n NewIntegration, version int32) error {
	hash := sha256.Sum256([]byte(n.Script))
	err := q.InsertIntegrationVersion(ctx, db.InsertIntegrationVersionParams{
		Integration: n.Name, Version: version, Title: *n.Manifest.Title, Runtime: *n.Manifest.Runtime,
		Scopes: postgres.NotNil(n.Manifest.Scopes),
		// the size of a request fits into an int32
		ScriptHash: hash[:], ScriptBytes: int32(len(n.Script)), PublishedBy: &userID,
	})
	if err == nil {
		err = q.DeleteOldIntegrationVersions(ctx, db.DeleteOldIntegrationVersionsParams{Integration: n.Name, Newest: version, Kept: keptVersions})
	}
	if err == nil {
		err = q.DeleteOldIntegrationScripts(ctx, db.DeleteOldIntegrationScriptsParams{Integration: n.Name, Newest: version, Kept: keptScripts})
	}
	return postgres.Interpret(err, "integration")
}

// IntegrationVersion is a row of the table integration_versions.
type IntegrationVersion = db.IntegrationVersion

// ListIntegrationVersions lists the versions of an integration, the newest first. `before` is the previous page's last
// version, or "" for the first page.
func (s *Store) ListIntegrationVersions(
	ctx context.Context, name, before string, size int,
) (postgres.Page[IntegrationVersion], error) {
	last := int64(math.MaxInt32)
	if before != "" {
		var err error
		if last, err = strconv.ParseInt(before, 10, 32); err != nil || last < 1 {
			return postgres.Page[IntegrationVersion]{}, schema.BadPage()
		}
	}
	total, err := s.db.Queries.CountIntegrationVersions(ctx, name)
	if err != nil {
		return postgres.Page[IntegrationVersion]{}, postgres.Interpret(err, "versions")
	}
	rows, err := s.db.Queries.ListIntegrationVersions(ctx, db.ListIntegrationVersionsParams{
		// the number fits into an int32: ParseInt has checked it
		Integration: name, Before: int32(last), PageSize: postgres.PageSize(size),
	})
	return postgres.PageOf(rows, size, total), postgres.Interpret(err, "versions")
}

// ScriptVersion is a version with its script. Script is "" if the script was deleted.
type ScriptVersion struct {
	IntegrationVersion
	Script string
}

// IntegrationVersion reads a version of an integration. If `number` is not a number, it returns not_found.
func (s *Store) IntegrationVersion(ctx context.Context, name, number string) (ScriptVersion, error) {
	version, err := strconv.ParseInt(number, 10, 32)
	if err != nil {
		return ScriptVersion{}, postgres.Interpret(pgx.ErrNoRows, "version")
	}
	row, err := s.db.Queries.IntegrationVersion(ctx, db.IntegrationVersionParams{
		Integration: name, Version: int32(version),
	})
	return ScriptVersion{row.IntegrationVersion, row.Script}, postgres.Interpret(err, "version")
}

// UnpublishIntegration deletes an integration with its installations, which also ends their tokens.
func (s *Store) UnpublishIntegration(ctx context.Context, name string) error {
	_, err := s.db.Queries.DeleteIntegration(ctx, name)
	return postgres.Interpret(err, "integration")
}

// SetIntegrationTunnel sets the URL to which the events of an integration are sent. If `everybody` is true, the tunnel
// gets the events of all organizations. Otherwise it gets only the events of the integration's owner. If `address` is
// "", the tunnel is turned off.
func (s *Store) SetIntegrationTunnel(ctx context.Context, name, address string, everybody bool) error {
	return postgres.Interpret(s.db.Queries.SetIntegrationTunnel(ctx, db.SetIntegrationTunnelParams{
		Name: name, Tunnel: postgres.UnlessEmpty(address), Everybody: everybody && address != "",
	}), "integration")
}

// IntegrationSecrets reads the secrets of an integration for its script. API responses never contain these secrets.
func (s *Store) IntegrationSecrets(ctx context.Context, name string) (map[string]string, error) {
	sealed, err := s.db.Queries.IntegrationSecrets(ctx, name)
	if err != nil || sealed == nil {
		return nil, postgres.Interpret(err, "integration")
	}
	secrets, err := s.db.Unseal(ctx, "integration "+name, sealed)
	if err != nil {
		return nil, err
	}
	return postgres.FromJSON[map[string]string](secrets)
}

// Integration reads an integration. It returns not_found if the user may not see the integration.
func (s *Store) Integration(ctx context.Context, userID, name string) (Integration, error) {
	row, err := s.db.Queries.IntegrationForUser(ctx, db.IntegrationForUserParams{UserID: userID, Name: name})
	if err != nil {
		return Integration{}, postgres.Interpret(err, "integration")
	}
	return integrationOf(db.ListIntegrationsRow(row))
}

// IntegrationByName reads an integration without checking rights. The caller must have checked them.
func (s *Store) IntegrationByName(ctx context.Context, name string) (Integration, error) {
	row, err := s.db.Queries.IntegrationByName(ctx, name)
	if err != nil {
		return Integration{}, postgres.Interpret(err, "integration")
	}
	return integrationOf(db.ListIntegrationsRow{
		Name: row.Name, Version: row.Version, Verified: row.Verified, Manifest: row.Manifest, Icon: row.Icon, PreviewImages: row.PreviewImages,
		Organization: row.Organization,
	})
}

func integrationOf(row db.ListIntegrationsRow) (Integration, error) {
	manifest, err := postgres.FromJSON[schema.IntegrationManifest](row.Manifest)
	if err != nil {
		return Integration{}, err
	}
	return Integration{
		Name: row.Name, Version: row.Version, Verified: row.Verified, Manifest: manifest, Icon: row.Icon,
		PreviewImages: row.PreviewImages, IsMember: row.IsMember,
		Owner: orgs.Membership{Organization: row.Organization, Role: schema.RoleFromNullable(row.Role)},
	}, nil
}

// IntegrationFilter narrows a list of integrations. A nil field does not filter.
type IntegrationFilter struct {
	Search, Category, BlockDomain, Owner, Scope, Target *string
	Blocks, ContentSources                              *bool
}

// ListIntegrations lists public integrations, sorted by name, after the name `after`. If f.Owner is an organization of
// the user, it lists all integrations of this organization.
func (s *Store) ListIntegrations(
	ctx context.Context, userID string, f IntegrationFilter, after string, size int,
) (postgres.Page[Integration], error) {
	if f.Owner != nil {
		_, err := s.Orgs.Organization(ctx, userID, *f.Owner)
		switch {
		case err == nil:
			return s.listOwnIntegrations(ctx, userID, f, after, size)
		case !schema.IsCode(err, schema.CodeNotFound):
			return postgres.Page[Integration]{}, err
		}
	}
	total, err := s.db.Planned.CountIntegrations(ctx, db.CountIntegrationsParams{
		Search: f.Search, Category: f.Category, Scope: f.Scope, Target: f.Target, Owner: f.Owner, Blocks: f.Blocks,
		ContentSources: f.ContentSources, BlockDomain: f.BlockDomain,
	})
	if err != nil {
		return postgres.Page[Integration]{}, postgres.Interpret(err, "integrations")
	}
	rows, err := s.db.Planned.ListIntegrations(ctx, db.ListIntegrationsParams{
		UserID: userID, Search: f.Search, Category: f.Category, Scope: f.Scope, Target: f.Target, Owner: f.Owner, Blocks: f.Blocks,
		ContentSources: f.ContentSources, BlockDomain: f.BlockDomain, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Integration]{}, postgres.Interpret(err, "integrations")
	}
	return integrationsOf(rows, size, total)
}

func (s *Store) listOwnIntegrations(
	ctx context.Context, userID string, f IntegrationFilter, after string, size int,
) (postgres.Page[Integration], error) {
	total, err := s.db.Planned.CountOwnIntegrations(ctx, db.CountOwnIntegrationsParams{
		Search: f.Search, Category: f.Category, Scope: f.Scope, Target: f.Target, Owner: *f.Owner, Blocks: f.Blocks,
		ContentSources: f.ContentSources, BlockDomain: f.BlockDomain,
	})
	if err != nil {
		return postgres.Page[Integration]{}, postgres.Interpret(err, "integrations")
	}
	rows, err := s.db.Planned.ListOwnIntegrations(ctx, db.ListOwnIntegrationsParams{
		UserID: userID, Search: f.Search, Category: f.Category, Scope: f.Scope, Target: f.Target, Owner: *f.Owner, Blocks: f.Blocks,
		ContentSources: f.ContentSources, BlockDomain: f.BlockDomain, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Integration]{}, postgres.Interpret(err, "integrations")
	}
	same := make([]db.ListIntegrationsRow, len(rows))
	for i, row := range rows {
		same[i] = db.ListIntegrationsRow(row)
	}
	return integrationsOf(same, size, total)
}

func integrationsOf(rows []db.ListIntegrationsRow, size int, total int64) (postgres.Page[Integration], error) {
	integrations := make([]Integration, len(rows))
	for i, row := range rows {
		var err error
		if integrations[i], err = integrationOf(row); err != nil {
			return postgres.Page[Integration]{}, err
		}
	}
	return postgres.PageOf(integrations, size, total), nil
}

// IntegrationAssets lists the pictures of an integration, without their bytes.
func (s *Store) IntegrationAssets(ctx context.Context, name string) ([]IntegrationAsset, error) {
	rows, err := s.db.Queries.IntegrationAssets(ctx, name)
	assets := make([]IntegrationAsset, len(rows))
	for i, row := range rows {
		assets[i] = IntegrationAsset{ID: row.ID, ContentType: row.ContentType}
	}
	return assets, postgres.Interpret(err, "integration")
}

// IntegrationAsset reads a picture. It checks no rights: the id works like a secret, because only users who have seen
// the integration know it.
func (s *Store) IntegrationAsset(ctx context.Context, name, id string) (IntegrationAsset, error) {
	row, err := s.db.Queries.IntegrationAsset(ctx, db.IntegrationAssetParams{Integration: name, ID: id})
	if err != nil {
		return IntegrationAsset{}, postgres.Interpret(err, "asset")
	}
	return IntegrationAsset{ID: id, ContentType: row.ContentType, Content: row.Content}, nil
}
