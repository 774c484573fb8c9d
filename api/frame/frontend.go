package frame

import (
	"fmt"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

var headerCacheTag = []byte("X-Gitbook-Cache-Tag")

// cacheTags is the table of what an answer is about, by the path parameters of its operation.
var cacheTags = []struct {
	params []string
	tag    func(values []string) string
}{
	{[]string{"siteId"}, func(v []string) string { return schema.SiteTag(v[0]) }},
	{[]string{"spaceId"}, func(v []string) string { return schema.SpaceTag(v[0]) }},
	{[]string{"spaceId", "changeRequestId"}, func(v []string) string { return schema.ChangeRequestTag(v[0], v[1]) }},
	{[]string{"organizationId", "specSlug"}, func(v []string) string { return schema.OpenAPITag(v[0], v[1]) }},
}

// refusalKept lets front ends keep refusals for as long as they may be the answer about an older state: a page that is not there now
// may be there after the next merge.
var refusalKept = fmt.Appendf(nil, "private, max-age=%d", int(DefaultAuthTTL.Seconds()))

// tagAnswer names what an answer to a site's reader is about. Front ends keep answers, and refusals as well, until they are told
// that this has changed.
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

// notInTags keeps a client's text from being more than one tag: it is not checked when the answer is a refusal.
func notInTags(r rune) bool { return r == ',' || r <= ' ' || r > '~' }
