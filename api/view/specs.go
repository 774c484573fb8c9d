package view

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/apispecs"
)

// Spec returns a function that returns the API form of a specification. `rights` has the caller's rights on the
// organization.
func (v Presenter) Spec(rights access.Rights) func(apispecs.Spec) schema.OpenAPISpec {
	return func(s apispecs.Spec) schema.OpenAPISpec {
		// If the errors cannot be decoded, another version of the service stored them. They are then omitted, and the
		// error code still shows the problem.
		errors, _ := schema.DecodeJSON[[]schema.OpenAPISpecError](s.Errors)
		spec := schema.OpenAPISpec{
			Object: "openapi-spec", ID: s.ID, CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(), Slug: s.Slug,
			SourceURL: schema.Or(s.SourceUrl, ""), ProcessingState: s.ProcessingState, LastVersion: schema.Or(s.LastVersion, ""), Visibility: s.Visibility,
			LastProcessedAt: schema.UTC(s.LastProcessedAt), LastErrorCode: s.ErrorCode, LastErrors: errors,
			URLs: schema.OpenAPISpecURLs{
				Location: v.API("orgs", s.OrganizationID, "openapi", s.Slug), App: v.App("orgs", s.OrganizationID, "openapi", s.Slug),
			},
			Permissions: schema.OpenAPISpecPermissions{View: rights.Has(access.RightAccess), Edit: rights.Has(access.RightCreate)},
		}
		if s.Visibility == schema.SpecPublic {
			spec.URLs.Published = spec.URLs.Location + "/published"
		}
		return spec
	}
}

// SpecVersion returns a function that returns the API form of a version of the specification. If a version was sent as
// text, its `url` is the address of its content on this server.
func (v Presenter) SpecVersion(organization, slug string) func(apispecs.Version) schema.OpenAPISpecVersion {
	return func(row apispecs.Version) schema.OpenAPISpecVersion {
		location := v.API("orgs", organization, "openapi", slug, "versions", row.ID)
		return schema.OpenAPISpecVersion{
			Object: "openapi-spec-version", ID: row.ID, CreatedAt: row.CreatedAt.UTC(), URL: schema.Or(row.SourceUrl, location+"/content"),
			URLs: schema.OpenAPISpecVersionURLs{Location: location},
		}
	}
}
