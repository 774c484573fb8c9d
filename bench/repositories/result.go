package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// edits counts the edits of one kind. An edit is exact if the export changed only the edited line. An edit is lost if
// the exported files do not have it.
type edits struct{ made, exact, lost int }

func (e *edits) add(o edits) { e.made, e.exact, e.lost = e.made+o.made, e.exact+o.exact, e.lost+o.lost }

func (e edits) String() string {
	text := fmt.Sprintf("%d/%d", e.exact, e.made)
	if e.lost > 0 {
		text += fmt.Sprintf(" -%d", e.lost)
	}
	return text
}

// result is the outcome for a repository.
type result struct {
	pages, notes int
	// untouched is the number of files that an export without an edit changed.
	untouched int
	// markdown counts the edits that were sent as Markdown, and document counts the edits that were sent as documents.
	// `others` is the number of files that the export of the edits changed although their pages were not edited.
	markdown, document edits
	others             int
	// `equal`, `different` and `added` count the files of the new branch, compared with the imported branch. Files of
	// edited pages are not counted.
	equal, different, added int
	// tagged is the number of pages with a tag that a reader sees, including tags in exceptions.txt.
	tagged int
}

func (r *result) add(o result) {
	r.pages, r.notes = r.pages+o.pages, r.notes+o.notes
	r.untouched, r.others = r.untouched+o.untouched, r.others+o.others
	r.markdown.add(o.markdown)
	r.document.add(o.document)
	r.equal, r.different, r.added = r.equal+o.equal, r.different+o.different, r.added+o.added
	r.tagged += o.tagged
}

func (r result) print(name string) {
	fmt.Printf("%-40s %6d %6d %9d %14s %14s %18s %6d\n", name, r.pages, r.notes, r.untouched+r.others,
		r.markdown, r.document, fmt.Sprintf("%d/%d/%d", r.equal, r.different, r.added), r.tagged)
}

// cut splits an argument into a repository and a folder in it.
func cut(source string) (repository, folder string) {
	repository, folder, _ = strings.Cut(source, "@")
	return repository, folder
}

// title returns the name of the repository's directory, and then the folder, if any. If the directory is "repo", its
// parent gives the name.
func title(source string) string {
	repository, folder := cut(source)
	name := filepath.Base(repository)
	if name == "repo" {
		name = filepath.Base(filepath.Dir(repository))
	}
	return strings.TrimSuffix(name+" "+folder, " ")
}
