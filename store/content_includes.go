package store

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/includes"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/pagelinks"
)

// Expanded replaces each block that refers to a reusable content by the content, which is a file of the revision. If
// the function `each` is not nil, Expanded first calls it with every content. The conditions of the block apply to the
// content in addition to the content's own conditions. Tags in a content do not begin or end blocks of the page. So
// package filerefs can find the references of a page without the contents.
func (s *Store) Expanded(
	ctx context.Context, spaceID, revision string, d schema.Document, each func(content *schema.Document),
) (schema.Document, error) {
	ids := includes.Named(d.Nodes)
	files, err := s.Includes(ctx, spaceID, revision, ids, includes.MaxBytes)
	if err != nil || len(files) == 0 {
		return d, err
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
		if each != nil {
			each(&read)
		}
		if contents[id], err = s.Linked(ctx, spaceID, revision, pagelinks.Page{Path: includes.Path}, read); err != nil {
			return schema.Document{}, err
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
	keys.Assign(&d, nil)
	return d, nil
}

// Linked returns the document with its relative links to other pages replaced by references to the pages. It queries
// Postgres only if the document has relative links. It searches for moved pages only if a link has no target.
func (s *Store) Linked(
	ctx context.Context, spaceID, revision string, page pagelinks.Page, d schema.Document,
) (schema.Document, error) {
	ids, err := s.PagesAt(ctx, spaceID, revision, pagelinks.Targets(d, page))
	if err != nil {
		return schema.Document{}, err
	}
	d = pagelinks.ToPages(d, page, ids)
	ids, err = s.PagesOnceAt(ctx, spaceID, revision, pagelinks.Targets(d, page))
	if err != nil || len(ids) == 0 {
		return d, err
	}
	return pagelinks.ToPages(d, page, ids), nil
}
