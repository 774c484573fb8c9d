package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
)

// nodes is a Source that has the pages of a tree.
type nodes []Node

func flat(pages []Page) nodes { return flatten(pages, "") }

func flatten(pages []Page, parent string) (all nodes) {
	for i, position := range Spread(len(pages)) {
		n := Node{Page: pages[i], Parent: parent, Position: position}
		n.Pages = nil
		all = append(append(all, n), flatten(pages[i].Pages, n.ID)...)
	}
	return all
}

func (s nodes) Page(id string) (Node, bool, error) {
	i := slices.IndexFunc(s, func(n Node) bool { return n.ID == id })
	if i < 0 {
		return Node{}, false, nil
	}
	return s[i], true, nil
}

func (s nodes) Children(parent string) (children []Node, _ error) {
	for _, n := range s {
		if n.Parent == parent {
			children = append(children, n)
		}
	}
	slices.SortFunc(children, InOrder)
	return children, nil
}

func (s nodes) Below(id string) ([]Node, error) {
	var all []Node
	for _, n := range s {
		if n.Parent == id {
			below, _ := s.Below(n.ID)
			all = append(append(all, below...), n)
		}
	}
	return all, nil
}

func (s nodes) Size() int { return len(s) }

// after returns the pages as they are after the changes.
func (s nodes) after(changed Changed) nodes {
	left := slices.DeleteFunc(slices.Clone(s), func(n Node) bool {
		return slices.Contains(changed.Gone, n.ID) || slices.ContainsFunc(changed.Put, func(put Node) bool { return put.ID == n.ID })
	})
	return append(left, changed.Put...)
}

// apply applies changes to a tree and returns the new tree.
func apply(pages []Page, changes []Change, newID func() string, now time.Time) ([]Page, error) {
	before := flat(pages)
	changed, err := Apply(before, changes, newID, now)
	if err != nil {
		return nil, err
	}
	after := before.after(changed)
	if len(after) != changed.Size {
		return nil, fmt.Errorf("%d pages are counted as %d", len(after), changed.Size)
	}
	return Nest(after, ""), nil
}

// equal reports whether two trees have equal pages at equal places. It ignores times.
func equal(a, b []Page) bool {
	return slices.EqualFunc(a, b, func(a, b Page) bool { return samePage(a, b) && equal(a.Pages, b.Pages) })
}

// wellFormed checks the properties that every tree must have after any changes.
func wellFormed(pages []Page) error {
	ids := map[string]bool{}
	return levels(pages, 1, ids)
}

func levels(pages []Page, depth int, ids map[string]bool) error {
	slugs := map[string]bool{}
	for i := range pages {
		p := &pages[i]
		switch {
		case ids[p.ID]:
			return fmt.Errorf("%s is there twice", p.ID)
		case depth > MaxDepth:
			return fmt.Errorf("%s is at depth %d", p.ID, depth)
		case p.Title == "":
			return fmt.Errorf("%s has no title", p.ID)
		case p.Kind == KindGroup && depth > 1:
			return fmt.Errorf("group %s is below another page", p.ID)
		case p.Kind == KindLink && (p.Slug != "" || p.Pages != nil):
			return fmt.Errorf("link %s has a slug or pages", p.ID)
		case p.Kind != KindLink && (p.Slug == "" || p.Pages == nil || slugs[p.Slug] || utf8.RuneCountInString(p.Slug) > maxSlug):
			return fmt.Errorf("%s has the slug %q and the pages %v", p.ID, p.Slug, p.Pages)
		}
		ids[p.ID], slugs[p.Slug] = true, true
		if err := levels(p.Pages, depth+1, ids); err != nil {
			return err
		}
	}
	return nil
}

// model is a tree in the form of lists of children, by their parent. The key "" is the root.
type model struct {
	children map[string][]string
	kind     map[string]string
	title    map[string]string
}

func (m *model) parent(id string) string {
	for parent, children := range m.children {
		if slices.Contains(children, id) {
			return parent
		}
	}
	return ""
}

func (m *model) depth(id string) int {
	depth := 1
	for at := m.parent(id); at != ""; at = m.parent(at) {
		depth++
	}
	return depth
}

