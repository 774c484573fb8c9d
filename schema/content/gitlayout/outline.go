package gitlayout

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema/content/tree"
)

// Entry is a page's entry in the table of contents.
type Entry struct {
	// Key is the path of the file. For an entry without a file, Key is "//" and the titles of the entry's ancestors and
	// of the entry.
	Key  string
	Kind string
	// Title is the text of the entry. Title is "" if the page's file has the title. Label replaces the title in the
	// table of contents.
	Title, Label string
	// Link is the destination of a link, relative to the table of contents.
	Link string
	// Slug is the slug in a group's heading. It is "" if the slug follows from the title.
	Slug     string
	Children []*Entry
}

// HasFile reports whether the entry names a file.
func (e *Entry) HasFile() bool { return !strings.HasPrefix(e.Key, keyPrefix) }

// label returns the label of the entry's page, cut to the length that a page can have.
func (e *Entry) label() string { return cutText(e.Label, maxLabel) }

// keyPrefix begins the key of an entry without a file. No path of a repository begins with a slash, so such a key
// differs from every path.
const keyPrefix = "//"

// maxText bounds the bytes of a table of contents.
const maxText = 8 << 20

// Outline reads the table of contents.
func (l *Layout) Outline() ([]*Entry, error) {
	if !l.HasSummary {
		return l.folderOrder(), nil
	}
	text, err := l.repository.Read(l.Summary)
	if err != nil {
		return nil, err
	}
	switch why := unreadable(string(text)); why {
	case "":
	case whyEncoding: // the lines stay unchanged, and only the titles of pages may lose characters
		l.note(l.Summary, "it "+why+": titles may miss characters")
	default:
		return nil, fmt.Errorf("%w: %s %s", ErrSummary, l.Summary, why)
	}
	if len(text) > maxText {
		return nil, fmt.Errorf("%w: its %s has more than %d bytes", ErrTooLarge, l.Summary, maxText)
	}
	return l.outlineOf(parseSummary(string(text))), nil
}

// outlineOf makes a tree of the items of a summary.
func (l *Layout) outlineOf(s *summary) []*Entry {
	b := outliner{layout: l, seen: map[string]bool{}, numbers: counter{}, whole: map[string]bool{}}
	for i := range s.items {
		if target, fragment, ok := l.resolve(l.Summary, s.items[i].dest); ok && fragment == "" {
			b.whole[target] = true
		}
	}
	for i := range s.items {
		b.add(&s.items[i])
	}
	return b.root
}

// outliner makes a tree of entries from items. It gives each item the key of its entry.
type outliner struct {
	layout *Layout
	root   []*Entry
	group  *Entry
	// `above` has the last entry and its ancestors, by depth. For a link, `above` has nil, because a link has no child
	// entries.
	above []*Entry
	seen  map[string]bool
	// numbers has the numbers of keys that are in use, by key.
	numbers counter
	// whole has the files to which at least one entry refers without an anchor. If a file is not in whole, the first
	// entry that refers to the file becomes its page.
	whole map[string]bool
}

// maxNesting is the greatest depth of an entry. It keeps the tree of pages within tree.MaxDepth. Deeper entries become
// siblings of entries at this depth.
const maxNesting = tree.MaxDepth - 2

func (b *outliner) add(it *item) {
	switch it.kind {
	case itemRule:
		b.group, b.above = nil, nil
		return
	case itemHeading:
		b.above = nil
		b.group = &Entry{Kind: tree.KindGroup, Title: it.title, Slug: it.slug}
		b.group.Key = b.unique(keyPrefix + it.title)
		it.key = b.group.Key
		b.root = append(b.root, b.group)
		return
	case itemPage:
	}
	depth := min(it.depth, len(b.above), maxNesting)
	b.above = b.above[:depth]
	var parent *Entry
	for _, above := range b.above {
		if above != nil {
			parent = above
			it.level++
		}
	}
	if parent == nil {
		parent = b.group
	}
	entry := b.entry(it, parent)
	if it.key = entry.Key; parent != nil {
		it.parent = parent.Key
	}
	if parent == nil {
		b.root = append(b.root, entry)
	} else {
		parent.Children = append(parent.Children, entry)
	}
	if entry.Kind == tree.KindLink {
		b.above = append(b.above, nil)
	} else {
		b.above = append(b.above, entry)
	}
}

