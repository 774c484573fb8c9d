package content

import (
	"context"
	"slices"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/content/keys"
	"github.com/octavo-docs/octavo/store/content/markdown"
	"github.com/octavo-docs/octavo/store/content/pagelinks"
)

// The bounds of reusable contents in one document. A block beyond them stays as it is, as does one whose content is not there.
const (
	maxIncluded      = 100
	maxIncludedBytes = 64 << 10 // of one, as Markdown
	maxExpandedBytes = 1 << 20  // of all, each as often as it is included
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
	contents := make(map[string][]schema.Node, len(files))
	for id, file := range files {
		_, body, err := markdown.SplitFrontMatter(string(file))
		if err != nil {
			body = string(file) // What cannot be read as front matter is text.
		}
		read, err := markdown.Read(body)
		if err != nil {
			continue
		}
		if read, err = h.linked(ctx, space, pagelinks.Page{Path: includesPath}, read); err != nil {
			return err
		}
		contents[id] = read.Nodes
	}
	left := maxExpandedBytes
	d.Nodes = withContents(d.Nodes, func(id string) ([]schema.Node, bool) {
		nodes, ok := contents[id]
		if left -= len(files[id]); !ok || left < 0 {
			return nil, false
		}
		return keys.Clone(nodes), true
	})
	keys.Assign(d, nil)
	return nil
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
