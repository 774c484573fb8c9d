package gitlayout

import (
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
	"github.com/octavo-docs/octavo/store/content/markdown"
	"github.com/octavo-docs/octavo/store/content/tree"
)

// contents is an item that the table of contents must have.
type contents struct {
	item
	// same says that its old line does, if it is still at its depth. sameLabel says that the label of the old line
	// stays.
	same, sameLabel bool
}

// writeSummary brings the table of contents up to date, or makes one if the folders do not say what the pages are.
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
		text = "# Table of contents\n\n"
	}
	old := parseSummary(text)
	(&Layout{
		Root: l.Root, Readme: l.Readme, Summary: l.Summary, files: l.files, left: l.left, repository: l.repository,
	}).outlineOf(old)
	want := x.contents(x.pages, 0, k)
	if slices.Contains(moved, l.Summary) {
		compare(old, want)
	}
	if there && unchanged(old, want) {
		return nil
	}
	written := render(old, want, true)
	x.changes[l.Summary] = Change{Path: l.Summary, Content: []byte(written)}
	next, err := x.after()
	if err != nil {
		return err
	}
	if entries, err := next.Outline(); err != nil || x.says(entries, x.pages) {
		return err
	}
	// Old lines stand for something else beside new ones: all are written anew.
	x.changes[l.Summary] = Change{Path: l.Summary, Content: []byte(render(old, want, false))}
	return nil
}

// compare finds the lines of a table of contents that do although nobody knows what they were.
func compare(old *summary, want []contents) {
	byKey := map[string]*item{}
	for i := range old.items {
		byKey[old.items[i].key] = &old.items[i]
	}
	for i := range want {
		w := &want[i]
		it := byKey[w.key]
		w.same = it != nil && it.title == oneLine(w.title) && (w.dest == "" || it.dest == w.dest || !strings.HasPrefix(w.key, keyPrefix))
	}
}

// says tells whether entries are these pages.
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

// contents lists what pages need in the table of contents.
func (x *exporter) contents(pages []tree.Page, depth int, k *linker) []contents {
	var list []contents
	grouped := false
	for i := range pages {
		p := &pages[i]
		was, known := x.was[p.ID]
		c := contents{item: item{kind: itemPage, depth: depth, title: p.Title, key: x.keys[p.ID]}, same: known && was.Title == p.Title}
		if p.Kind == tree.KindGroup {
			c.slug, c.same = p.Slug, c.same && was.Slug == p.Slug
		}
		c.label, c.sameLabel = p.LinkTitle, known && was.LinkTitle == p.LinkTitle
		c.same = c.same && c.sameLabel
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
			c.dest, c.same = x.linkOf(p, k), c.same && sameTarget(was.Target, p.Target)
		}
		list = append(list, c)
		list = append(list, x.contents(p.Pages, below, k)...)
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

// unchanged tells whether a table of contents has just what is wanted, rules aside.
func unchanged(old *summary, want []contents) bool {
	at := 0
	next := func() *item {
		for at < len(old.items) && old.items[at].kind == itemRule {
			at++
		}
		if at == len(old.items) {
			return nil
		}
		at++
		return &old.items[at-1]
	}
	for i := range want {
		if want[i].kind == itemRule {
			continue
		}
		it := next()
		if it == nil || !want[i].same || it.kind != want[i].kind || it.key != want[i].key || min(it.depth, maxNesting) != want[i].depth {
			return false
		}
	}
	return next() == nil
}

// render writes the table of contents. Old lines are used for what is as it was, if reuse is set.
func render(old *summary, want []contents, reuse bool) string {
	lines := append([]string{}, old.head...)
	byKey := map[string]*item{}
	for i := range old.items {
		if key := old.items[i].key; key != "" {
			byKey[key] = &old.items[i]
		}
	}
	last := itemPage
	for i := range want {
		w := &want[i]
		it := byKey[w.key]
		if !reuse || it == nil || w.key == "" {
			it = &item{depth: -1}
		}
		delete(byKey, w.key)
		lines = append(lines, it.before...)
		blank := len(lines) == 0 || strings.TrimSpace(lines[len(lines)-1]) == ""
		if w.kind != itemPage && !blank || w.kind == itemPage && last != itemPage && !blank {
			lines = append(lines, "")
		}
		if it.depth == w.depth && w.same && it.kind == w.kind {
			lines = append(lines, it.line)
		} else {
			lines = append(lines, newLine(old, it, w))
		}
		lines = append(lines, it.after...)
		last = w.kind
	}
	if len(old.tail) == 0 {
		lines = append(lines, "")
	}
	text := strings.Join(append(lines, old.tail...), "\n")
	if old.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// headingOf writes the heading of a group, with its slug if that does not follow from the title.
func headingOf(title, slug string) string {
	heading := schema.Block("heading-2", schema.Text(oneLine(title)))
	if slug != "" && slug != tree.Slugify(title) {
		if data := (schema.Data{"id": slug}); schema.ValidData(heading.Type, data) {
			heading.Data = data
		}
	}
	return oneLine(markdown.Write(schema.NewDocument(heading)))
}

// newLine writes a line. It begins as the old one did, if that was at the same depth.
func newLine(old *summary, before *item, w *contents) string {
	switch w.kind {
	case itemRule:
		return "***"
	case itemHeading:
		return headingOf(w.title, w.slug)
	case itemPage:
	}
	label := inlineText(w.title)
	if w.dest != "" && before.dest != "" && !strings.HasPrefix(w.key, keyPrefix) {
		w.dest = before.dest // as the file spells the path
	}
	if w.sameLabel && before.label != "" {
		w.label = before.label
	}
	if w.dest != "" {
		link := schema.Node{
			Object: schema.ObjectInline, Type: "link", Nodes: []schema.Node{schema.Text(oneLine(w.title))},
			Data: schema.Data{"ref": map[string]any{"kind": "url", "url": w.dest}},
		}
		if w.label != "" {
			link.Data["title"] = w.label
		}
		label = oneLine(markdown.Write(schema.NewDocument(schema.Block("paragraph", link))))
	}
	if found := entryLine.FindStringSubmatchIndex(before.line); found != nil && before.depth == w.depth {
		return before.line[:found[6]] + label
	}
	return strings.Repeat(" ", w.depth*old.indent) + old.bullet + " " + label
}
