package gitlayout

import (
	"maps"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema/content/tree"
)

// WithoutEntries returns the files of a synchronisation, without the entries of pages that have no file.
func WithoutEntries(files map[string]Synced) map[string]Synced {
	left := maps.Clone(files)
	maps.DeleteFunc(left, func(name string, _ Synced) bool { return strings.HasPrefix(name, keyPrefix) })
	return left
}

// Unread returns the files of a synchronisation with the hashes of all pages removed. So the next import reads all
// pages again.
func Unread(files map[string]Synced) map[string]Synced {
	left := maps.Clone(files)
	for name, synced := range left {
		if synced.Page != "" {
			synced.Blob = ""
			left[name] = synced
		}
	}
	return left
}

// putBeside finds the pages of the last synchronisation that do not belong to the folder of this layout. Each page
// stays below its parent, or moves to the closest ancestor that still exists.
func (m *importer) putBeside(ids map[*Entry]string) {
	if m.Alone {
		return
	}
	at := m.paths()
	here := map[string]bool{"": true}
	for _, id := range ids {
		here[id] = true
	}
	above := map[string]string{}
	var stay []tree.Node
	for _, n := range m.base.Pages {
		above[n.ID] = n.Parent
		if here[n.ID] || !m.KeepMissing && m.ofFolder(at[n.ID]) {
			continue
		}
		stay = append(stay, n)
	}
	m.outside = map[string]map[string]bool{}
	numbers := map[string]tree.Numbers{}
	if len(stay) == 0 {
		return
	}
	for _, n := range stay {
		here[n.ID] = true
	}
	for _, n := range stay {
		for steps := 0; !here[n.Parent] && steps <= tree.MaxDepth; steps++ {
			n.Parent = above[n.Parent]
		}
		if m.outside[n.Parent] == nil {
			m.outside[n.Parent], numbers[n.Parent] = map[string]bool{}, tree.Numbers{}
		}
		if n.Kind != tree.KindLink {
			n.Slug = numbers[n.Parent].Free(n.Slug, func(slug string) bool { return m.outside[n.Parent][slug] })
		}
		m.outside[n.Parent][n.Slug] = true
		m.out.Beside = append(m.out.Beside, n)
		if name := at[n.ID]; name != "" && !strings.HasPrefix(name, keyPrefix) && m.pageIDs[name] == "" {
			if _, there := m.layout.files[name]; there {
				m.pageIDs[name] = n.ID // links to the path still lead to this page
			}
		}
	}
}

// paths returns the files of the last synchronisation's pages, and the keys of pages without a file.
func (m *importer) paths() map[string]string {
	at := map[string]string{}
	for _, files := range []map[string]Synced{m.Known, m.base.Files} {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if id := files[name].Page; id != "" {
				at[id] = name
			}
		}
	}
	return at
}

// ofFolder reports whether the path or key of a page belongs to the folder of this layout.
func (m *importer) ofFolder(name string) bool {
	return name != "" && (strings.HasPrefix(name, keyPrefix) || strings.HasPrefix(name, m.layout.Root))
}

// leaveOutside returns the pages without the pages of the repository's other folders. A page of this folder whose
// parent is left out moves to the closest ancestor that is not left out.
func (x *exporter) leaveOutside(pages []tree.Node) []tree.Node {
	mine := map[string]bool{}
	for _, synced := range x.base.Files {
		mine[synced.Page] = true
	}
	outside, above := map[string]bool{}, map[string]string{}
	for name, synced := range x.Known {
		if mine[synced.Page] {
			continue
		}
		if outside[synced.Page] = true; !strings.HasPrefix(name, keyPrefix) {
			x.outside[synced.Page] = name
			x.ids[name] = synced.Page
		}
	}
	if len(outside) == 0 {
		return pages
	}
	for _, n := range pages {
		above[n.ID] = n.Parent
	}
	var left []tree.Node
	for _, n := range pages {
		for steps := 0; outside[n.Parent] && steps <= tree.MaxDepth; steps++ {
			n.Parent = above[n.Parent]
		}
		if !outside[n.ID] {
			left = append(left, n)
		}
	}
	return left
}
