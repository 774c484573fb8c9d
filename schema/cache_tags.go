package schema

// These are the names of cache tags. Front ends of sites cache answers with these tags, and are notified of changes by
// tag. The triggers of the table front_end_changes generate the same names.

// SiteTag is the tag of everything that shows a site, except the content of its spaces.
func SiteTag(site string) string { return "site:" + site }

// SpaceTag is the tag of a space and its main content.
func SpaceTag(space string) string { return "space:" + space }

// ChangeRequestTag is the tag of the content of a change request.
func ChangeRequestTag(space, request string) string {
	return SpaceTag(space) + ":change-request:" + request
}

// OpenAPITag is the tag of an organization's OpenAPI specification.
func OpenAPITag(organization, slug string) string {
	return "organization:" + organization + ":openapi:" + slug
}
