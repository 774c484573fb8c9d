package gitlayout

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// Synced is the state of a repository's file, or of an entry without a file, at the last synchronisation.
type Synced struct {
	// Blob is the hash of the file. It is "" for an entry without a file.
	Blob string
	// Page is the id of the page, and File is the id of the space's file. For other files, Page and File are empty.
	Page, File string
}

// Base is the state of the repository and the space at the last synchronisation. Files has the files by path, and the
// entries without a file by key. Pages has the pages of these files and entries.
type Base struct {
	Files map[string]Synced
	Pages []tree.Node
}

// Tools has the dependencies for reading and writing pages, except the repository.
type Tools struct {
	// TreeURL is the prefix of links whose targets are not pages or files. "" leaves such links unchanged.
	TreeURL string
	Now     time.Time
	NewID   func() string
	// Load reads a document by its hash. Keep stores a document and returns the document's hash.
	Load func(hash string) (schema.Document, error)
	Keep func(d schema.Document) (string, error)
	// Names returns a function that returns the name of a reference's target. Both functions may be nil.
	Names func(d schema.Document) (func(ref map[string]any) string, error)
	// Pages are the existing pages of the space. A new page of the repository is matched with the space's page at its
	// path.
	Pages []tree.Node
	// Known has the space's pages and files by their paths in other branches, folders and repositories. If a path is
	// not in the last synchronisation, an import takes the page at this path from Known. If the blob is equal, the
	// import also takes the file from Known.
	Known map[string]Synced
	// KeepMissing keeps pages of the last synchronisation whose files are missing. An export to another place sets it,
	// because the repository may not have all of these files.
	KeepMissing bool
	// Progress is called with the number of pages that are read or written, and with their total. It may be nil.
	Progress func(done, total int)
	// Alone leaves out the pages that do not belong to this folder of the repository.
	Alone bool
}

// Asset is a file of the repository that becomes a file of the space.
type Asset struct{ ID, Path string }

// Content is the content of a space that is made from a repository's files.
type Content struct {
	Pages []tree.Node
	// Beside are pages of the last synchronisation that do not belong to this folder. These pages stay in the space, as
	// the pages in Pages do.
	Beside []tree.Node
	Assets []Asset
	// Removed are the files of the space whose repository files were deleted or replaced.
	Removed []string
	// Synced is the value of Base.Files for the next synchronisation.
	Synced map[string]Synced
	// Redirects maps paths of the space, without slashes at the ends, to pages. A page at such a path has precedence.
	Redirects map[string]string
	Notes     []Note
}

// importer reads the pages of a repository.
type importer struct {
	Tools
	layout *Layout
	base   Base
	// `was` has, by id, the pages as they were at the last synchronisation. For a page that was never synced, `was` has
	// the page's state in the space.
	was     map[string]tree.Node
	pageIDs map[string]string // ids of pages, by path
	out     Content
	links   linker
	// `outside` has the slugs of pages outside of this folder, by the id of their parent page.
	outside map[string]map[string]bool
	// `renamed` has the names whose targets may have changed. A link with such a name may have a new target. `all` is
	// true if any link may have a new target.
	renamed []string
	all     bool
	summary bool // whether the table of contents has changed
	// `read` is the number of pages that were read, and `count` is the number of all entries.
	read, count int
}

