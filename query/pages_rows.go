package query

import (
	"cmp"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// pageRow is a page with its metrics.
type pageRow struct {
	schema.SitePage
	kind    string
	seen    bool     // whether the page has events in the range
	metrics [][]byte // values of the output columns
	place   rowPlace
}

// rowPlace is the sort key of a row in the list of pages. In ascending order, pages without a value come first.
type rowPlace struct {
	known  bool // whether the page has a value
	number int64
	text   string
	key    pageID // key orders pages with equal values
}

// pageID identifies a page: a page of a space, or a path outside all spaces.
type pageID struct{ space, page, path string }

func (id pageID) compare(other pageID) int {
	return cmp.Or(
		strings.Compare(id.space, other.space), strings.Compare(id.page, other.page),
		strings.Compare(id.path, other.path),
	)
}

// compare compares two places in an order.
func (r rowPlace) compare(other rowPlace, desc bool) int {
	known := func(place rowPlace) int {
		if place.known {
			return 1
		}
		return 0
	}
	c := cmp.Or(
		cmp.Compare(known(r), known(other)), cmp.Compare(r.number, other.number), strings.Compare(r.text, other.text),
	)
	if desc {
		c = -c
	}
	return cmp.Or(c, r.key.compare(other.key))
}
