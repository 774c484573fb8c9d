package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (v Presenter) FoundPage(space string, p store.FoundPage) schema.SearchPageResult {
	return schema.SearchPageResult{ID: p.PageID, Title: p.Title, Path: p.Path, URLs: v.pageURLs(space, p.PageID)}
}
