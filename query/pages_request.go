package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// These constants limit a list of pages. A request is refused if the site has more than MaxPages pages, or events of
// more than MaxPages pages, because the list is joined and sorted in memory.
const (
	MaxPages         = 50_000
	MaxPagesLimit    = maxLimit
	DefaultPagesRows = 100
	maxPageWords     = 100 // largest number of entries in owners, in spaces and in kinds
)

// These are the kinds of pages.
const (
	// pageKnown is a page of one of the site's spaces.
	pageKnown = "current"
	// pageRemoved is a page of a space that Config.Pages does not list, but that has events in the range.
	pageRemoved = "removed"
	// pagePath is a path outside any space.
	pagePath = "path"
)

// PageKinds returns the kinds of pages.
func PageKinds() []string { return []string{pageKnown, pageRemoved, pagePath} }

// These are the members of pages by which a request can order pages. It can also order them by a metric.
const (
	byTitle  = "title"
	byPath   = "path"
	byEdited = "editedAt"
	byWords  = "words"
)

// PageOrders returns the members of pages by which a request can order pages.
func PageOrders() []string { return []string{byTitle, byPath, byEdited, byWords} }

// pagesRequest is a request for pages: well-formed, but with unresolved names.
type pagesRequest struct {
	scopeRequest
	selects  []columnRequest
	order    *orderRequest
	accuracy string
	limit    int
	cursor   string
	pageFilter
}

// pageFilter selects pages by their known properties.
type pageFilter struct {
	seen        *bool // whether the page has events in the range; nil matches pages with and without events
	owners      []string
	spaces      []string // nil means all spaces
	kinds       []string
	editedUntil time.Time // the latest time of the last edit; the zero time matches any page
	title, path string
}

var pagesMembers = append([]string{
	"select", "order", "accuracy", "limit", "cursor", "neverRead", "owners", "spaces", "kinds", "notEditedSince",
	"title", "path",
}, scopeMembers...)

func decodePages(of reach, body []byte) (pagesRequest, error) {
	q := pagesRequest{accuracy: accuracies[0], limit: DefaultPagesRows}
	var since string
	err := q.decode(of, body, pagesMembers, func(r *reader, name string) (err error) {
		switch name {
		case "select":
			q.selects, err = r.columns(name)
		case "order":
			q.order, err = r.order(name)
		case "accuracy":
			q.accuracy, err = r.text()
		case "limit":
			q.limit, err = r.integer(1, MaxPagesLimit)
		case "cursor":
			q.cursor, err = r.text()
		case "neverRead":
			var never bool
			never, err = r.flag()
			seen := !never
			q.seen = &seen
		case "owners":
			q.owners, err = r.texts(maxPageWords)
		case "spaces":
			q.spaces, err = r.texts(maxPageWords)
		case "kinds":
			q.kinds, err = r.texts(maxPageWords)
		case "notEditedSince":
			since, err = r.text()
		case "title":
			q.title, err = r.text()
		case "path":
			q.path, err = r.text()
		}
		return err
	})
	if err != nil {
		return q, err
	}
	for i, kind := range q.kinds {
		if !slices.Contains(PageKinds(), kind) {
			return q, schema.Invalid(nth("kinds", i), unknown("a kind of page", kind, PageKinds()), PageKinds()...)
		}
	}
	if since != "" {
		q.editedUntil, err = parseMoment("notEditedSince", since)
	}
	return q, err
}

// admits reports whether the filter selects a page.
func (f pageFilter) admits(p pageRow) bool {
	owned := f.owners == nil || p.Owner != nil && slices.Contains(f.owners, p.Owner.ID)
	return owned && (f.seen == nil || *f.seen == p.seen) &&
		(f.spaces == nil || slices.Contains(f.spaces, p.Space)) &&
		(f.kinds == nil || slices.Contains(f.kinds, p.kind)) &&
		(f.editedUntil.IsZero() || p.kind == pageKnown && p.EditedAt.Before(f.editedUntil)) &&
		containsFold(p.Title, f.title) && containsFold(p.Path, f.path)
}

func containsFold(text, part string) bool {
	return part == "" || strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// String describes the filter, one fact a line.
func (f pageFilter) String() string {
	b := &description{}
	if f.seen != nil {
		b.line("read", fmt.Sprint(*f.seen))
	}
	quoted := func(name string, list []string) {
		if list != nil {
			b.line(name, fmt.Sprintf("%q", list))
		}
	}
	quoted("owners", f.owners)
	quoted("spaces", f.spaces)
	quoted("kinds", f.kinds)
	if !f.editedUntil.IsZero() {
		b.line("not edited since", insights.FormatTime(f.editedUntil))
	}
	if f.title != "" {
		b.line("title", fmt.Sprintf("contains %q", f.title))
	}
	if f.path != "" {
		b.line("path", fmt.Sprintf("contains %q", f.path))
	}
	return b.String()
}
