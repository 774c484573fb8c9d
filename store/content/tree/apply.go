package tree

import (
	"fmt"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// Attributes are what a change sets on a page; nil leaves a value unchanged. Empty text removes an optional one.
type Attributes struct {
	Title         *string
	Slug          *string
	Emoji         *string
	Icon          *string
	Description   *string
	Condition     *string
	Hidden        *bool
	NoIndex       *bool
	NoRobotsIndex *bool
	// Document names the new document; for document pages only.
	Document *string
	// Target is where a link leads.
	Target schema.Data
}

// Change is one change of a tree.
type Change interface {
	apply(e *edit) *Problem
}

// Insert adds a page. Later changes in the same list can name it by Ref.
type Insert struct {
	Kind string
	// Into is the parent; nil is the root.
	Into *string
	// At is the position among the siblings; nil, or a position beyond the end, means last.
	At  *int
	Ref string
	Attributes
}

// Update changes a page, and moves it if Into or At is set.
type Update struct {
	Page string
	Into schema.Opt[string]
	At   *int
	Attributes
}

// Delete removes a page and everything below it.
type Delete struct {
	Page string
}

// Revert restores a page's state from another tree; the page keeps its place and its children.
type Revert struct {
	Page string
	To   []Page
}

// Problem says why a change cannot be applied. Text completes the sentence "<member> ...".
type Problem struct {
	// Change is the index of the change.
	Change int
	Member string
	Text   string
}

func (p *Problem) Error() string { return fmt.Sprintf("change %d: %s %s", p.Change, p.Member, p.Text) }

func problem(member, text string) *Problem { return &Problem{Member: member, Text: text} }

// edit is a tree while changes are being applied to it.
type edit struct {
	pages []Page
	refs  map[string]string
	newID func() string
	now   time.Time
}

// Apply returns the tree after the changes. It applies all of them or none.
func Apply(pages []Page, changes []Change, newID func() string, now time.Time) ([]Page, error) {
	e := &edit{pages: clone(pages), refs: map[string]string{}, newID: newID, now: now}
	for i, change := range changes {
		if p := change.apply(e); p != nil {
			p.Change = i
			return nil, p
		}
	}
	if e.pages == nil {
		e.pages = []Page{}
	}
	return e.pages, nil
}

const noSuchPage = "names no page of this revision"

// id resolves a name in a change: a page's id, or the Ref of one that an earlier change added.
func (e *edit) id(name string) string {
	if id, ok := e.refs[name]; ok {
		return id
	}
	return name
}

// place is where a page is. It is valid until the tree changes.
type place struct {
	siblings *[]Page
	index    int
	// depth is the page's depth, 1 at the root.
	depth int
}

func (p place) page() *Page { return &(*p.siblings)[p.index] }

func (e *edit) locate(name string) (place, bool) {
	return locate(&e.pages, e.id(name), 1)
}

func locate(siblings *[]Page, id string, depth int) (place, bool) {
	for i := range *siblings {
		if (*siblings)[i].ID == id {
			return place{siblings, i, depth}, true
		}
		if at, ok := locate(&(*siblings)[i].Pages, id, depth+1); ok {
			return at, true
		}
	}
	return place{}, false
}

func (c Insert) apply(e *edit) *Problem {
	if _, known := e.refs[c.Ref]; known {
		return problem("ref", "is used by an earlier change")
	}
	if _, known := e.locate(c.Ref); known && c.Ref != "" {
		return problem("ref", "is the id of a page")
	}
	if size(e.pages) >= maxPages {
		return problem("operation", fmt.Sprintf("would give the space more than %d pages", maxPages))
	}
	page := Page{ID: e.newID(), Kind: c.Kind, Title: "Untitled", CreatedAt: e.now}
	if c.Kind != KindLink {
		page.Pages = []Page{}
	}
	if p := c.Attributes.change(&page, e.now); p != nil {
		return p
	}
	if p := e.put(page, c.Into, c.At, c.Slug); p != nil {
		return p
	}
	if c.Ref != "" {
		e.refs[c.Ref] = page.ID
	}
	return nil
}

// put inserts a page that is not in the tree.
func (e *edit) put(page Page, into *string, at *int, slug *string) *Problem {
	siblings, depth := &e.pages, 1
	if into != nil {
		parent, ok := e.locate(*into)
		switch {
		case !ok:
			return problem("into", noSuchPage)
		case parent.page().Kind == KindLink:
			return problem("into", "names a link, which has no pages below it")
		case page.Kind == KindGroup:
			return problem("into", "must be absent: a group stands at the root")
		}
		siblings, depth = &parent.page().Pages, parent.depth+1
	}
	if depth+height(&page)-1 > maxDepth {
		return problem("into", fmt.Sprintf("would nest pages deeper than %d levels", maxDepth))
	}
	if p := page.slugAmong(*siblings, slug); p != nil {
		return p
	}
	index := len(*siblings)
	if at != nil {
		index = min(*at, index)
	}
	*siblings = slices.Insert(*siblings, index, page)
	return nil
}

// slugAmong gives the page a slug that is unique among its siblings: the requested one, or one derived from its current
// slug.
func (p *Page) slugAmong(siblings []Page, asked *string) *Problem {
	switch {
	case p.Kind == KindLink:
		return nil
	case asked != nil && *asked != "":
		if taken(*asked, siblings, p.ID) {
			return problem("slug", "is the slug of another page there")
		}
		p.Slug = *asked
		return nil
	case p.Slug == "" || asked != nil:
		p.Slug = Slugify(p.Title)
	}
	p.Slug = freeSlug(p.Slug, siblings, p.ID)
	return nil
}

// change sets the given attributes.
func (a Attributes) change(page *Page, now time.Time) *Problem {
	switch {
	case a.Document != nil && page.Kind != KindDocument:
		return problem("document", "is for document pages only")
	case a.Target != nil && page.Kind != KindLink:
		return problem("target", "is for links only")
	case a.Slug != nil && page.Kind == KindLink:
		return problem("slug", "is not for links, which have no path")
	}
	set(&page.Title, a.Title)
	set(&page.Emoji, a.Emoji)
	set(&page.Icon, a.Icon)
	set(&page.Description, a.Description)
	set(&page.Condition, a.Condition)
	set(&page.Hidden, a.Hidden)
	set(&page.NoIndex, a.NoIndex)
	set(&page.NoRobotsIndex, a.NoRobotsIndex)
	set(&page.Document, a.Document)
	if a.Target != nil {
		page.Target = a.Target
	}
	page.UpdatedAt = now
	return nil
}

func set[T any](member, value *T) {
	if value != nil {
		*member = *value
	}
}

func (c Update) apply(e *edit) *Problem {
	at, ok := e.locate(c.Page)
	if !ok {
		return problem("page", noSuchPage)
	}
	if p := c.Attributes.change(at.page(), e.now); p != nil {
		return p
	}
	if c.Into.Set {
		return e.move(at, c.Into.Value, c.At, c.Slug)
	}
	if c.Slug != nil {
		if p := at.page().slugAmong(*at.siblings, c.Slug); p != nil {
			return p
		}
	}
	if c.At != nil {
		page := *at.page()
		rest := slices.Delete(*at.siblings, at.index, at.index+1)
		*at.siblings = slices.Insert(rest, min(*c.At, len(rest)), page)
	}
	return nil
}

// move moves a page elsewhere with everything below it.
func (e *edit) move(from place, into *string, at *int, slug *string) *Problem {
	page := *from.page()
	if into != nil {
		if _, below := locate(&[]Page{page}, e.id(*into), 1); below {
			return problem("into", "names the page itself or a page below it")
		}
	}
	*from.siblings = slices.Delete(*from.siblings, from.index, from.index+1)
	return e.put(page, into, at, slug)
}

func (c Delete) apply(e *edit) *Problem {
	at, ok := e.locate(c.Page)
	if !ok {
		return problem("page", noSuchPage)
	}
	*at.siblings = slices.Delete(*at.siblings, at.index, at.index+1)
	return nil
}

func (c Revert) apply(e *edit) *Problem {
	to := c.To
	wanted, was := locate(&to, e.id(c.Page), 1)
	at, is := e.locate(c.Page)
	switch {
	case was && is:
		return at.revert(wanted.page(), e.now)
	case was:
		return e.restore(to, wanted, e.now)
	case is:
		return e.withdraw(at, to)
	}
	return problem("page", noSuchPage)
}

// revert restores a page's state, but keeps its current place and children.
func (p place) revert(was *Page, now time.Time) *Problem {
	page := *was
	page.Pages = p.page().Pages
	if page.Kind != p.page().Kind {
		return problem("page", "is of another kind there")
	}
	page.UpdatedAt = now
	_ = page.slugAmong(*p.siblings, nil) // No slug is requested, so this cannot fail: it only makes the slug unique.
	*p.page() = page
	return nil
}

// restore brings back a deleted page, without its former children: below its old parent if that exists, else at the
// root.
func (e *edit) restore(to []Page, was place, now time.Time) *Problem {
	page := *was.page()
	if page.Pages != nil {
		page.Pages = []Page{}
	}
	page.UpdatedAt = now
	if size(e.pages) >= maxPages {
		return problem("page", fmt.Sprintf("would give the space more than %d pages", maxPages))
	}
	var into *string
	if parent := parentOf(to, page.ID); parent != "" {
		if at, ok := e.locate(parent); ok && at.page().Kind != KindLink && at.depth < maxDepth {
			into = &parent
		}
	}
	return e.put(page, into, &was.index, nil)
}

// withdraw removes a page that the other tree does not have.
func (e *edit) withdraw(at place, to []Page) *Problem {
	older := false
	Walk(at.page().Pages, func(p Placed) bool {
		_, older = Find(to, p.ID)
		return !older
	})
	if older {
		return problem("page", "is new and holds pages that were there before: move them first")
	}
	*at.siblings = slices.Delete(*at.siblings, at.index, at.index+1)
	return nil
}

// parentOf returns the id of a page's parent; "" is the root.
func parentOf(pages []Page, id string) string {
	for i := range pages {
		if slices.ContainsFunc(pages[i].Pages, func(p Page) bool { return p.ID == id }) {
			return pages[i].ID
		}
		if parent := parentOf(pages[i].Pages, id); parent != "" {
			return parent
		}
	}
	return ""
}
