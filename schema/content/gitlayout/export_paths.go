package gitlayout

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// place assigns files to new pages: a new file is in the folder of the parent page, and its name is the slug.
func (x *exporter) place(pages []tree.Page, folder string, root bool) {
	for i := range pages {
		p := &pages[i]
		if p.Kind == tree.KindLink {
			continue
		}
		below, isFolder := x.folderOf(p)
		if !isFolder {
			below = folder + FileName(p.Slug) + "/"
		}
		if p.Kind != tree.KindGroup {
			if x.needsFile(p) && x.paths[p.ID] == "" {
				name := folder + FileName(p.Slug)
				own := folder + readmeName
				if isFolder {
					own = below + readmeName
				} else if len(p.Pages) > 0 {
					own = name + "/" + readmeName
				} else if !root || i > 0 {
					own = name + ".md"
				}
				x.paths[p.ID] = x.free(own, name+".md")
				x.ids[x.paths[p.ID]] = p.ID
			}
			if at := x.paths[p.ID]; x.layout.isReadme(at) {
				below = strings.TrimSuffix(at, path.Base(at))
			} else if at != "" {
				below = FolderBelow(at)
			}
		}
		x.place(p.Pages, below, false)
	}
}

// folderOf returns the folder of a page without a file, with a slash at its end. If there is a table of contents, a
// page has a folder only if all child pages share a folder whose name is the page's slug.
func (x *exporter) folderOf(p *tree.Page) (string, bool) {
	if !x.layout.HasSummary {
		folder, is := strings.CutPrefix(x.keys[p.ID], keyPrefix)
		return folder, is && strings.HasSuffix(folder, "/") && x.layout.folders[folder]
	}
	if x.paths[p.ID] != "" || len(p.Pages) == 0 {
		return "", false
	}
	folder := ""
	for i := range p.Pages {
		at := x.paths[p.Pages[i].ID]
		if at == "" {
			continue
		}
		if in := path.Dir(at) + "/"; folder == "" {
			folder = in
		} else if folder != in {
			return "", false
		}
	}
	own := FileName(path.Base(folder)) == FileName(p.Slug)
	return folder, folder != "" && own && strings.HasPrefix(folder, x.layout.Root)
}

// needsFile reports whether a page has data that an entry in the table of contents cannot express.
func (x *exporter) needsFile(p *tree.Page) bool {
	if p.Kept != "" {
		return false // the text of a read-only page only says why the file cannot be used
	}
	if key := x.keys[p.ID]; key == "" || !strings.HasPrefix(key, keyPrefix) {
		return true
	}
	was := x.was[p.ID].Page
	return p.Document != "" || len(changedFields(&was, p)) > 0
}

func changedFields(a, b *tree.Page) []pageField {
	return slices.DeleteFunc(slices.Clone(pageFields), func(f pageField) bool { return f.get(a) == f.get(b) })
}

const maxFileName = 60

// FolderBelow returns the folder for the pages below a page with a file. The folder ends with a slash.
func FolderBelow(file string) string {
	if strings.EqualFold(path.Base(file), readmeName) {
		return strings.TrimSuffix(file, path.Base(file))
	}
	return strings.TrimSuffix(file, path.Ext(file)) + "/"
}

// FileName makes a file name from a slug. Every file system accepts the name.
func FileName(slug string) string {
	name := []rune(tree.Slugify(slug))
	made := strings.Trim(string(name[:min(len(name), maxFileName)]), "-")
	if reserved.MatchString(made) {
		made += "-page"
	}
	return made
}

// reserved matches names that Windows reserves for devices.
var reserved = regexp.MustCompile(`^(con|prn|aux|nul|com\d|lpt\d)$`)

// free returns a path that no entry of the repository has: `wanted`, `other`, or `other` with a number.
func (x *exporter) free(wanted, other string) string {
	wanted, other = x.inFolder(wanted), x.inFolder(other)
	taken := func(name string) bool {
		return x.folded[x.layout.fold(name)] || x.layout.folded[x.layout.fold(name)] != ""
	}
	for number := 0; taken(wanted); number++ {
		if wanted = other; number > 0 {
			ext := path.Ext(other)
			wanted = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(other, ext), number, ext)
		}
	}
	x.folded[x.layout.fold(wanted)] = true
	return wanted
}

// inFolder returns a path at which the export can write a new file. The path is `name`, except in three cases. If the
// repository already has a folder of the path in another spelling, the path has the repository's spelling. If the path
// of a folder belongs to a file, or to an entry that cannot be read as a file, the folder's name gets a number. If the
// path is not writable, for example because it is too long, the file is directly in the layout's root folder.
func (x *exporter) inFolder(name string) string {
	l, folder := x.layout, ""
	for _, part := range strings.Split(strings.TrimSuffix(name, path.Base(name)), "/") {
		if part == "" {
			continue
		}
		at := folder + part
		for number := 1; ; number++ {
			there := l.folded[l.fold(at)]
			if l.folders[there+"/"] {
				at = there
			}
			if _, left := l.left[at]; (there == "" || at == there) && !left {
				if _, file := l.files[at]; !file {
					break
				}
			}
			at = fmt.Sprintf("%s%s-%d", folder, part, number)
		}
		folder = at + "/"
	}
	const numbers = 8 // characters that are left for a number at the end
	if at := folder + path.Base(name); l.writable(at + strings.Repeat("0", numbers)) {
		return at
	}
	return l.Root + path.Base(name)
}

// assetPath returns the path that a file of the space has in the repository. If the repository does not have the file,
// assetPath adds the file to the changes.
func (x *exporter) assetPath(id string) (string, bool) {
	if at, known := x.assets[id]; known {
		return at, true
	}
	name, content, err := x.files(id)
	if err != nil {
		if !schema.IsCode(err, schema.CodeNotFound) {
			x.failed = err
		}
		return "", false
	}
	ext := path.Ext(name)
	folder := x.layout.Root + assetFolder
	at := folder + FileName(strings.TrimSuffix(name, ext)) + strings.ToLower("."+FileName(strings.TrimPrefix(ext, ".")))
	if ext == "" {
		at = folder + FileName(name)
	}
	at = x.free(at, at)
	x.assets[id] = at
	x.changes[at] = Change{Path: at, Content: content}
	return at, true
}