func (b *outliner) entry(it *item, parent *Entry) *Entry {
	l := b.layout
	if it.dest == "" {
		return b.plain(it, parent, tree.KindDocument)
	}
	target, fragment, relative := l.resolve(l.Summary, it.dest)
	_, there := l.files[target]
	if own, folder := l.readmeOf(strings.TrimSuffix(target, "/") + "/"); relative && fragment == "" && !there &&
		folder {
		target, there = own, true // a link to a folder leads to the folder's page
	}
	if !relative || !l.isPage(target) || b.seen[target] || fragment != "" && (b.whole[target] || !there) {
		entry := b.plain(it, parent, tree.KindLink)
		entry.Link = it.dest
		return entry
	}
	b.seen[target] = true
	if !there && l.blocked(target) == "" {
		l.note(target, l.Summary+" names it, and it is not there")
	}
	return &Entry{Key: target, Kind: tree.KindDocument, Title: it.title, Label: it.label}
}

func (b *outliner) plain(it *item, parent *Entry, kind string) *Entry {
	key := keyPrefix + it.title
	if parent != nil {
		key = keyPrefix + strings.TrimPrefix(parent.Key, keyPrefix) + "/" + it.title
	}
	return &Entry{Key: b.unique(key), Kind: kind, Title: it.title, Label: it.label}
}

// unique returns the key, or the key with a number if another entry has the same key.
func (b *outliner) unique(key string) string {
	const longest = 2000 // keys are stored and indexed, so they must not be too long
	if len(key) > longest {
		key = strings.ToValidUTF8(key[:longest], "")
	}
	free := key
	if b.seen[free] {
		numbered := func(n int) string { return fmt.Sprintf("%s#%d", key, n) }
		free = b.numbers.free(key, 2, numbered, func(key string) bool { return b.seen[key] })
	}
	b.seen[free] = true
	return free
}

// counter remembers, for each name, the lowest number that may be free. So a number is tried once for all calls.
type counter map[string]int

// free returns the name with the lowest number from `first` on that is not taken. A name that is taken must be taken in
// all later calls too.
func (c counter) free(name string, first int, numbered func(int) string, taken func(string) bool) string {
	for c[name] = max(c[name], first); ; c[name]++ {
		if free := numbered(c[name]); !taken(free) {
			return free
		}
	}
}

// folderOrder makes the outline of a repository without a table of contents.
func (l *Layout) folderOrder() []*Entry {
	children := map[string][]string{} // names by their folder, whose name ends with a slash
	listed := map[string]bool{}
	names := slices.AppendSeq(slices.Collect(maps.Keys(l.files)), maps.Keys(l.left))
	for _, name := range names {
		if !l.isPage(name) || hidden(strings.TrimPrefix(name, l.Root)) {
			continue
		}
		for at := name; ; {
			dir := path.Dir(strings.TrimSuffix(at, "/")) + "/"
			if dir == "./" {
				dir = ""
			}
			if listed[at] {
				break
			}
			listed[at] = true
			children[dir] = append(children[dir], at)
			if dir == l.Root {
				break
			}
			at = dir
		}
	}
	return l.folder(l.Root, children, 1)
}

func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.") || strings.HasPrefix(name, "node_modules/") || strings.Contains(name, "/node_modules/")
}

// folder lists the entries of a folder. The entries of the parent folder include the folder's own page. The root has no
// parent folder, so its entries include its own page.
func (l *Layout) folder(dir string, children map[string][]string, depth int) []*Entry {
	names := children[dir]
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(a, b))
	})
	own := l.ownPage(names)
	var entries []*Entry
	if dir == l.Root && own != "" {
		entries = append(entries, &Entry{Key: own, Kind: tree.KindDocument})
	}
	for _, name := range names {
		switch {
		case name == own:
		case !strings.HasSuffix(name, "/"):
			entries = append(entries, &Entry{Key: name, Kind: tree.KindDocument})
		default:
			entry := &Entry{Key: l.ownPage(children[name]), Kind: tree.KindDocument}
			if entry.Key == "" {
				entry.Key, entry.Title = keyPrefix+name, humanize(path.Base(name))
			}
			entries = append(entries, entry)
			if below := l.folder(name, children, depth+1); depth < maxNesting {
				entry.Children = below
			} else {
				entries = append(entries, below...)
			}
		}
	}
	return entries
}

func (l *Layout) ownPage(names []string) string {
	for _, name := range names {
		if l.isReadme(name) {
			return name
		}
	}
	return ""
}

// humanize makes a title from the name of a file or folder.
func humanize(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '-' || r == '_' {
			return ' '
		}
		return r
	}, strings.TrimSuffix(name, path.Ext(name))))
	if name == "" {
		return "Untitled"
	}
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}

// titleOfFile makes a title from a file's name, for a page without a title in its entry and in its file.
func titleOfFile(name string) string {
	if strings.EqualFold(path.Base(name), readmeName) && path.Dir(name) != "." {
		return humanize(path.Base(path.Dir(name)) + ".md")
	}
	return humanize(path.Base(name))
}