func (m *model) below(id, ancestor string) bool {
	for at := id; at != ""; at = m.parent(at) {
		if at == ancestor {
			return true
		}
	}
	return false
}

func (m *model) height(id string) int {
	h := 0
	for _, child := range m.children[id] {
		h = max(h, m.height(child))
	}
	return h + 1
}

func (m *model) take(id string) {
	parent := m.parent(id)
	m.children[parent] = slices.DeleteFunc(m.children[parent], func(c string) bool { return c == id })
}

func (m *model) put(id, parent string, at int) {
	siblings := m.children[parent]
	if at < 0 || at > len(siblings) {
		at = len(siblings)
	}
	m.children[parent] = slices.Insert(siblings, at, id)
}

func (m *model) drop(id string) {
	m.take(id)
	for _, child := range slices.Clone(m.children[id]) {
		m.drop(child)
	}
	delete(m.children, id)
	delete(m.kind, id)
}

// mayHold reports whether a page of this kind and height may be a child of the parent.
func (m *model) mayHold(parent, kind string, height int) bool {
	if parent == "" {
		return true
	}
	return m.kind[parent] != "" && m.kind[parent] != KindLink && kind != KindGroup && m.depth(parent)+height <= MaxDepth
}

func (m *model) lines(parent string) []string {
	var lines []string
	for _, id := range m.children[parent] {
		lines = append(lines, fmt.Sprintf("%s %s %s in %q", id, m.kind[id], m.title[id], parent))
		lines = append(lines, m.lines(id)...)
	}
	return lines
}

func lines(pages []Page, parent string) []string {
	var all []string
	for _, p := range pages {
		all = append(all, fmt.Sprintf("%s %s %s in %q", p.ID, p.Kind, p.Title, parent))
		all = append(all, lines(p.Pages, p.ID)...)
	}
	return all
}

// TestTreeAgainstModel applies valid and invalid changes. After each change, it compares the tree with the model.
func TestTreeAgainstModel(t *testing.T) {
	t.Parallel()
	titles := []string{"Start", "start", "Über uns", "日本", "!!!", strings.Repeat("long ", 40)}
	rapid.Check(t, func(t *rapid.T) {
		m := &model{children: map[string][]string{}, kind: map[string]string{}, title: map[string]string{}}
		var pages []Page
		next := 0
		newID := func() string { next++; return fmt.Sprintf("p%d", next) }
		somebody := func(label string) string {
			return rapid.SampledFrom(append([]string{"nobody"}, sorted(m.kind)...)).Draw(t, label)
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				kind, title := rapid.SampledFrom(Kinds()).Draw(t, "kind"), rapid.SampledFrom(titles).Draw(t, "title")
				change := Insert{Kind: kind, Attributes: Attributes{Title: &title}}
				parent, at := "", -1
				if rapid.Bool().Draw(t, "below") {
					parent = somebody("into")
					change.Into = &parent
				}
				if rapid.Bool().Draw(t, "somewhere") {
					at = rapid.IntRange(0, 5).Draw(t, "at")
					change.At = &at
				}
				pages = m.expect(t, pages, change, newID, m.mayHold(parent, kind, 1), func() {
					id := fmt.Sprintf("p%d", next)
					m.kind[id], m.title[id] = kind, title
					m.put(id, parent, at)
				})
			},
			"update": func(t *rapid.T) {
				id, title := somebody("page"), rapid.SampledFrom(titles).Draw(t, "title")
				pages = m.expect(t, pages, Update{Page: id, Attributes: Attributes{Title: &title}}, newID, m.kind[id] != "",
					func() { m.title[id] = title })
			},
			"move": func(t *rapid.T) {
				id, parent := somebody("page"), ""
				change := Update{Page: id, Into: schema.Opt[string]{Set: true}}
				if rapid.Bool().Draw(t, "below") {
					parent = somebody("into")
					change.Into.Value = &parent
				}
				at := rapid.IntRange(0, 5).Draw(t, "at")
				change.At = &at
				ok := m.kind[id] != "" && !(parent != "" && m.below(parent, id)) && m.mayHold(parent, m.kind[id], m.height(id))
				pages = m.expect(t, pages, change, newID, ok, func() { m.take(id); m.put(id, parent, at) })
			},
			"reorder": func(t *rapid.T) {
				id, at := somebody("page"), rapid.IntRange(0, 5).Draw(t, "at")
				pages = m.expect(t, pages, Update{Page: id, At: &at}, newID, m.kind[id] != "", func() {
					parent := m.parent(id)
					m.take(id)
					m.put(id, parent, at)
				})
			},
			"delete": func(t *rapid.T) {
				id := somebody("page")
				pages = m.expect(t, pages, Delete{Page: id}, newID, m.kind[id] != "", func() { m.drop(id) })
			},
			"revert": func(t *rapid.T) {
				// Reverting a page to its present state changes only its time.
				id := somebody("page")
				pages = m.expect(t, pages, Revert{Page: id, To: flat(pages)}, newID, m.kind[id] != "", func() {})
			},
			"": func(t *rapid.T) {
				if err := wellFormed(pages); err != nil {
					t.Fatal(err)
				}
				if got, want := lines(pages, ""), m.lines(""); !slices.Equal(got, want) {
					t.Fatalf("tree\n%s\nmodel\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				Walk(pages, func(p Placed) bool {
					if byID, ok := Find(pages, p.ID); !ok || byID.Page != p.Page || byID.Path != p.Path {
						t.Fatalf("%s: found %v", p.ID, byID)
					}
					if byPath, ok := FindPath(pages, "/"+p.Path+"/"); ok != (p.Kind != KindLink) || ok && byPath.Page != p.Page {
						t.Fatalf("%s at %s: found %v", p.ID, p.Path, byPath)
					}
					return true
				})
			},
		})
	})
}

