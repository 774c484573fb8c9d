package content

import (
	"net/url"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// refScheme is the scheme for references to things without an address of their own in Markdown: ref:page/ID,
// ref:page/ID?space=ID.
const refScheme = "ref"

// refMembers has a row per kind of reference that uses the scheme: the member that names the thing.
var refMembers = map[string]string{
	"file": "file", "page": "page", "anchor": "anchor", "user": "user", "collection": "collection", "space": "space",
	"reusable-content": "reusableContent", "openapi": "spec",
}

// refContext are the members that say where the thing is, or which part of it is meant.
var refContext = []string{"page", "space", "fragment"}

// Link writes a reference as the destination of a link; "" if it is not a reference.
func Link(value any) string {
	ref, _ := value.(map[string]any)
	kind, _ := ref["kind"].(string)
	if kind == "url" {
		address, _ := ref["url"].(string)
		return schema.ShownLink(address)
	}
	member, known := refMembers[kind]
	if !known {
		return ""
	}
	name, _ := ref[member].(string)
	query := url.Values{}
	for _, where := range refContext {
		if place, ok := ref[where].(string); ok && where != member {
			query.Set(where, place)
		}
	}
	link := refScheme + ":" + kind + "/" + url.PathEscape(name)
	if len(query) > 0 {
		link += "?" + query.Encode()
	}
	return link
}

// Ref parses the destination of a link. It refuses schemes that are not on the list, above all scripts. "//host"
// becomes "https://host".
func Ref(link string) (map[string]any, bool) {
	if schema.LinkScheme(link) == refScheme {
		_, path, _ := strings.Cut(link, ":")
		return readRef(path)
	}
	shown := schema.ShownLink(link)
	return map[string]any{"kind": "url", "url": shown}, shown != "" || link == ""
}

func readRef(text string) (map[string]any, bool) {
	path, query, _ := strings.Cut(text, "?")
	kind, escaped, _ := strings.Cut(path, "/")
	member, known := refMembers[kind]
	name, err := url.PathUnescape(escaped)
	values, queryErr := url.ParseQuery(query)
	if !known || err != nil || queryErr != nil || strings.ContainsRune(name, 0) {
		return nil, false
	}
	ref := map[string]any{"kind": kind, member: name}
	for _, where := range refContext {
		if place := values.Get(where); place != "" && where != member {
			ref[where] = place
		}
	}
	return ref, len(schema.ContentRefProblems("", ref)) == 0
}
