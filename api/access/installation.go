package access

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// installation finds the session of a token that belongs to an integration or an installation. Each time the session is
// loaded into the cache, the installation is read again. So the token ends when the installation ends, and changes of
// the installation's scopes and sites apply to the token.
func (g *Guard) installation(ctx context.Context, hash schema.TokenHash) (*Session, error) {
	principal, err := g.store.AuthenticateIntegration(ctx, hash)
	if err != nil {
		return nil, err
	}
	return &Session{Principal: principal, use: g.rates.of(principal.TokenID)}, nil
}

// admitInstallation admits the token of an installation to an operation if the installation has the scope that the
// operation names.
func (s Scope) admitInstallation(p *store.Principal) error {
	switch {
	case s.Installation == "":
		return schema.Forbidden("the token of an installation may not call this operation")
	case s.Installation != schema.ScopeInstallation && !slices.Contains(p.Scopes, s.Installation):
		return schema.Forbidden("this takes the scope " + s.Installation + ", which the installation does not have")
	}
	return nil
}

// AdmitMember returns an error if an integration or an installation sends a member of the body that only people may
// send.
func (s Scope) AdmitMember(p *store.Principal, member string) error {
	if s.Members == nil || p.Integration == "" || slices.Contains(s.Members, member) {
		return nil
	}
	return schema.Forbidden("an integration may not send " + member + ": it may send " +
		strings.Join(s.Members, ", ") + " only")
}

// The functions below find the objects that an installation may use. They set no rights, because an installation has no
// role. Guard.Admit gives the Caller the right that the operation's Scope names.

func findOrganizationForInstallation(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	id, ok := pathID(path, "organizationId")
	if !ok {
		return schema.NotFound("organization")
	}
	organization, err := g.store.OrganizationOfInstallation(ctx, c.Principal.InstallationID, id)
	if err != nil {
		return err
	}
	c.Organization = &orgs.Membership{Organization: organization, Role: schema.RoleGuest}
	return nil
}

func findSiteForInstallation(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	organization, ok := pathID(path, "organizationId")
	site, ok2 := pathID(path, "siteId")
	if !ok || !ok2 {
		return schema.NotFound("site")
	}
	row, err := g.store.SiteOfInstallation(ctx, c.Principal.InstallationID, organization, site)
	if err != nil {
		return err
	}
	c.Site = &sites.Access{Row: row, Role: schema.RoleRead}
	c.EventSite = schema.EventSite{OrganizationID: row.Site.OrganizationID, SiteID: row.Site.ID, StoreClearIDs: row.Site.StoreClearIds}
	return nil
}

func findSpaceForInstallation(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	id, ok := pathID(path, "spaceId")
	if !ok {
		return schema.NotFound("space")
	}
	space, err := g.store.SpaceOfInstallation(ctx, c.Principal.InstallationID, id)
	if err != nil {
		return err
	}
	role := schema.RoleRead
	if slices.Contains(c.Principal.Scopes, schema.ScopeSpaceContentWrite) {
		role = schema.RoleEdit
	}
	// The installation has no role, so its access is expressed as a grant. `permissions` in answers show the rights of
	// this grant.
	c.Space = &store.SpaceAccess{Space: space, ContentAccess: postgres.ContentAccess{Grant: role}}
	return nil
}

func findChangeRequestForInstallation(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	if err := findSpaceForInstallation(ctx, g, path, c); err != nil {
		return err
	}
	return findRequestInSpace(ctx, g, path, c)
}

// findIntegration finds an integration by its name. Members of the organization that owns the integration have the
// rights of their role. Other users may view an integration that is not private.
func findIntegration(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	name := path.PathParam("integrationName")
	if strings.ContainsRune(name, 0) || !utf8.ValidString(name) { // Postgres cannot store this name.
		return schema.NotFound("integration")
	}
	found, err := g.store.Integration(ctx, c.Principal.UserID, strings.Clone(name))
	if err != nil {
		return err
	}
	c.Integration, c.Rights = &found, RightView
	if found.IsMember {
		c.Rights = RightsOf(Access{Role: found.Owner.Role})
	}
	return nil
}

// findIntegrationItself finds the integration in the path for the integration's own token.
func findIntegrationItself(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	name := path.PathParam("integrationName")
	if name != c.Principal.Integration {
		return schema.NotFound("integration")
	}
	found, err := g.store.IntegrationByName(ctx, c.Principal.Integration)
	if err != nil {
		return err
	}
	c.Integration = &found
	return nil
}

// findInstallation finds an installation for members of its organization.
func findInstallation(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	id, ok := pathID(path, "installationId")
	if !ok {
		return schema.NotFound("installation")
	}
	name := path.PathParam("integrationName")
	if strings.ContainsRune(name, 0) || !utf8.ValidString(name) {
		return schema.NotFound("installation")
	}
	found, err := g.store.Installation(ctx, c.Principal.UserID, strings.Clone(name), id)
	if err != nil {
		return err
	}
	c.Installation, c.Rights = &found, RightsOf(Access{Role: found.Role})
	return nil
}

// findInstallationItself finds the installation of a token. For an integration's token, it finds the installation of
// this integration that the path names.
func findInstallationItself(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	id, ok := pathID(path, "installationId")
	if !ok || path.PathParam("integrationName") != c.Principal.Integration || c.Principal.InstallationID != "" && c.Principal.InstallationID != id {
		return schema.NotFound("installation")
	}
	found, err := g.store.InstallationOf(ctx, c.Principal.Integration, id)
	if err != nil {
		return err
	}
	found.Role = schema.RoleAdmin // The installation may see its own configuration.
	c.Installation = &found
	return nil
}
