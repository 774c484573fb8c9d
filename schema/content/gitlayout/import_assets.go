package gitlayout

import (
	"maps"
	"slices"
)

// keepAssets marks the unchanged files of the space as synchronised.
func (m *importer) keepAssets() {
	for name, synced := range m.base.Files {
		if synced.File != "" && m.same(name) {
			m.out.Synced[name] = synced
		}
	}
}

// remove finds the files of the space that the repository does not have anymore.
func (m *importer) remove() {
	for _, name := range slices.Sorted(maps.Keys(m.base.Files)) {
		if id := m.base.Files[name].File; id != "" && m.out.Synced[name].File != id {
			m.out.Removed = append(m.out.Removed, id)
		}
	}
}

// asset adds a file of the repository to the files of the space, and returns its id.
func (m *importer) asset(name string) (string, bool) {
	if known, ok := m.out.Synced[name]; ok {
		return known.File, known.File != ""
	}
	blob := m.layout.files[name].Blob
	if known := m.Known[name]; known.File != "" && known.Blob == blob {
		m.out.Synced[name] = Synced{Blob: blob, File: known.File}
		return known.File, true
	}
	id := m.NewID()
	m.out.Synced[name] = Synced{Blob: blob, File: id}
	m.out.Assets = append(m.out.Assets, Asset{id, name})
	return id, true
}
