// Package includes handles reusable contents: Markdown files to which blocks of documents refer. Readers see the
// contents instead of the blocks. A reusable content cannot include other contents: if its blocks refer to contents,
// these blocks are not replaced.
//
// The package imports only schema and other packages of schema/content.
package includes

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/frontmatter"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

// These constants bound the reusable contents in one document. Together with its contents, a document has at most
// [schema.MaxDocumentNodes] nodes. A block stays unchanged if its content is missing or would exceed a bound.
const (
	maxNamed         = 100
	MaxBytes         = 64 << 10 // largest size of one content as Markdown, in bytes
	MaxExpandedBytes = 256 << 10
)

// Path is the path against which the relative links of a reusable content are resolved. The file of the content is in
// the folder .gitbook/includes.
const Path = ".gitbook/includes/content"

// Block is the type of the blocks that refer to a reusable content.
const Block = "reusable-content"

// Named lists the files of the reusable contents to which blocks refer, without duplicates.
func Named(nodes []schema.Node) []string { return named(nodes, nil) }

func named(nodes []schema.Node, ids []string) []string {
	for i := range nodes {
		n := &nodes[i]
		if id, ok := Name(n); ok && len(ids) < maxNamed && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		ids = named(n.Fragments, named(n.Nodes, ids))
	}
	return ids
}

// Name returns the id of the file of the content to which a block refers. `ok` is false if the block does not refer to
// a content.
func Name(n *schema.Node) (id string, ok bool) {
	if n.Type != Block {
		return "", false
	}
	ref, _ := n.Data["ref"].(map[string]any)
	id, ok = ref["reusableContent"].(string)
	_, elsewhere := ref["space"]
	return id, ok && !elsewhere
}

// Replace returns a copy of the blocks. In the copy, each block that refers to a content is replaced by the content.
func Replace(nodes []schema.Node, contentOf func(id string) ([]schema.Node, bool)) []schema.Node {
	if nodes == nil {
		return nil
	}
	with := make([]schema.Node, 0, len(nodes))
	for _, n := range nodes {
		if id, ok := Name(&n); ok {
			if content, ok := contentOf(id); ok {
				with = append(with, content...)
				continue
			}
		}
		n.Nodes, n.Fragments = Replace(n.Nodes, contentOf), Replace(n.Fragments, contentOf)
		with = append(with, n)
	}
	return with
}

// Read reads the file of a reusable content. `ok` is false if the file is not a reusable content.
func Read(file []byte) (d schema.Document, ok bool) {
	if !utf8.Valid(file) {
		return d, false
	}
	_, body := split(string(file))
	d, err := markdown.Read(body)
	return d, err == nil
}

// Edit replaces the document in the file of a reusable content. Unchanged parts and the front matter keep their bytes.
func Edit(file []byte, d schema.Document) []byte {
	front, body := split(string(file))
	return []byte(front + markdown.Edit(body, d))
}

// split separates the front matter of a file from its text. The front matter includes the blank lines after it. Front
// matter that cannot be read belongs to the text.
func split(file string) (front, body string) {
	_, body, err := frontmatter.Split(file)
	if err != nil {
		return "", file
	}
	body = strings.TrimLeft(body, "\r\n")
	return strings.TrimSuffix(file, body), body
}
