package access

import (
	"context"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// PathParams gives access to the path parameters of a request, as the client sent them. Values may alias the request,
// so callers must clone the values that they store. The router copies the values today, but does not guarantee this.
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

// Object is a kind of object that a scope can name. `param` is the name of the path parameter with the object's id.
// `find` looks up the object and a user's rights on it, and sets them in the Caller. It returns "not found" for missing
// objects and for objects of other organizations. findForReader does the same for readers of a published site.
// findForInstallation finds the object for tokens of installations and integrations, but sets no rights. findForReader
// or findForInstallation is nil if such callers cannot use objects of this kind.
type Object struct {
	name  string
	param string
	// below names the kind of the parent object, which is looked up first. It is empty if the object has no parent.
	// Callers without access to the parent get "not found".
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
	// OnChangeRequest takes the caller's rights from the space of the change request.
	OnChangeRequest = &Object{
		name: "change request", param: "changeRequestId", below: "space", find: findChangeRequest, findForReader: findChangeRequestForReader,
		findForInstallation: findChangeRequestForInstallation,
	}
	// OnSharedResource is an organization, for operations on resources that pages of its sites show, such as OpenAPI
	// specifications.
	OnSharedResource = &Object{
		name: "organization", param: "organizationId", find: findOrganization, findForReader: findOrganizationForReader,
		findForInstallation: findOrganizationForInstallation,
	}
	// OnInsights is a site, for operations on its events. The caller's rights are cached, and may be as old as
	// Config.AuthTTL.
	OnInsights = &Object{name: "insights", param: "siteId", below: "site", find: findEventSite, findForInstallation: findSiteForInstallation}
	// OnIntegration takes the caller's rights from the organization that owns the integration.
	OnIntegration = &Object{name: "integration", param: "integrationName", find: findIntegration, findForInstallation: findIntegrationItself}
	// OnInstallation takes the caller's rights from the organization in which the integration is installed.
	OnInstallation = &Object{name: "installation", param: "installationId", find: findInstallation, findForInstallation: findInstallationItself}
)

// NamedObject is a kind of object that a member of the body names, instead of the path. The frame first reads only this
// member. It decodes the whole body only if the caller has the right that the scope names.
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
