package gitlayout

import (
	"encoding/binary"
	"fmt"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// Left is an entry of a repository that cannot be read as a file. Why is the reason.
type Left struct{ Path, Why string }

// The reasons of Layout.blocked and of `unreadable` complete this sentence: "name cannot be edited here: it ...".
const (
	whyFolder   = "is a folder"
	whyName     = "has a name that cannot be written"
	whyBinary   = "is binary, or text in an encoding other than UTF-8"
	whyEncoding = "has bytes that are not UTF-8"
	whyUTF16    = "is text in UTF-16, not in UTF-8"
	whyTooLong  = "is too long for a page"
)

func leftWhy(why string) string { return "is left as it is: " + why }

// fold returns equal texts for names that case-insensitive file systems treat as equal.
func (l *Layout) fold(name string) string {
	if l.repository.Fold != nil {
		return l.repository.Fold(name)
	}
	return strings.ToLower(name)
}

// index records the names in the repository: files, folders, and left-out entries.
func (l *Layout) index() {
	for name := range l.folders {
		if name != "" {
			name = strings.TrimSuffix(name, "/")
			l.folded[l.fold(name)] = name
		}
	}
	for _, left := range l.repository.Left {
		if _, there := l.files[left.Path]; !there && l.writable(left.Path) {
			l.left[left.Path] = left.Why
			if folded := l.fold(left.Path); l.folded[folded] == "" {
				l.folded[folded] = left.Path
			}
		}
	}
	for name := range l.files {
		l.folded[l.fold(name)] = name
	}
}

func (l *Layout) writable(name string) bool {
	return utf8.ValidString(name) && (l.repository.Writable == nil || l.repository.Writable(name))
}

// has reports whether the repository has a file or a left-out entry at this path.
func (l *Layout) has(name string) bool {
	_, file := l.files[name]
	_, left := l.left[name]
	return file || left
}

// blocked returns the reason why a path cannot be read or written as a file. It returns "" if the path can be read and
// written. It does not check the file's bytes: `unreadable` does this.
func (l *Layout) blocked(name string) string {
	if _, there := l.files[name]; there {
		return ""
	}
	if why, left := l.left[name]; left {
		return leftWhy(why)
	}
	if l.folders[name+"/"] {
		return whyFolder
	}
	if !l.writable(name) {
		return whyName
	}
	for at := name; at != "." && at != "/"; at = path.Dir(at) {
		other, there := l.folded[l.fold(at)]
		why, left := l.left[other]
		switch {
		case !there:
		case other != at:
			return fmt.Sprintf("has the name of %s in another spelling", other)
		case left:
			return fmt.Sprintf("is in %s, which %s", other, leftWhy(why))
		case !l.folders[other+"/"]:
			return fmt.Sprintf("is in %s, which is no folder", other)
		}
	}
	return ""
}

// unreadable returns the reason why a file's bytes cannot become an editable page, or "" if they can. If a file in
// another encoding became editable, an edit would rewrite the whole file as UTF-8.
func unreadable(text string) string {
	switch {
	case strings.HasPrefix(text, littleEndian), strings.HasPrefix(text, bigEndian):
		return whyUTF16
	case strings.Contains(text, "\x00"):
		return whyBinary
	case !utf8.ValidString(text):
		return whyEncoding
	}
	return ""
}

// The byte order marks of UTF-16.
const (
	littleEndian = "\xff\xfe"
	bigEndian    = "\xfe\xff"
)

// legible returns the readable part of an unreadable text.
func legible(text, why string) string {
	switch why {
	case whyEncoding:
		return strings.ToValidUTF8(text, "\ufffd")
	case whyUTF16:
		var order binary.ByteOrder = binary.LittleEndian
		if strings.HasPrefix(text, bigEndian) {
			order = binary.BigEndian
		}
		units := make([]uint16, 0, len(text)/2)
		for at := len(littleEndian); at+1 < len(text); at += 2 {
			units = append(units, order.Uint16([]byte(text[at:at+2])))
		}
		return string(utf16.Decode(units))
	}
	return ""
}

// sentence returns a sentence for users that says why a page cannot be edited.
func sentence(name, why string) string {
	return cutText(name, maxTitle) + " cannot be edited here: it " + cutText(why, maxDescription)
}

// keep makes a read-only page for an unusable file. The page's text is the reason, followed by the readable part of the
// file. Edits are refused, and the file is never written.
func (m *importer) keep(n tree.Node, e *Entry, why, text string) (tree.Node, error) {
	file := parsePage(legible(text, why))
	title, from := file.title(e)
	if n.Kept == "" || from == titleInEntry || !m.asSynced(e) {
		n.Title = title
	}
	n.Kept = sentence(e.Key, why)
	if _, left := m.layout.left[e.Key]; !left { // The caller already lists the entries that were left out.
		m.layout.note(e.Key, "the page cannot be edited here, and the file stays as it is: it "+why)
	}
	says := n.Kept + ". Change the file in the repository."
	shown, tooLarge, err := file.document(title)
	if err != nil {
		return n, err
	}
	notice := schema.Block("hint", schema.Block("paragraph", schema.Text(says)))
	notice.Data = schema.Data{"style": "warning"}
	d := schema.NewDocument(notice)
	if !tooLarge && len(shown.Nodes) > 0 {
		d.Nodes = append(d.Nodes, m.links.toSpace(e.Key, shown).Nodes...)
		if d.TooLarge() {
			d.Nodes = d.Nodes[:1]
		}
	}
	n.Document, err = m.keepDocument(d, m.was[n.ID].Document)
	return n, err
}

// asSynced reports whether the path of an entry has the same content as at the last synchronization.
func (m *importer) asSynced(e *Entry) bool {
	synced, known := m.base.Files[e.Key]
	return known && synced.Blob == m.layout.files[e.Key].Blob
}

// keepDocument stores a document. Nodes that the previous document also contains keep their keys.
func (m *importer) keepDocument(d schema.Document, before string) (string, error) {
	var old *schema.Document
	if before != "" {
		was, err := m.Load(before)
		if err != nil {
			return "", err
		}
		old = &was
	}
	keys.Assign(&d, old)
	return m.Keep(d)
}
