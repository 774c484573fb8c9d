package schema

// Cache tags: front ends of sites cache answers under these names, and changes are announced with them. The triggers of
// the table front_end_changes make the same names.

// SiteTag names everything that shows a site, except the content of its spaces.
func SiteTag(site string) string { return "site:" + site }

// SpaceTag names a space and its main content.
func SpaceTag(space string) string { return "space:" + space }

// ChangeRequestTag names the content of a change request.
func ChangeRequestTag(space, request string) string {
	return SpaceTag(space) + ":change-request:" + request
}

// OpenAPITag names an organization's OpenAPI specification.
func OpenAPITag(organization, slug string) string {
	return "organization:" + organization + ":openapi:" + slug
}
