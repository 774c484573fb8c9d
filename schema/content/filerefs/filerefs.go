// Package filerefs lists the files to which documents refer, with the conditions under which visitors see the
// references.
//
// The package imports only schema and other packages of schema/content.
package filerefs

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/includes"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

// maxBytes limits the size of one document's stored references. About 3,000 references fit. Visitors cannot see the
// files beyond the limit, but users can.
const (
	maxBytes    = 128 << 10
	refBytes    = 40 // memory of a reference without the id of a space, in bytes
	branchBytes = 24 // memory of a branch without its expression, in bytes
)

// Refs has the files and contents to which one document refers. The size of Refs grows linearly with the document's
// size, however deeply conditional blocks are nested. Refs are stored as JSON, so the names of members must not change.
type Refs struct {
	// Branches are the conditional blocks that contain references. Each branch comes after its enclosing branch.
	Branches []Branch `json:"branches,omitzero"`
	Files    []Ref    `json:"files,omitzero"`
	// Includes are the files of reusable contents. Visitors see a reusable content in place of the block that refers to
	// it.
	Includes []Ref `json:"includes,omitzero"`
}

// Branch is a conditional block. `In` is the number of the enclosing branch: 1 for the first branch of Branches, or 0
// if no branch encloses the block.
type Branch struct {
	In int    `json:"in,omitzero"`
	If string `json:"if"`
}

// Ref is a reference to a file. Space is set if the reference names a space. `In` is the number of the branch that
// contains the reference.
type Ref struct {
	ID    string `json:"id"`
	Space string `json:"space,omitzero"`
	In    int    `json:"in,omitzero"`
}

// Of lists the files and contents to which a document refers. Each file is listed once for each branch that refers to
// it.
func Of(d schema.Document) Refs {
	f := finder{branches: map[*markdown.Branch]int{nil: 0}, seen: map[seenRef]bool{}}
	markdown.EachNode(d, f.node)
	return f.refs
}

// OfFile lists the references in the file of a reusable content.
func OfFile(file []byte) Refs {
	if len(file) > includes.MaxBytes || !MayName(file) {
		return Refs{}
	}
	d, ok := includes.Read(file)
	if !ok {
		return Refs{}
	}
	refs := Of(d)
	refs.Includes = nil // A content cannot include another content.
	return refs
}

// MayName reports whether a document's JSON or Markdown may refer to a file. Every reference to a file contains at
// least one of the two texts that MayName looks for.
func MayName(text []byte) bool {
	return bytes.Contains(text, []byte("file")) || bytes.Contains(text, []byte(includes.Block))
}

// OfRef returns the file that a reference names. `ok` is false if the reference does not name a file, or if its id
// cannot be the id of a file.
func OfRef(ref map[string]any) (file Ref, ok bool) {
	id, _ := ref["file"].(string)
	space, _ := ref["space"].(string)
	ok = ref["kind"] == "file" && content.IsID(id) && (space == "" || content.IsID(space))
	return Ref{ID: id, Space: space}, ok
}

type finder struct {
	refs     Refs
	bytes    int
	branches map[*markdown.Branch]int
	seen     map[seenRef]bool
}

type seenRef struct {
	ref     Ref
	include bool
}

func (f *finder) node(n *schema.Node, refs []map[string]any, in *markdown.Branch) {
	for _, ref := range refs {
		if file, ok := OfRef(ref); ok {
			f.add(file, false, in)
		}
	}
	if id, ok := includes.Name(n); ok && content.IsID(id) {
		f.add(Ref{ID: id}, true, in)
	}
	if n.Type == "table" {
		f.cells(n.Data, in)
	}
}

// cells adds the files of a table's file columns, whose cells are lists of ids.
func (f *finder) cells(table schema.Data, in *markdown.Branch) {
	columns, _ := table["definition"].(map[string]any)
	records, _ := table["records"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		if about, _ := columns[name].(map[string]any); about["type"] != "files" {
			continue
		}
		for _, record := range slices.Sorted(maps.Keys(records)) {
			about, _ := records[record].(map[string]any)
			values, _ := about["values"].(map[string]any)
			list, _ := values[name].([]any)
			for _, item := range list {
				if id, _ := item.(string); content.IsID(id) {
					f.add(Ref{ID: id}, false, in)
				}
			}
		}
	}
}

func (f *finder) add(ref Ref, include bool, in *markdown.Branch) {
	if f.bytes > maxBytes {
		return
	}
	number, ok := f.branch(in)
	ref.In = number
	if key := (seenRef{ref, include}); ok && !f.seen[key] && f.take(refBytes+len(ref.Space)) {
		f.seen[key] = true
		if include {
			f.refs.Includes = append(f.refs.Includes, ref)
		} else {
			f.refs.Files = append(f.refs.Files, ref)
		}
	}
}

// take adds a number of bytes to the used size, and reports whether the size is still within maxBytes. After the first
// failure, every call fails.
func (f *finder) take(bytes int) bool {
	f.bytes += bytes
	return f.bytes <= maxBytes
}

// branch returns the number of a branch. It uses a loop instead of recursion, because branches nest as deeply as
// blocks.
func (f *finder) branch(in *markdown.Branch) (number int, ok bool) {
	var fresh []*markdown.Branch
	at, bytes := in, 0
	for number, ok = f.branches[at]; !ok; number, ok = f.branches[at] {
		fresh, bytes = append(fresh, at), bytes+branchBytes+len(at.Expression)
		at = at.In
	}
	if !f.take(bytes) {
		return 0, false
	}
	for _, at := range slices.Backward(fresh) {
		expression := strings.ReplaceAll(at.Expression, "\x00", "\uFFFD") // Postgres cannot store the character NUL
		f.refs.Branches = append(f.refs.Branches, Branch{In: number, If: expression})
		number = len(f.refs.Branches)
		f.branches[at] = number
	}
	return number, true
}
