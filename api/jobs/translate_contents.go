package jobs

import (
	"bytes"
	"context"

	"github.com/octavo-docs/octavo/api/remote/translation"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/includes"
	"github.com/octavo-docs/octavo/store"
)

// maxTranslatedContents is the largest total size, in bytes, of a copy's translated reusable contents. A run has all of
// them in memory. Contents beyond this size stay in the language of the source space.
const maxTranslatedContents = 16 << 20

// reusable is a reusable content of the source space.
type reusable struct {
	id string
	// page is a page that refers to the content.
	page string
	file []byte
	translatedPage
}

// eachContent calls `visit` with each reusable content that pages refer to and that `seen` does not have. It adds their
// ids to `seen`.
func (t *translator) eachContent(ctx context.Context, pages []translatedPage, seen map[string]string, visit func(*reusable) error) error {
	for i := range pages {
		if pages[i].document == nil {
			continue
		}
		var ids []string
		for _, id := range includes.Named(pages[i].document.Nodes) {
			if _, there := seen[id]; !there {
				seen[id] = id
				ids = append(ids, id)
			}
		}
		files, err := t.deps.Store.Includes(ctx, t.base.Space.ID, t.base.Space.Revision, ids, includes.MaxBytes)
		if err != nil {
			return err
		}
		for _, id := range ids {
			file, there := files[id]
			d, ok := includes.Read(file)
			if !there || !ok {
				continue
			}
			c := reusable{id: id, page: pages[i].node.ID, file: file, translatedPage: pageOf(pages[i].node, &d)}
			if err := visit(&c); err != nil {
				return err
			}
		}
	}
	return nil
}

// content puts translations into a reusable content, and returns the id of its file in the copy. If nothing is
// translated, this is the id of the file in the source space. Files never change, so the id of a new file is derived
// from its contents.
func (t *translator) content(c *reusable, known map[string]store.Translated, files map[string]bool, made *store.TranslatedSpace) string {
	for _, r := range fill(c.places, known) {
		r.Page, r.Segment = c.page, c.id+"/"+r.Segment
		made.Report(r)
	}
	for _, id := range translation.Refs(c.document, t.base.Space.ID, t.base.CopyID, nil) {
		files[id] = true
	}
	c.document.Normalize()
	file := includes.Edit(c.file, *c.document)
	if bytes.Equal(file, c.file) {
		return c.id
	}
	if t.contentBytes += len(file); len(file) > includes.MaxBytes || t.contentBytes > maxTranslatedContents {
		made.Report(schema.TranslationReport{Kind: schema.ReportRefused, Page: c.page, Segment: c.id})
		return c.id
	}
	id := schema.DerivedID(append([]byte(c.id), file...))
	made.Contents = append(made.Contents, store.TranslatedContent{ID: id, Source: c.id, Content: file})
	return id
}
