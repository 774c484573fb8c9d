package tree

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// Attributes are the values that a change sets on a page. A member that is nil leaves the page's value unchanged. An
// empty text removes an optional value.
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
	// Document is the hash of the new document. Only pages of the kind document have a document.
	Document *string
	// Target is the target of a link.
	Target schema.Data
}

// Change is one change of a tree.
type Change interface {
	apply(e *edit) error
}

// Insert adds a page. Later changes in the same list can refer to the page by Ref.
type Insert struct {
	Kind string
	// Into is the parent. If it is nil, the page is added at the root.
	Into *string
	// At is the position among the siblings. If it is nil or beyond the end, the page becomes the last sibling.
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

// Delete removes a page and all pages below it.
type Delete struct {
	Page string
}

// Revert restores a page's state from another revision. The page keeps its place and its children.
type Revert struct {
	Page string
	To   Source
}

// Problem is the reason why a change cannot be applied. Text is the end of a sentence that begins with Member.
type Problem struct {
	// Change is the index of the change.
	Change int
	Member string
	Text   string
}

func (p *Problem) Error() string { return fmt.Sprintf("change %d: %s %s", p.Change, p.Member, p.Text) }

func problem(member, text string) error { return &Problem{Member: member, Text: text} }

// Changed is the result of changes: the new or changed pages, and the deleted pages.
type Changed struct {
	Put  []Node
	Gone []string
	// Size is the number of pages after the changes.
	Size int
}

// None reports whether no page changed.
func (c Changed) None() bool { return len(c.Put) == 0 && len(c.Gone) == 0 }

// Pages returns the ids of pages that were added, changed or deleted.
func (c Changed) Pages() []string {
	ids := make([]string, len(c.Put), len(c.Put)+len(c.Gone))
	for i, n := range c.Put {
		ids[i] = n.ID
	}
	return append(ids, c.Gone...)
}

// Apply applies changes to the pages of a revision. If one change cannot be applied, Apply returns no changes. It reads
// only the pages that the changes affect. Its error is a *Problem, or an error of the source. A page is not in the
// result if only its times differ after the changes.
func Apply(from Source, changes []Change, newID func() string, now time.Time) (Changed, error) {
	e := &edit{
		from: from, pages: map[string]*entry{}, children: map[string][]string{}, whole: map[string]bool{}, refs: map[string]string{},
		size: from.Size(), newID: newID, now: now,
	}
	for i, change := range changes {
		if err := change.apply(e); err != nil {
			if p, ok := errors.AsType[*Problem](err); ok {
				p.Change = i
			}
			return Changed{}, err
		}
	}
	return e.changed(), nil
}

// Untitled is the title of a page that is inserted without a title.
const Untitled = "Untitled"

// keptText returns the text of a Problem: a change of a document that cannot be edited.
func keptText(kept string) string {
	return "cannot change: " + kept + ". Change the file in the repository and import it"
}

const noSuchPage = "names no page of this revision"

func (c Insert) apply(e *edit) error {
	if c.Ref != "" {
		if _, known := e.refs[c.Ref]; known {
			return problem("ref", "is used by an earlier change")
		}
		if known, err := e.page(c.Ref); err != nil {
			return err
		} else if known != nil {
			return problem("ref", "is the id of a page")
		}
	}
	if e.size >= MaxPages {
		return problem("operation", fmt.Sprintf("would give the space more than %d pages", MaxPages))
	}
	page := &entry{Node: Node{Page: Page{ID: e.newID(), Kind: c.Kind, Title: Untitled, CreatedAt: e.now}}, gone: true}
	if err := c.change(page, e.now); err != nil {
		return err
	}
	if err := e.put(page, c.Into, c.At, c.Slug); err != nil {
		return err
	}
	if c.Ref != "" {
		e.refs[c.Ref] = page.ID
	}
	return nil
}

// change sets the given attributes.
func (a Attributes) change(page *entry, now time.Time) error {
	switch {
	case a.Document != nil && page.Kind != KindDocument:
		return problem("document", "is for document pages only")
	case a.Document != nil && page.Kept != "":
		return problem("document", keptText(page.Kept))
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

func (c Update) apply(e *edit) error {
	page, err := e.named(c.Page)
	if err != nil {
		return err
	}
	if err := c.change(page, e.now); err != nil {
		return err
	}
	if c.Into.Set {
		return e.move(page, c.Into.Value, c.At, c.Slug)
	}
	if c.Slug == nil && c.At == nil {
		return nil
	}
	siblings, err := e.siblings(page)
	if err != nil {
		return err
	}
	if c.Slug != nil {
		if err := e.slugAmong(page, siblings, c.Slug); err != nil {
			return err
		}
	}
	if c.At != nil {
		e.place(page, page.Parent, siblings, min(*c.At, len(siblings)))
	}
	return nil
}

// move moves a page, together with all pages below it, to another place.
func (e *edit) move(page *entry, into *string, at *int, slug *string) error {
	if into != nil {
		above, err := e.above(e.id(*into))
		if err != nil {
			return err
		}
		if slices.Contains(above, page.ID) {
			return problem("into", "names the page itself or a page below it")
		}
	}
	return e.put(page, into, at, slug)
}

func (c Delete) apply(e *edit) error {
	page, err := e.named(c.Page)
	if err != nil {
		return err
	}
	return e.remove(page)
}

func (c Revert) apply(e *edit) error {
	id := e.id(c.Page)
	was, before, err := c.To.Page(id)
	if err != nil {
		return err
	}
	page, err := e.page(id)
	if err != nil {
		return err
	}
	switch {
	case before && page != nil:
		return e.revert(page, was)
	case before:
		return e.restore(was, c.To)
	case page != nil:
		return e.withdraw(page, c.To)
	}
	return problem("page", noSuchPage)
}

// revert restores the state that a page had in another revision. The page stays at its current place.
func (e *edit) revert(page *entry, was Node) error {
	if was.Kind != page.Kind {
		return problem("page", "is of another kind there")
	}
	if was.Kept != page.Kept || was.Kept != "" && was.Document != page.Document {
		return problem("page", keptText(cmp.Or(page.Kept, was.Kept)))
	}
	page.Page = was.Page
	page.UpdatedAt = e.now
	siblings, err := e.siblings(page)
	if err != nil {
		return err
	}
	return e.slugAmong(page, siblings, nil) // no slug is requested, so this call only makes the slug unique
}

// restore brings back a deleted page. It does not bring back the page's former children. If the page's old parent
// exists, the page goes below it, and otherwise to the root.
func (e *edit) restore(was Node, to Source) error {
	if e.size >= MaxPages {
		return problem("page", fmt.Sprintf("would give the space more than %d pages", MaxPages))
	}
	then, err := to.Children(was.Parent)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(then, func(n Node) bool { return n.ID == was.ID })
	var into *string
	if was.Parent != "" {
		parent, err := e.page(was.Parent)
		if err != nil {
			return err
		}
		above, err := e.above(was.Parent)
		if err != nil {
			return err
		}
		if parent != nil && parent.Kind != KindLink && len(above) < MaxDepth {
			into = &was.Parent
		}
	}
	page := e.pages[was.ID] // an earlier change of the list may have deleted the page
	if page == nil {
		page = &entry{gone: true}
	}
	page.Node = Node{Page: was.Page}
	page.UpdatedAt = e.now
	return e.put(page, into, &at, nil)
}

// withdraw removes a page that the other revision does not have.
func (e *edit) withdraw(page *entry, to Source) error {
	below, err := e.below(page.ID)
	if err != nil {
		return err
	}
	for _, id := range below {
		_, older, err := to.Page(id)
		if err != nil {
			return err
		}
		if older {
			return problem("page", "is new and holds pages that were there before: move them first")
		}
	}
	return e.remove(page)
}
