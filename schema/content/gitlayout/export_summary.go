package gitlayout

import (
	"cmp"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// contents is an item that the table of contents must have.
type contents struct {
	item
	// known is the entry's key if the table already has the entry. Otherwise it is empty.
	known string
	// own, ownLabel and ownDest are true if the old line already has the right title, label or destination.
	own, ownLabel, ownDest bool
}

// writeSummary updates the table of contents, or creates one if the folders do not match the pages.
func (x *exporter) writeSummary(k *linker, moved []string) error {
	l := x.layout
	if !l.HasSummary {
		next, err := x.after()
		if err != nil {
			return err
		}
		entries, err := next.Outline()
		if err != nil {
			return err
		}
		if x.says(entries, x.pages) {
			return nil
		}
	}
	if why := l.blocked(l.Summary); why != "" {
		x.notes = append(x.notes, Note{l.Summary, "the table of contents was not written: the file " + why})
		return nil
	}
	text, there, err := x.text(l.Summary)
	if err != nil {
		return err
	}
	if !there {
		text = "# Table of contents\n"
	}
	old := parseSummary(text)
	(&Layout{
		Root: l.Root, Readme: l.Readme, Summary: l.Summary, files: l.files, left: l.left, repository: l.repository,
	}).outlineOf(old)
	want := x.contents(x.pages, 0, "", k)
	if slices.Contains(moved, l.Summary) {
		compare(old, want)
	}
	written := rewrite(old, want, true)
	if there && written == text {
		return nil
	}
	x.changes[l.Summary] = Change{Path: l.Summary, Content: []byte(written)}
	next, err := x.after()
	if err != nil {
		return err
	}
	if entries, err := next.Outline(); err != nil || x.says(entries, x.pages) {
		return err
	}
	// The present lines, read with the new lines, would give other pages than the space has. So all lines are written
	// again.
	x.changes[l.Summary] = Change{Path: l.Summary, Content: []byte(rewrite(old, want, false))}
	return nil
}

// compare is used if the table of contents was changed in the repository. It finds the lines that already have the
// right title and destination.
func compare(old *summary, want []contents) {
	byKey := map[string]*item{}
	for i := range old.items {
		byKey[old.items[i].key] = &old.items[i]
	}
	for i := range want {
		w := &want[i]
		it := byKey[w.known]
		w.own = it != nil && it.title == oneLine(w.title)
		w.ownDest = it != nil && (w.dest == "" || it.dest == w.dest || !strings.HasPrefix(w.key, keyPrefix))
	}
}

// says reports whether reading the entries gives these pages.
func (x *exporter) says(entries []*Entry, pages []tree.Page) bool {
	if len(entries) != len(pages) {
		return false
	}
	for i, e := range entries {
		p := &pages[i]
		if e.Kind != p.Kind || e.HasFile() != (x.paths[p.ID] != "") || e.HasFile() && e.Key != x.paths[p.ID] ||
			!e.HasFile() && e.Title != oneLine(p.Title) || !x.says(e.Children, p.Pages) {
			return false
		}
	}
	return true
}

// contents lists the entries that pages need in the table of contents.
func (x *exporter) contents(pages []tree.Page, depth int, parent string, k *linker) []contents {
	var list []contents
	grouped := false
	for i := range pages {
		p := &pages[i]
		was, known := x.was[p.ID]
		c := contents{
			item: item{kind: itemPage, depth: depth, title: p.Title, key: x.keys[p.ID], label: p.LinkTitle},
			own:  known && was.Title == p.Title, ownLabel: known && was.LinkTitle == p.LinkTitle, ownDest: true,
		}
		c.known, c.parent = c.key, parent
		if p.Kind == tree.KindGroup {
			c.slug, c.own = p.Slug, c.own && was.Slug == p.Slug
		}
		below := depth + 1
		switch {
		case p.Kind == tree.KindGroup:
			c.kind, grouped, below = itemHeading, true, 0
		case grouped && depth == 0:
			list = append(list, contents{item: item{kind: itemRule}})
			grouped = false
		}
		if at := x.paths[p.ID]; at != "" {
			c.key, c.dest = at, content.RelativeLink(x.layout.Summary, at)
		}
		if p.Kind == tree.KindLink {
			c.dest, c.ownDest = x.linkOf(p, k), known && sameTarget(was.Target, p.Target)
		}
		list = append(list, c)
		list = append(list, x.contents(p.Pages, below, cmp.Or(c.known, newParent), k)...)
	}
	return list
}

func (x *exporter) linkOf(p *tree.Page, k *linker) string {
	if ref := k.write(x.layout.Summary, p.Target); ref != nil {
		link, _ := ref["url"].(string)
		return link
	}
	link, _ := p.Target["url"].(string)
	return link
}
