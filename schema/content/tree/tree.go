package tree

import (
	"reflect"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// These are the kinds of pages. A group is allowed only at the root and has no text. A link has no pages below it.
const (
	KindDocument = "document"
	KindGroup    = "group"
	KindLink     = "link"
)

// Kinds are the values of a page's `type`.
func Kinds() []string { return []string{KindDocument, KindGroup, KindLink} }

// MaxDepth and MaxPages bound a tree. Because of MaxDepth, code can visit a tree recursively without its own limit.
const (
	MaxDepth = 16
	MaxPages = 100_000
)

// Page is a node of the tree. It is stored as JSON, so the JSON names of its members must not change.
type Page struct {
	ID            string    `json:"id,omitempty"`
	Kind          string    `json:"type"`
	Title         string    `json:"title"`
	LinkTitle     string    `json:"linkTitle,omitempty"` // shown instead of the title in lists of pages
	Slug          string    `json:"slug,omitempty"`
	Emoji         string    `json:"emoji,omitempty"`
	Icon          string    `json:"icon,omitempty"`
	Description   string    `json:"description,omitempty"`
	Condition     string    `json:"condition,omitempty"`
	Hidden        bool      `json:"hidden,omitzero"`
	NoIndex       bool      `json:"noIndex,omitzero"`
	NoRobotsIndex bool      `json:"noRobotsIndex,omitzero"`
	CreatedAt     time.Time `json:"createdAt"`
	UpdatedAt     time.Time `json:"updatedAt"`
	// Document is the hash of the page's document. If a document page has no hash, it is empty.
	Document string `json:"document,omitempty"`
	// Kept is the reason why users cannot edit the document: the page's file in a Git repository cannot be used as a
	// page. The document contains this text too.
	Kept string `json:"kept,omitempty"`
	// Target is the target of a link.
	Target schema.Data `json:"target,omitzero"`
	// Layout says which parts of the page are shown or hidden. Cover is the image above the page. Variables are the
	// values for the page's expressions.
	Layout    schema.Data `json:"layout,omitzero"`
	Cover     schema.Data `json:"cover,omitzero"`
	Variables schema.Data `json:"variables,omitzero"`
	Tags      []Tag       `json:"tags,omitzero"`
	Pages     []Page      `json:"pages,omitzero"`
}

// Tag is a page's tag. The space defines which tags exist. Lists of pages show a page's primary tag.
type Tag struct {
	Name    string `json:"tag"`
	Primary bool   `json:"primary,omitzero"`
}

// Placed is a page with its path. A path consists of slugs. Links have no path.
type Placed struct {
	*Page
	Path string
}

// Walk calls `visit` for every page until `visit` returns false. Parents come before their children, and siblings are
// in order.
func Walk(pages []Page, visit func(p Placed) bool) {
	walk(pages, "", visit)
}

func walk(pages []Page, prefix string, visit func(p Placed) bool) bool {
	for i := range pages {
		page := &pages[i]
		path := ""
		if page.Slug != "" {
			path = prefix + page.Slug
		}
		if !visit(Placed{Page: page, Path: path}) || !walk(page.Pages, path+"/", visit) {
			return false
		}
	}
	return true
}

// Shown returns the pages that a visitor sees. The function `allows` evaluates the condition of a page. If it returns
// false, the page and all pages below it are left out. Shown does not change its argument.
func Shown(pages []Page, allows func(condition string) bool) []Page {
	shown := make([]Page, 0, len(pages))
	for _, page := range pages {
		if page.Condition == "" || allows(page.Condition) {
			page.Pages = Shown(page.Pages, allows)
			shown = append(shown, page)
		}
	}
	return shown
}

// Find returns the page with this id.
func Find(pages []Page, id string) (Placed, bool) {
	return first(pages, func(p Placed) bool { return p.ID == id })
}

// FindPath returns the page at a path. Slashes at either end of the path are ignored.
func FindPath(pages []Page, path string) (Placed, bool) {
	path = strings.Trim(path, "/")
	if path == "" {
		return Placed{}, false
	}
	return first(pages, func(p Placed) bool { return p.Path == path })
}

func first(pages []Page, wanted func(p Placed) bool) (found Placed, ok bool) {
	Walk(pages, func(p Placed) bool {
		if wanted(p) {
			found, ok = p, true
		}
		return !ok
	})
	return found, ok
}

// samePage reports whether two pages are equal. It ignores their children and times.
func samePage(a, b Page) bool {
	a.CreatedAt, a.UpdatedAt, a.Pages = time.Time{}, time.Time{}, nil
	b.CreatedAt, b.UpdatedAt, b.Pages = time.Time{}, time.Time{}, nil
	return reflect.DeepEqual(a, b)
}
