package gitlayout

import (
	"maps"
	"reflect"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// after returns the layout of the repository as it will be after the export.
func (x *exporter) after() (*Layout, error) {
	r := Repository{Read: func(name string) ([]byte, error) {
		if change, ok := x.changes[name]; ok {
			return change.Content, nil
		}
		return x.layout.repository.Read(name)
	}}
	for _, file := range x.layout.repository.Files {
		if _, changed := x.changes[file.Path]; !changed {
			r.Files = append(r.Files, file)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.changes)) {
		if change := x.changes[name]; !change.Delete {
			r.Files = append(r.Files, File{name, BlobOf(change.Content)})
		}
	}
	next := &Layout{
		Root: x.layout.Root, Config: x.layout.Config, Readme: x.layout.Readme, Summary: x.layout.Summary, HasConfig: x.layout.HasConfig,
		repository: r, files: map[string]File{}, folders: map[string]bool{"": true}, left: x.layout.left,
		folded: map[string]string{},
	}
	for _, file := range r.Files {
		next.files[file.Path] = file
	}
	_, next.HasSummary = next.files[next.Summary]
	return next, nil
}

func (x *exporter) result(moved []string) (Export, error) {
	next, err := x.after()
	if err != nil {
		return Export{}, err
	}
	entries, err := next.Outline()
	if err != nil {
		return Export{}, err
	}
	out := Export{Synced: map[string]Synced{}, Moved: moved, Notes: x.notes}
	for id, at := range x.paths {
		out.Synced[at] = Synced{Blob: next.files[at].Blob, Page: id}
	}
	pair(entries, x.pages, func(e *Entry, p *tree.Page) {
		if !e.HasFile() {
			out.Synced[e.Key] = Synced{Page: p.ID}
		}
	})
	for id, at := range x.assets {
		if file, there := next.files[at]; there {
			out.Synced[at] = Synced{Blob: file.Blob, File: id}
		}
	}
	for _, name := range []string{next.Summary, next.Config} {
		if file, there := next.files[name]; there {
			out.Synced[name] = Synced{Blob: file.Blob}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.changes)) {
		out.Changes = append(out.Changes, x.changes[name])
	}
	return out, nil
}

// pair calls `visit` for each entry with the page at the same place.
func pair(entries []*Entry, pages []tree.Page, visit func(*Entry, *tree.Page)) {
	for i := range min(len(entries), len(pages)) {
		visit(entries[i], &pages[i])
		pair(entries[i].Children, pages[i].Pages, visit)
	}
}

func sameTarget(a, b schema.Data) bool { return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b) }
