package frame

import (
	"fmt"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

var headerCacheTag = []byte("X-Gitbook-Cache-Tag")

// cacheTags has the objects that have cache tags: the path parameters that name the object, and the function that makes
// its tag.
var cacheTags = []struct {
	params []string
	tag    func(values []string) string
}{
	{[]string{"siteId"}, func(v []string) string { return schema.SiteTag(v[0]) }},
	{[]string{"spaceId"}, func(v []string) string { return schema.SpaceTag(v[0]) }},
	{[]string{"spaceId", "changeRequestId"}, func(v []string) string { return schema.ChangeRequestTag(v[0], v[1]) }},
	{[]string{"organizationId", "specSlug"}, func(v []string) string { return schema.OpenAPITag(v[0], v[1]) }},
}

// refusalKept is the time for which front ends may cache a refusal. It is short, because a page that is missing now may
// exist after the next merge.
var refusalKept = fmt.Appendf(nil, "private, max-age=%d", int(DefaultAuthTTL.Seconds()))

// tagAnswer adds a header to an answer for a site's reader. The header has the cache tags of the objects in the path.
// Front ends cache the answer until they are notified that an object with one of these tags has changed.
func tagAnswer(c *call, err error) {
	var tags []string
	for _, row := range cacheTags {
		values := make([]string, len(row.params))
		named := true
		for i, param := range row.params {
			values[i] = c.PathParam(param)
			named = named && values[i] != "" && !strings.ContainsFunc(values[i], notInTags)
		}
		if named {
			tags = append(tags, row.tag(values))
		}
	}
	header := &c.http.Response.Header
	if len(tags) > 0 {
		header.SetCanonical(headerCacheTag, []byte(strings.Join(tags, ",")))
	}
	if err != nil {
		header.SetCanonical(headerCacheControl, refusalKept)
	}
}

// notInTags reports whether a character must not be in a tag, because it could split the tag into two. The path
// parameters of a refused request have not been checked, so they can contain any characters.
func notInTags(r rune) bool { return r == ',' || r <= ' ' || r > '~' }
