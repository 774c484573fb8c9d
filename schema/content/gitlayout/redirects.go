package gitlayout

import (
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema/content"
)

// maxRedirect bounds the source path of a redirect, as the API does for redirects of sites.
const maxRedirect = 512

// redirects finds the target pages of the configuration's redirects. Targets are paths of files below the root. A
// target may omit the file's extension. If a target is a folder, the redirect leads to the folder's README.md.
func (m *importer) redirects() {
	l := m.layout
	m.out.Redirects = map[string]string{}
	for _, source := range slices.Sorted(maps.Keys(l.redirects)) {
		from, ok := redirectSource(source)
		if !ok {
			l.note(l.Config, "a redirect leads from no path: "+cutText(source, maxTitle))
			continue
		}
		target := l.redirects[source]
		id, there := m.redirectTarget(target)
		if !there {
			l.note(l.Config, "a redirect leads to no page: "+cutText(target, maxTitle))
			continue
		}
		if _, twice := m.out.Redirects[from]; !twice {
			m.out.Redirects[from] = id
		}
	}
}

// redirectSource returns a redirect's source path in the form that paths of requests have.
func redirectSource(source string) (string, bool) {
	if plain, err := url.PathUnescape(source); err == nil {
		source = plain
	}
	source = strings.Trim(strings.TrimSpace(source), "/")
	ok := source != "" && utf8.ValidString(source) && utf8.RuneCountInString(source) <= maxRedirect && !strings.Contains(source, "\x00")
	return source, ok && !strings.Contains(source, "//")
}

func (m *importer) redirectTarget(target string) (string, bool) {
	l := m.layout
	target = strings.TrimSpace(target)
	file, _, ok := content.RelativeTarget(strings.TrimSuffix(l.Root, "/"), strings.TrimLeft(target, "/"))
	if trimmed := strings.Trim(target, "/"); trimmed == "" || trimmed == "." {
		file, ok = l.Readme, target != ""
	}
	if !ok {
		return "", false
	}
	names := []string{file, file + ".md"}
	if own, folder := l.readmeOf(strings.TrimSuffix(file, "/") + "/"); folder {
		names = append(names, own)
	}
	for _, name := range names {
		if id, there := m.pageIDs[path.Clean(name)]; there {
			return id, true
		}
	}
	return "", false
}