// Import reads a repository. It reads an unchanged file again only if the targets of its references have changed.
func (l *Layout) Import(base Base, tools Tools) (Content, error) {
	l.Notes = nil // A failed import may be tried again with the same layout.
	entries, err := l.Outline()
	if err != nil {
		return Content{}, err
	}
	m := &importer{Tools: tools, layout: l, base: base, was: map[string]tree.Node{}, pageIDs: map[string]string{}}
	m.out.Synced = map[string]Synced{}
	for _, n := range base.Pages {
		m.was[n.ID] = n
	}
	m.summary = !m.same(l.Summary)
	ids, err := m.identify(entries)
	if err != nil {
		return Content{}, err
	}
	m.putBeside(ids)
	m.compareNames()
	m.links = linker{
		layout: l, treeURL: tools.TreeURL, file: m.asset,
		page: func(path string) (string, bool) { id, ok := m.pageIDs[path]; return id, ok },
	}
	m.keepAssets()
	for _, name := range []string{VariablesName, TagsName} {
		if name = l.Root + settingsFolder + name; l.files[name].Path != "" {
			m.asset(name)
		}
	}
	if err := m.pages(entries, "", ids); err != nil {
		return Content{}, err
	}
	for _, name := range []string{l.Summary, l.Config} {
		if file, there := l.files[name]; there {
			m.out.Synced[name] = Synced{Blob: file.Blob}
		}
	}
	m.remove()
	m.redirects()
	m.out.Notes = l.Notes
	return m.out, nil
}

// same reports whether a file is unchanged since the last synchronisation.
func (m *importer) same(name string) bool {
	synced, known := m.base.Files[name]
	file, there := m.layout.files[name]
	return known == there && synced.Blob == file.Blob
}

// identify assigns ids to the entries. An entry keeps its previous id, even if its file was renamed. A new entry gets
// the id of the space's page at its path, or a new id.
func (m *importer) identify(entries []*Entry) (map[*Entry]string, error) {
	gone := map[string]string{} // ids of pages whose files no longer exist, by blob
	for name, synced := range m.base.Files {
		if _, there := m.layout.files[name]; there || synced.Page == "" || synced.Blob == "" {
			continue
		}
		if _, twice := gone[synced.Blob]; twice {
			gone[synced.Blob] = ""
		} else {
			gone[synced.Blob] = synced.Page
		}
	}
	ids, taken := map[*Entry]string{}, map[string]bool{}
	take := func(e *Entry, id string) {
		if n, known := m.was[id]; id == "" || taken[id] || ids[e] != "" || known && n.Kind != e.Kind {
			return
		}
		ids[e], taken[id] = id, true
	}
	var each func(entries []*Entry, visit func(e *Entry, under string), under string)
	each = func(entries []*Entry, visit func(e *Entry, under string), under string) {
		for _, e := range entries {
			visit(e, under)
			each(e.Children, visit, under+slugOf(m.layout, e)+"/")
		}
	}
	each(entries, func(e *Entry, _ string) { m.count++; take(e, m.base.Files[e.Key].Page) }, "")
	if m.count > tree.MaxPages {
		return nil, fmt.Errorf("%w: it has more than %d pages", ErrTooLarge, tree.MaxPages)
	}
	inSpace := map[string]tree.Node{}
	for _, n := range m.Pages {
		inSpace[n.ID] = n
	}
	each(entries, func(e *Entry, _ string) {
		id := m.Known[e.Key].Page
		n, there := inSpace[id]
		if _, synced := m.base.Files[e.Key]; synced || ids[e] != "" || taken[id] || there && n.Kind != e.Kind {
			return
		}
		if _, synced := m.was[id]; there && !synced {
			m.was[id] = n
		}
		take(e, id)
	}, "")
	each(entries, func(e *Entry, _ string) {
		if file, there := m.layout.files[e.Key]; there {
			take(e, gone[file.Blob])
		}
	}, "")
	if err := m.adopt(entries, each, take); err != nil {
		return nil, err
	}
	each(entries, func(e *Entry, _ string) {
		if ids[e] == "" {
			ids[e] = m.NewID()
		}
		if e.HasFile() {
			m.pageIDs[e.Key] = ids[e]
		}
	}, "")
	return ids, nil
}

