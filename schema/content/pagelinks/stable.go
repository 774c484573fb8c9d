package pagelinks

import (
	"net/url"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

// Stable returns the document with addresses in place of references to pages, anchors and spaces. An address contains
// the id of its target. The caller must first turn relative links into references with [ToPages]. Stable does not
// change its argument.
func Stable(d schema.Document) schema.Document {
	return markdown.MapRefs(d, func(ref map[string]any) map[string]any {
		link := stableLink(ref)
		if link == "" {
			return nil
		}
		return valid(map[string]any{"kind": "url", "url": link})
	})
}

func stableLink(ref map[string]any) string {
	text := func(member string) string {
		value, _ := ref[member].(string)
		return url.PathEscape(value)
	}
	space := ""
	if text("space") != "" {
		space = content.SpacesPath + text("space")
	}
	switch kind := ref["kind"]; {
	case kind == "space":
		return space
	case kind == "page" && text("page") != "":
		return space + content.PagesPath + text("page")
	case kind == "anchor" && text("page") != "":
		return space + content.PagesPath + text("page") + "#" + text("anchor")
	}
	return ""
}

// named returns the reference for a stable address. The second result is false if `ref` is not such an address. This is
// also the case if text follows the id, because a user has then written the address.
func named(ref map[string]any) (map[string]any, bool) {
	found := map[string]any{}
	rest := linkOf(ref)
	if !strings.HasPrefix(rest, "/") {
		return nil, false
	}
	if tail, ok := strings.CutPrefix(rest, content.SpacesPath); ok {
		id, within, _ := strings.Cut(tail, "/")
		if found["space"] = id; !content.IsID(id) {
			return nil, false
		}
		if rest = "/" + within; within == "" {
			found["kind"] = "space"
			return found, tail == id
		}
	}
	tail, ok := strings.CutPrefix(rest, content.PagesPath)
	id, anchor, anchored := strings.Cut(tail, "#")
	if found["kind"], found["page"] = "page", id; anchored {
		name, err := url.PathUnescape(anchor)
		if found["kind"], found["anchor"] = "anchor", name; err != nil {
			return nil, false
		}
	}
	return found, ok && content.IsID(id) && valid(found) != nil
}
