package schema

// The functions below return the names of cache tags. Front ends of sites cache responses with these tags. When
// something changes, Octavo sends the tags of this thing to the front ends. The triggers of the table front_end_changes
// generate the same names.

// SiteTag returns the tag of everything that a site shows, except the content of its spaces.
func SiteTag(site string) string { return "site:" + site }

// SpaceTag returns the tag of a space and its main content.
func SpaceTag(space string) string { return "space:" + space }

// ChangeRequestTag returns the tag of the content of a change request.
func ChangeRequestTag(space, request string) string {
	return SpaceTag(space) + ":change-request:" + request
}

// OpenAPITag returns the tag of an organization's OpenAPI specification.
func OpenAPITag(organization, slug string) string {
	return "organization:" + organization + ":openapi:" + slug
}