// adopt matches entries with pages of the space that were not synced. If the space has no page at the path of the root
// folder's README.md, this file matches the first page if their titles are equal.
func (m *importer) adopt(
	entries []*Entry, each func([]*Entry, func(*Entry, string), string), take func(*Entry, string),
) error {
	var failed error
	byPath, first := map[string]string{}, ""
	tree.Walk(tree.Nest(m.Pages, ""), func(p tree.Placed) bool {
		if p.Path != "" {
			byPath[p.Path] = p.ID
		}
		if first == "" && p.Kind == tree.KindDocument && p.Path == p.Slug {
			first = p.ID
		}
		return true
	})
	byID := map[string]tree.Node{}
	for _, n := range m.Pages {
		byID[n.ID] = n
	}
	each(entries, func(e *Entry, under string) {
		found, there := byID[byPath[under+slugOf(m.layout, e)]]
		if !there && e.Key == m.layout.Readme {
			if found, there = byID[first]; there {
				there, failed = m.titled(e, found.Title)
			}
		}
		if _, synced := m.was[found.ID]; there && !synced && found.Kind == e.Kind {
			m.was[found.ID] = found
			take(e, found.ID)
		}
	}, "")
	return failed
}

// titled reports whether the title in an entry's file equals `title`.
func (m *importer) titled(e *Entry, title string) (bool, error) {
	if _, there := m.layout.files[e.Key]; !there {
		return false, nil
	}
	text, err := m.layout.repository.Read(e.Key)
	if err != nil {
		return false, err
	}
	found, _ := parsePage(string(text)).title(e)
	return found == title, nil
}

// manyRenamed is the number of changed names above which all files are read again.
const manyRenamed = 40

// compareNames finds the names whose targets have changed since the last synchronisation.
func (m *importer) compareNames() {
	changed := func(name string) {
		m.renamed = append(m.renamed, path.Base(name))
		if stem := strings.TrimSuffix(path.Base(name), path.Ext(name)); stem != "" && m.layout.isPage(name) {
			m.renamed = append(m.renamed, stem) // the name in links without an extension
		}
		if m.layout.isReadme(name) {
			m.renamed = append(m.renamed, path.Base(path.Dir(name)))
		}
	}
	for name, id := range m.pageIDs {
		if m.base.Files[name].Page != id {
			changed(name)
		}
	}
	for name, synced := range m.base.Files {
		switch {
		case strings.HasPrefix(name, keyPrefix):
		case synced.Page != "" && m.pageIDs[name] == "", synced.File != "" && !m.same(name):
			changed(name)
		}
	}
	for name := range m.layout.files { // a page may have linked to this new file before the file existed
		if _, known := m.base.Files[name]; !known &&
			(isInclude(name) || !m.layout.isPage(name) && inFolder(name, assetFolder)) {
			changed(name)
		}
	}
	m.all = len(m.renamed) > manyRenamed || !m.same(m.layout.Config)
}

// pages makes the pages of entries below a page.
func (m *importer) pages(entries []*Entry, parent string, ids map[*Entry]string) error {
	siblings := make([]tree.Node, len(entries))
	for i, e := range entries {
		id := ids[e]
		n, err := m.page(e, id)
		if err != nil {
			return err
		}
		if m.read++; m.Progress != nil {
			m.Progress(m.read, m.count)
		}
		n.ID, n.Kind, n.Parent = id, e.Kind, parent
		siblings[i] = n
		m.out.Synced[e.Key] = Synced{Blob: m.layout.files[e.Key].Blob, Page: id}
	}
	arrange(m.layout, siblings, entries, m.was, m.outside[parent])
	for _, n := range siblings {
		n.CreatedAt, n.UpdatedAt = m.Now, m.Now
		if was, there := m.was[n.ID]; there {
			if n.CreatedAt = was.CreatedAt; n.Same(was) {
				n.UpdatedAt = was.UpdatedAt
			}
		}
		m.out.Pages = append(m.out.Pages, n)
	}
	for _, e := range entries {
		if err := m.pages(e.Children, ids[e], ids); err != nil {
			return err
		}
	}
	return nil
}

