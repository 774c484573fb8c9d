package gitlayout

import (
	"cmp"
	"crypto/sha1" // Git names its objects by SHA-1
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// Change is a file to write or to delete.
type Change struct {
	Path    string
	Delete  bool
	Content []byte
}

// Export has the changes that an export of a space's pages makes in a repository.
type Export struct {
	Changes []Change
	// Synced is the value of Base.Files for the next synchronisation.
	Synced map[string]Synced
	// Moved lists the files that were changed in the repository since the last synchronisation. If Moved has files and
	// `force` is not set, no other member is set.
	Moved []string
	// Notes lists everything that was not written.
	Notes []Note
}

// BlobOf returns the hash by which Git names a content.
func BlobOf(content []byte) string {
	h := sha1.New()
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(content))
	_, _ = h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// exporter writes pages as files.
type exporter struct {
	Tools
	layout *Layout
	base   Base
	files  func(id string) (name string, content []byte, err error)
	was    map[string]tree.Node
	pages  []tree.Page // pages as a tree
	// `paths` has the path of each existing page's file, by the page's id. `keys` has the key of each page's entry, by
	// the page's id.
	paths, keys map[string]string
	ids         map[string]string // ids of pages, by path
	rewrite     map[string]bool   // ids of pages whose files were changed in the repository
	assets      map[string]string // paths of the space's files, by id
	folded      map[string]bool   // paths that are in use, as Fold returns them
	numbers     counter           // numbers of the paths in use, by path
	changes     map[string]Change
	outside     map[string]string // paths of pages that belong to other folders, by id
	notes       []Note
	// `written` is the number of pages that were processed, and `count` is the number of all pages.
	written, count int
	failed         error
}

// Export determines the changes of the repository's files. `files` returns the path and the bytes of a file of the
// space. Export stops if files were changed in the repository since the last synchronisation. If `force` is set, Export
// overwrites these files instead. Export does not stop if the repository already has the result. So an export can run
// again if the previous run has written the files but did not record this.
func (l *Layout) Export(
	base Base, pages []tree.Node, tools Tools, files func(id string) (string, []byte, error), force bool,
) (Export, error) {
	entries, err := l.Outline()
	if err != nil {
		return Export{}, err
	}
	x := &exporter{
		Tools: tools, layout: l, base: base, files: files, was: map[string]tree.Node{}, paths: map[string]string{},
		keys: map[string]string{}, ids: map[string]string{}, rewrite: map[string]bool{}, assets: map[string]string{}, folded: map[string]bool{},
		changes: map[string]Change{}, outside: map[string]string{}, numbers: counter{},
	}
	pages = x.leaveOutside(pages)
	x.pages, x.count = tree.Nest(pages, ""), len(pages)
	moved := x.moved(entries)
	for _, n := range base.Pages {
		x.was[n.ID] = n
	}
	if err := x.find(entries, pages, moved); err != nil {
		return Export{}, err
	}
	x.place(x.pages, l.Root, true)
	k := x.linker()
	if err := x.write(x.pages, k); err != nil {
		return Export{}, err
	}
	x.remove(entries, len(moved) > 0)
	if err := x.restore(moved); err != nil {
		return Export{}, err
	}
	if err := x.writeSummary(k, moved); err != nil {
		return Export{}, err
	}
	if len(moved) > 0 && !force {
		if len(x.changes) > 0 {
			return Export{Moved: moved}, nil
		}
		moved = nil // the repository already has the result
	}
	return x.result(moved)
}

// moved lists the files that were changed in the repository since the last synchronisation.
func (x *exporter) moved(entries []*Entry) []string {
	l, moved := x.layout, map[string]bool{}
	differs := func(name string) bool { return x.base.Files[name].Blob != l.files[name].Blob }
	for name := range x.base.Files {
		if differs(name) {
			moved[name] = true
		}
	}
	for _, name := range []string{l.Summary, l.Config} {
		if differs(name) && (name == l.Summary || len(x.base.Files) > 0) {
			moved[name] = true
		}
	}
	eachEntry(entries, func(e *Entry) {
		if _, known := x.base.Files[e.Key]; !known && e.HasFile() {
			if _, there := l.files[e.Key]; there {
				moved[e.Key] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(moved))
}

func eachEntry(entries []*Entry, visit func(e *Entry)) {
	for _, e := range entries {
		visit(e)
		eachEntry(e.Children, visit)
	}
}

// find determines which file each page had at the last synchronisation. A file that a forced export overwrites belongs
// to the page at its path.
func (x *exporter) find(entries []*Entry, pages []tree.Node, moved []string) error {
	l := x.layout
	x.folded[l.fold(l.Summary)] = true
	there, kept := map[string]bool{}, map[string]bool{}
	for _, n := range pages {
		there[n.ID], kept[n.ID] = true, n.Kept != ""
	}
	know := func(name, id string) {
		if id == "" || x.keys[id] != "" {
			return
		}
		x.keys[id] = name
		if !strings.HasPrefix(name, keyPrefix) {
			gone := kept[id] && !l.has(name) && l.blocked(name) == "" // the page's file no longer exists
			if x.ids[name] = id; there[id] && !gone {
				x.paths[id] = name
				x.folded[l.fold(name)] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.base.Files)) {
		synced := x.base.Files[name]
		if know(name, synced.Page); synced.File != "" {
			x.assets[synced.File] = name
		}
	}
	if len(moved) == 0 {
		return nil
	}
	tools := x.Tools
	tools.Pages = pages
	m := &importer{Tools: tools, layout: l, base: x.base, was: map[string]tree.Node{}, pageIDs: map[string]string{}}
	for _, n := range x.base.Pages {
		m.was[n.ID] = n
	}
	ids, err := m.identify(entries)
	for e, id := range ids {
		if _, taken := x.ids[e.Key]; there[id] && !taken {
			know(e.Key, id)
		}
	}
	for _, name := range moved {
		x.rewrite[x.ids[name]] = true
	}
	return err
}

func (x *exporter) linker() *linker {
	return &linker{
		layout: x.layout, treeURL: x.TreeURL,
		page:     func(path string) (string, bool) { id, ok := x.ids[path]; return id, ok },
		file:     func(path string) (string, bool) { id := x.base.Files[path].File; return id, id != "" },
		pagePath: func(id string) (string, bool) { at := cmp.Or(x.paths[id], x.outside[id]); return at, at != "" },
		filePath: x.assetPath,
	}
}

// write writes the pages that have changed.
func (x *exporter) write(pages []tree.Page, k *linker) error {
	for i := range pages {
		p := &pages[i]
		if x.written++; x.Progress != nil {
			x.Progress(x.written, x.count)
		}
		if at := x.paths[p.ID]; at != "" {
			if err := x.writePage(p, at, k); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
		}
		if err := x.write(p.Pages, k); err != nil {
			return err
		}
	}
	return x.failed
}

func (x *exporter) writePage(p *tree.Page, at string, k *linker) error {
	was, synced := x.was[p.ID]
	_, inBase := x.base.Files[at]
	rewrite := !synced || !inBase || x.rewrite[p.ID]
	before := was.Page
	text, there, err := x.text(at)
	if err != nil {
		return err
	}
	if !rewrite && before.Document == p.Document && before.Title == p.Title && len(changedFields(&before, p)) == 0 {
		return nil
	}
	if p.Kept != "" {
		x.notes = append(x.notes, Note{at, "the page has changes that were not written: " + p.Kept})
		return nil
	}
	if why := cmp.Or(x.layout.blocked(at), unreadable(text)); why != "" {
		x.note(at, why)
		return nil
	}
	f := parsePage(text)
	entry := &Entry{Key: at, Title: before.Title}
	if !there {
		before = tree.Page{}
		f.setHeading(p.Title)
		before.Title = p.Title
	} else if rewrite {
		entry.Title = p.Title
		f.readInto(&before, entry)
	}
	if rewrite || !there || before.Document != p.Document {
		var d schema.Document
		if p.Document != "" {
			if d, err = x.Load(p.Document); err != nil {
				return err
			}
		}
		original, tooLarge, err := f.document(before.Title)
		if err != nil {
			return err
		}
		if tooLarge {
			x.note(at, whyTooLong)
			return nil
		}
		if d, err = x.named(original, k.toFile(at, original, d)); err != nil {
			return err
		}
		f.setBody(before.Title, d)
	}
	if err := f.change(&before, p, x.layout.HasSummary); err != nil {
		return err
	}
	// If the text begins with a heading, an import must not take this heading for the title.
	named := &Entry{Key: at}
	if x.layout.HasSummary {
		named.Title = p.Title
	}
	if title, _ := parsePage(f.text()).title(named); title != cutText(p.Title, maxTitle) {
		if err := f.front.Set("title", p.Title); err != nil {
			return err
		}
	}
	if written := f.text(); !there || written != text {
		x.changes[at] = Change{Path: at, Content: []byte(written)}
	}
	return nil
}

// named adds the names of their targets to references that are new in the file. The lines of other references stay
// unchanged, even if the name of a target has changed.
func (x *exporter) named(original, d schema.Document) (schema.Document, error) {
	if x.Names == nil {
		return d, nil
	}
	names, err := x.Names(d)
	if err != nil || names == nil {
		return d, err
	}
	there := map[string]bool{}
	markdown.Named(original, func(ref map[string]any) string {
		there[content.Link(ref)] = true
		return ""
	})
	return markdown.Named(d, func(ref map[string]any) string {
		if there[content.Link(ref)] {
			return ""
		}
		return names(ref)
	}), nil
}

// note adds a note that a page's file was not written.
func (x *exporter) note(name, why string) {
	x.notes = append(x.notes, Note{name, "the page has changes that were not written: the file " + why})
}

func (x *exporter) text(name string) (string, bool, error) {
	if _, there := x.layout.files[name]; !there {
		return "", false, nil
	}
	text, err := x.layout.repository.Read(name)
	return string(text), true, err
}

// remove deletes the files of deleted pages. If `all` is set, it also deletes the pages' files that were added to the
// repository since the last synchronisation.
func (x *exporter) remove(entries []*Entry, all bool) {
	gone := func(name string) {
		if _, there := x.layout.files[name]; there && x.paths[x.ids[name]] != name {
			x.changes[name] = Change{Path: name, Delete: true}
		}
	}
	for name, synced := range x.base.Files {
		if synced.Page != "" {
			gone(name)
		}
	}
	if all {
		eachEntry(entries, func(e *Entry) { gone(e.Key) })
	}
}

// restore writes the files of the space again that were changed or deleted in the repository.
func (x *exporter) restore(moved []string) error {
	for _, name := range moved {
		id := x.base.Files[name].File
		if id == "" {
			continue
		}
		if why := x.layout.blocked(name); why != "" {
			x.note(name, why)
			continue
		}
		_, content, err := x.files(id)
		if schema.IsCode(err, schema.CodeNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if x.layout.files[name].Blob != BlobOf(content) {
			x.changes[name] = Change{Path: name, Content: content}
		}
	}
	return nil
}