// expect applies one change. The change must be accepted or refused as in the model. The old tree must be unchanged.
func (m *model) expect(t *rapid.T, pages []Page, change Change, newID func() string, ok bool, do func()) []Page {
	before := encode(t, pages)
	changed, err := apply(pages, []Change{change}, newID, time.Unix(1, 0))
	if after := encode(t, pages); after != before {
		t.Fatalf("the old tree changed from %s to %s", before, after)
	}
	if (err == nil) != ok {
		t.Fatalf("%+v: %v, want taken %t", change, err, ok)
	}
	if !ok {
		return pages
	}
	do()
	return changed
}

func encode(t interface{ Fatal(...any) }, pages []Page) string {
	encoded, err := json.Marshal(pages)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func sorted(m map[string]string) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// build makes a tree with changes. New pages get the ids p1, p2, … in order.
func build(t *testing.T, pages []Page, changes ...Change) []Page {
	t.Helper()
	next := 0
	changed, err := apply(pages, changes, func() string { next++; return fmt.Sprintf("p%d", next) }, time.Unix(int64(len(changes)), 0))
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func titled(title string) Attributes { return Attributes{Title: &title} }

func paths(pages []Page) []string {
	all := []string{}
	Walk(pages, func(p Placed) bool { all = append(all, p.Path); return true })
	return all
}

func TestSlugs(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Getting started": "getting-started", "  A/B & C!  ": "a-b-c", "Über Straße 9": "über-straße-9", "---": "page", "": "page",
		strings.Repeat("ab ", 50): strings.TrimRight(strings.Repeat("ab-", 34)[:100], "-"),
	} {
		if got := Slugify(title); got != want || !ValidSlug(got) {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
	for slug, want := range map[string]bool{"a": true, "a.b_c": true, "日本": true, "..": false, ".": false, "a/b": false, "a b": false, "%": false, "a?": false} {
		if ValidSlug(slug) != want {
			t.Errorf("%q: %t", slug, !want)
		}
	}
	root, other := "p1", "free"
	pages := build(t, nil,
		Insert{Kind: KindDocument, Attributes: titled("One")}, Insert{Kind: KindDocument, Attributes: titled("one!")},
		Insert{Kind: KindDocument, Attributes: titled("ONE"), Into: &root},
		Update{Page: "p2", Into: schema.Opt[string]{Set: true, Value: &root}},
		Update{Page: "p1", Attributes: Attributes{Slug: &other}},
	)
	if got := paths(pages); !slices.Equal(got, []string{"free", "free/one", "free/one-1"}) {
		t.Errorf("paths %q", got)
	}
}

func TestChangesThatAreRefused(t *testing.T) {
	t.Parallel()
	text, slug, nobody, doc, group, link := "x", "doc", "nobody", "p1", "p2", "p3"
	pages := build(t, nil, Insert{Kind: KindDocument, Attributes: titled("Doc")}, Insert{Kind: KindGroup}, Insert{Kind: KindLink})
	deep, below := pages, doc
	for i := range MaxDepth - 1 {
		changed, err := apply(deep, []Change{Insert{Kind: KindDocument, Into: &below}}, func() string { return fmt.Sprintf("d%d", i) }, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		deep, below = changed, fmt.Sprintf("d%d", i)
	}
	for name, test := range map[string]struct {
		pages  []Page
		change Change
		member string
	}{
		"unknown parent":         {pages, Insert{Kind: KindDocument, Into: &nobody}, "into"},
		"below a link":           {pages, Insert{Kind: KindDocument, Into: &link}, "into"},
		"group below":            {pages, Insert{Kind: KindGroup, Into: &group}, "into"},
		"too deep":               {deep, Insert{Kind: KindDocument, Into: &below}, "into"},
		"too deep by move":       {deep, Update{Page: doc, Into: schema.Opt[string]{Set: true, Value: &group}}, "into"},
		"ref is an id":           {pages, Insert{Kind: KindDocument, Ref: doc}, "ref"},
		"slug is taken":          {pages, Insert{Kind: KindDocument, Attributes: Attributes{Slug: &slug}}, "slug"},
		"slug of another":        {pages, Update{Page: group, Attributes: Attributes{Slug: &slug}}, "slug"},
		"slug of a link":         {pages, Update{Page: link, Attributes: Attributes{Slug: &text}}, "slug"},
		"document of a group":    {pages, Update{Page: group, Attributes: Attributes{Document: &text}}, "document"},
		"target of a document":   {pages, Update{Page: doc, Attributes: Attributes{Target: schema.Data{}}}, "target"},
		"into itself":            {pages, Update{Page: doc, Into: schema.Opt[string]{Set: true, Value: &doc}}, "into"},
		"update of nothing":      {pages, Update{Page: nobody}, "page"},
		"delete of nothing":      {pages, Delete{Page: nobody}, "page"},
		"revert of nothing":      {pages, Revert{Page: nobody, To: flat(pages)}, "page"},
		"revert to another kind": {pages, Revert{Page: doc, To: flat([]Page{{ID: doc, Kind: KindGroup}})}, "page"},
		"revert of a new parent": {deep, Revert{Page: doc, To: flat([]Page{{ID: "d3", Kind: KindDocument}})}, "page"},
	} {
		_, err := apply(test.pages, []Change{Insert{Kind: KindDocument}, test.change}, func() string { return "fresh" }, time.Now())
		found, ok := errors.AsType[*Problem](err)
		if !ok || found.Member != test.member || found.Change != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	ref := "mine"
	pages := build(t, nil,
		Insert{Kind: KindDocument, Ref: ref, Attributes: titled("A")}, Insert{Kind: KindDocument, Into: &ref, Attributes: titled("B")},
		Update{Page: ref, Attributes: titled("C")})
	if got := lines(pages, ""); !slices.Equal(got, []string{`p1 document C in ""`, `p2 document B in "p1"`}) {
		t.Errorf("%q", got)
	}
}

func TestRevert(t *testing.T) {
	t.Parallel()
	root := "p1"
	old := build(t, nil, Insert{Kind: KindDocument, Attributes: titled("A")}, Insert{Kind: KindDocument, Into: &root, Attributes: titled("B")})
	changed := build(t, old, Update{Page: "p1", Attributes: titled("Changed")}, Delete{Page: "p2"})
	if back := build(t, changed, Revert{Page: "p1", To: flat(old)}, Revert{Page: "p2", To: flat(old)}); !equal(back, old) {
		t.Errorf("%q", lines(back, ""))
	}
	added, err := apply(old, []Change{Insert{Kind: KindDocument}}, func() string { return "new" }, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if back := build(t, added, Revert{Page: "new", To: flat(old)}); !equal(back, old) {
		t.Errorf("%q", lines(back, ""))
	}
}