// page makes the page of an entry. The caller sets the parent and the position.
func (m *importer) page(e *Entry, id string) (tree.Node, error) {
	n := m.was[id]
	synced, known := m.base.Files[e.Key]
	if e.HasFile() {
		if why := m.layout.blocked(e.Key); why != "" {
			return m.keep(n, e, why, "")
		}
	}
	if _, there := m.layout.files[e.Key]; !there {
		n.Kept = ""
		if n.Title = cutText(e.Title, maxTitle); n.Title == "" {
			n.Title = titleOfFile(e.Key)
		}
		if n.Document = ""; e.Kind == tree.KindLink {
			n.Target = m.target(e)
		}
		return n, nil
	}
	// The file of an empty page is read again, because it may have been too long for an earlier version.
	unchanged := known && synced.Page == id && m.same(e.Key) && n.Document != ""
	if unchanged && n.Kept == "" && !m.summary && !m.all && len(m.renamed) == 0 {
		return n, nil
	}
	text, err := m.layout.repository.Read(e.Key)
	if err != nil {
		return n, err
	}
	if why := unreadable(string(text)); why != "" {
		return m.keep(n, e, why, string(text))
	}
	file := parsePage(string(text))
	if unchanged && n.Kept == "" {
		before := file.headingText == n.Title
		if title, from := file.title(e); from == titleInEntry || from == titleInName {
			n.Title = title
		}
		n.LinkTitle = e.label()
		asBefore := before == (file.headingText == n.Title) // if false, the heading enters or leaves the text
		if asBefore && !m.all && !names(string(text), m.renamed) {
			return n, nil
		}
		m.look(&n, file, e)
		return m.document(file, e, n)
	}
	if !unchanged {
		file.readInto(&n.Page, e)
	}
	m.look(&n, file, e)
	return m.document(file, e, n)
}

func (m *importer) target(e *Entry) schema.Data {
	plain := map[string]any{"kind": "url", "url": e.Link}
	if ref := m.links.read(m.layout.Summary, plain); ref != nil {
		return ref
	}
	return plain
}

// names reports whether a text contains one of the names, either plain or escaped as in a link.
func names(text string, of []string) bool {
	for _, name := range of {
		escaped := strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
		for _, spelled := range []string{name, content.RelativeLink("x", name), escaped} {
			if strings.Contains(text, spelled) {
				return true
			}
		}
	}
	return false
}

// maxLeftOut bounds the number of constructs that a note lists.
const maxLeftOut = 10

// noteLeftOut adds a note that lists the constructs that a page cannot show. These constructs stay in the file.
func (m *importer) noteLeftOut(name string, d schema.Document) {
	names := markdown.LeftOut(d)
	if len(names) == 0 {
		return
	}
	more := ""
	if len(names) > maxLeftOut {
		names, more = names[:maxLeftOut], " and more"
	}
	m.layout.note(name, "shown as text or left out: "+cutText(strings.Join(names, ", "), maxTitle)+more)
}

// document reads the text of a page's file and stores it as a document. It returns the page's node n with the hash of
// the document. An empty page has no document, so its hash is "". If the text is too long, the page is read-only (see
// `keep`).
func (m *importer) document(file *pageFile, e *Entry, n tree.Node) (tree.Node, error) {
	title, _ := file.title(e)
	d, tooLarge, err := file.document(title)
	if err != nil {
		return n, err
	}
	if tooLarge {
		return m.keep(n, e, whyTooLong, "")
	}
	n.Kept, n.Document = "", ""
	if len(d.Nodes) > 0 {
		n.Document, err = m.keepDocument(m.links.toSpace(e.Key, d), m.was[n.ID].Document)
	}
	m.noteLeftOut(e.Key, d)
	if file.imports != "" {
		m.layout.note(e.Key, "imports of components are left out")
	}
	if strings.EqualFold(path.Ext(e.Key), mdxExtension) {
		m.layout.note(
			e.Key, "an MDX file is read as Markdown: its expressions are text, and its components what is in them",
		)
	}
	return n, err
}
