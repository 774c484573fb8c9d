package access

import (
	"context"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// PathParams gives access to a request's path parameters as sent. Values may alias the request: clone values that are
// retained. The router copies the values today, but does not guarantee this.
type PathParams interface {
	PathParam(name string) string
}

// pathID returns a copy of a path parameter that names an object. It returns false if the value is not an id.
func pathID(path PathParams, name string) (string, bool) {
	raw := path.PathParam(name)
	if !schema.ValidID(raw) {
		return "", false
	}
	return strings.Clone(raw), true
}

// Object is a kind of object that a scope can name. param is the path parameter with the id. find looks up a user's
// access and fills in the Caller. It returns "not found" for missing objects and for objects of other tenants.
// findForReader does the same for the readers of a published site. findForInstallation does the same, without rights,
// for the tokens of installations and integrations. A function is nil if its callers cannot reach such objects.
type Object struct {
	name  string
	param string
	// below is the parent object, which is looked up first; nil without a parent. Callers without access to the parent
	// get "not found".
	below         string
	find          func(ctx context.Context, g *Guard, path PathParams, c *Caller) error
	findForReader func(ctx context.Context, g *Guard, path PathParams, c *Caller) error

	findForInstallation func(ctx context.Context, g *Guard, path PathParams, c *Caller) error
}

var (
	OnOrganization = &Object{name: "organization", param: "organizationId", find: findOrganization, findForInstallation: findOrganizationForInstallation}
	OnSite         = &Object{name: "site", param: "siteId", find: findSite, findForReader: findSiteForReader, findForInstallation: findSiteForInstallation}
	OnSpace        = &Object{name: "space", param: "spaceId", find: findSpace, findForReader: findSpaceForReader, findForInstallation: findSpaceForInstallation}
	OnCollection   = &Object{name: "collection", param: "collectionId", find: findCollection}
	// OnChangeRequest uses the rights on the change request's space.
	OnChangeRequest = &Object{
		name: "change request", param: "changeRequestId", below: "space", find: findChangeRequest, findForReader: findChangeRequestForReader,
		findForInstallation: findChangeRequestForInstallation,
	}
	// OnSharedResource is a resource of an organization that the pages of its sites show, such as an OpenAPI specification.
	OnSharedResource = &Object{
		name: "organization", param: "organizationId", find: findOrganization, findForReader: findOrganizationForReader,
		findForInstallation: findOrganizationForInstallation,
	}
	// OnInsights is a cached site lookup: its result may be as old as Config.AuthTTL.
	OnInsights = &Object{name: "insights", param: "siteId", below: "site", find: findEventSite, findForInstallation: findSiteForInstallation}
	// OnIntegration uses the rights on the organization that owns the integration.
	OnIntegration = &Object{name: "integration", param: "integrationName", find: findIntegration, findForInstallation: findIntegrationItself}
	// OnInstallation uses the rights on the organization that the integration is installed in.
	OnInstallation = &Object{name: "installation", param: "installationId", find: findInstallation, findForInstallation: findInstallationItself}
)

// NamedObject is a kind of object that a member of the body names, instead of the path. The frame reads only that
// member first, and decodes the body only for callers who have the right.
type NamedObject struct {
	name   string
	Member string
	find   func(ctx context.Context, g *Guard, name string, c *Caller) error
}

// OrganizationInBody is an organization that the body names by its id or its hostname.
var OrganizationInBody = &NamedObject{name: "organization", Member: "organization", find: findNamedOrganization}

func findOrganization(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	id, ok := pathID(path, "organizationId")
	if !ok {
		return schema.NotFound("organization")
	}
	membership, err := g.store.Orgs.Organization(ctx, c.Principal.UserID, id)
	if err != nil {
		return err
	}
	c.Organization = &membership
	c.Rights = RightsOf(Access{Role: membership.Role})
	return nil
}

func findNamedOrganization(ctx context.Context, g *Guard, name string, c *Caller) error {
	membership, err := g.store.OrganizationByName(ctx, c.Principal.UserID, name)
	if err != nil {
		return err
	}
	c.Organization = &membership
	c.Rights = RightsOf(Access{Role: membership.Role})
	return nil
}

func findSite(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	organization, ok := pathID(path, "organizationId")
	site, ok2 := pathID(path, "siteId")
	if !ok || !ok2 {
		return schema.NotFound("site")
	}
	found, err := g.store.Sites.Site(ctx, c.Principal.UserID, organization, site)
	if err != nil {
		return err
	}
	c.Site = &found
	c.Rights = RightsOf(Access{Role: found.Role})
	return nil
}

func findSpace(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	id, ok := pathID(path, "spaceId")
	if !ok {
		return schema.NotFound("space")
	}
	found, err := g.store.Space(ctx, c.Principal.UserID, id)
	if err != nil {
		return err
	}
	c.Space = &found
	c.Rights = ContentRights(found.ContentAccess)
	return nil
}

func findCollection(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	id, ok := pathID(path, "collectionId")
	if !ok {
		return schema.NotFound("collection")
	}
	found, err := g.store.Collection(ctx, c.Principal.UserID, id)
	if err != nil {
		return err
	}
	c.Collection = &found
	c.Rights = ContentRights(found.ContentAccess)
	return nil
}

func findChangeRequest(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	if err := findSpace(ctx, g, path, c); err != nil {
		return err
	}
	return findRequestInSpace(ctx, g, path, c)
}

// findRequestInSpace finds a change request in the space of the Caller.
func findRequestInSpace(ctx context.Context, g *Guard, path PathParams, c *Caller) error {
	id, ok := pathID(path, "changeRequestId")
	if !ok {
		return schema.NotFound("change request")
	}
	request, err := g.store.ChangeRequest(ctx, c.Space.Space.ID, id)
	if err != nil {
		return err
	}
	c.ChangeRequest = &request
	return nil
}
