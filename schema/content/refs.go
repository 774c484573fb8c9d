package content

import (
	"net/url"
	"path"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// refScheme is the scheme of links in Markdown to objects that have no address. Examples are ref:page/ID and
// ref:page/ID?space=ID.
const refScheme = "ref"

// refMembers has, for each kind of reference with this scheme, the member that has the object's id.
var refMembers = map[string]string{
	"file": "file", "page": "page", "anchor": "anchor", "user": "user", "collection": "collection", "space": "space",
	"reusable-content": "reusableContent", "openapi": "spec",
}

// refContext has the members of a reference that say where the object is, or to which part of the object the reference
// leads.
var refContext = []string{"page", "space", "fragment"}

// Link returns the destination of a link for a reference. It returns "" if the value is not a reference.
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

// Ref returns the reference for the destination of a link. The second result is false if the link's scheme is not
// allowed, such as javascript:. A destination "//host" becomes "https://host".
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

// idLength is the length of the ids that [schema.NewID] makes.
const idLength = 26

// IsID reports whether a text has the form of an id. For example, the text "about" in /pages/about is not an id.
func IsID(s string) bool { return len(s) == idLength && schema.ValidID(s) }

// These constants are the beginnings of addresses with the ids of targets, in the form that front ends read. The
// address of a page is /pages/<id>, and may end with an anchor. The address of a space is /spaces/<id>. For a page in
// another space, the address of the page follows the address of the space.
const (
	SpacesPath = "/spaces/"
	PagesPath  = "/pages/"
)

// ByID reports whether a link contains the id of its target. Markdown may have a generated text for such a link. This
// text is the target's name, and does not belong to the document.
func ByID(link string) bool {
	if schema.LinkScheme(link) == refScheme {
		return true
	}
	for _, path := range []string{PagesPath, SpacesPath} {
		if rest, ok := strings.CutPrefix(link, path); ok && len(rest) >= idLength && IsID(rest[:idLength]) {
			return true
		}
	}
	return IsID(link)
}

// MemberTitle is the member of a reference that has the name of its target. The name is added when a document is shown,
// and is never stored.
const MemberTitle = "title"

// refWords has the text that is shown for a reference whose target is missing, or hidden from the reader.
var refWords = map[string]string{
	"file": "file", "page": "page", "anchor": "page", "user": "user", "collection": "collection", "space": "space",
	"reusable-content": "reusable content",
}

// RefWord returns the word for the kind of a reference's target. It returns "" if refWords has no word for the kind.
func RefWord(ref map[string]any) string {
	kind, _ := ref["kind"].(string)
	return refWords[kind]
}

// RefLabel returns the text of a reference: its title, or the name in the reference. It returns "" if the reference has
// only an id and no title.
func RefLabel(value any) string {
	ref, _ := value.(map[string]any)
	if title := Member(ref, MemberTitle); title != "" {
		return title
	}
	switch ref["kind"] {
	case "url":
		return Clean(Link(ref))
	case "openapi":
		return Member(ref, "spec")
	case "anchor":
		if ref["page"] == nil && ref["space"] == nil {
			return "#" + Member(ref, "anchor")
		}
	case "file", "reusable-content":
		kind, _ := ref["kind"].(string)
		if name := Member(ref, refMembers[kind]); name != "" && !IsID(name) {
			return path.Base(name)
		}
	}
	return ""
}
