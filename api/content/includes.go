package content

import (
	"context"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/includes"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/pagelinks"
	"github.com/octavo-docs/octavo/store"
)

// expand replaces blocks that name reusable contents by the contents, for readers and on request. The contents are
// files of the revision. A content has its own conditions and its block's. Its tags neither begin nor end blocks of the
// page, so package filerefs finds a page's references without reading its contents.
func (h *pages) expand(ctx context.Context, c *access.Caller, space store.Space, d *schema.Document, asked *string) error {
	if c.Reader == nil && schema.Or(asked, "false") == "false" {
		return nil
	}
	ids := includes.Named(d.Nodes)
	files, err := h.store.Includes(ctx, space.ID, space.Revision, ids, includes.MaxBytes)
	if err != nil || len(files) == 0 {
		return err
	}
	contents := make(map[string]schema.Document, len(files))
	bytes := 0
	for _, id := range ids {
		file, there := files[id]
		if bytes += len(file); bytes > includes.MaxExpandedBytes {
			break
		}
		read, ok := includes.Read(file)
		if !there || !ok {
			continue
		}
		adapt(&read, c)
		if contents[id], err = h.linked(ctx, space, pagelinks.Page{Path: includes.Path}, read); err != nil {
			return err
		}
	}
	size := d.Size()
	d.Nodes = includes.Replace(d.Nodes, func(id string) ([]schema.Node, bool) {
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
