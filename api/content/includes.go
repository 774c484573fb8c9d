package content

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/content/keys"
	"github.com/octavo-docs/octavo/store/content/markdown"
	"github.com/octavo-docs/octavo/store/content/pagelinks"
)

// The bounds of reusable contents in one document, which has [schema.MaxDocumentNodes] with them. A block beyond them stays as it is,
// as does one whose content is not there.
const (
	maxIncluded      = 100
	maxIncludedBytes = 64 << 10  // of one, as Markdown
	maxExpandedBytes = 256 << 10 // of all
)

// includesPath is where the links of a reusable content lead from: its file is in the folder .gitbook/includes.
const includesPath = ".gitbook/includes/content"

// expand puts reusable contents in the place of the blocks that name them, for readers and for whoever asks for it. They are files of
// the revision. Contents do not include others: such blocks stay.
func (h *pages) expand(ctx context.Context, c *access.Caller, space store.Space, d *schema.Document, asked *string) error {
	if c.Reader == nil && schema.Or(asked, "false") == "false" {
		return nil
	}
	ids := included(d.Nodes, nil)
	files, err := h.store.Includes(ctx, space.ID, space.Revision, ids, maxIncludedBytes)
	if err != nil || len(files) == 0 {
		return err
	}
	contents := make(map[string]schema.Document, len(files))
	bytes := 0
	for _, id := range ids {
		file, there := files[id]
		if bytes += len(file); bytes > maxExpandedBytes {
			break
		}
		read, ok := readInclude(file)
		if !there || !ok {
			continue
		}
		if contents[id], err = h.linked(ctx, space, pagelinks.Page{Path: includesPath}, read); err != nil {
			return err
		}
	}
	size := d.Size()
	d.Nodes = withContents(d.Nodes, func(id string) ([]schema.Node, bool) {
		content, ok := contents[id]
		more := content.Size()
		if !ok || size+more > schema.MaxDocumentNodes {
			return nil, false
		}
		size += more
		return keys.Clone(content.Nodes), true
	})
	keys.Assign(d, nil)
	return nil
}

// readInclude reads the file of a reusable content. A file may be something else altogether: then it is none.
func readInclude(file []byte) (schema.Document, bool) {
	if !utf8.Valid(file) {
		return schema.Document{}, false
	}
	_, body, err := markdown.SplitFrontMatter(string(file))
	if err != nil {
		body = string(file) // What cannot be read as front matter is text.
	}
	d, err := markdown.Read(body)
	return d, err == nil
}

// included lists the reusable contents that blocks name, each once.
func included(nodes []schema.Node, ids []string) []string {
	for i := range nodes {
		n := &nodes[i]
		if id, ok := includedBy(n); ok && len(ids) < maxIncluded && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		ids = included(n.Fragments, included(n.Nodes, ids))
	}
	return ids
}

func includedBy(n *schema.Node) (id string, ok bool) {
	if n.Type != "reusable-content" {
		return "", false
	}
	ref, _ := n.Data["ref"].(map[string]any)
	id, ok = ref["reusableContent"].(string)
	_, elsewhere := ref["space"]
	return id, ok && !elsewhere
}

// withContents returns the blocks with contents in the place of those that name one. nodes stay as they are.
func withContents(nodes []schema.Node, contentOf func(id string) ([]schema.Node, bool)) []schema.Node {
	if nodes == nil {
		return nil
	}
	with := make([]schema.Node, 0, len(nodes))
	for _, n := range nodes {
		if id, ok := includedBy(&n); ok {
			if content, ok := contentOf(id); ok {
				with = append(with, content...)
				continue
			}
		}
		n.Nodes, n.Fragments = withContents(n.Nodes, contentOf), withContents(n.Fragments, contentOf)
		with = append(with, n)
	}
	return with
}
