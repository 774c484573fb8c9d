package content

import (
	"slices"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// contentTable has the operations on collections, spaces and what is in them.
func Table(st *store.Store, v view.Presenter) frame.Table {
	requests, pdfs := &changeRequests{store: st, urls: v}, newExports(st, v)
	return frame.Table{Operations: slices.Concat(
		spaceOperations(&spaces{store: st, urls: v}),
		changeRequestOperations(requests),
		pageOperations(&pages{store: st, urls: v, requests: requests, exports: pdfs}),
		exportOperations(pdfs),
		searchOperations(&searches{store: st, urls: v}),
		commentOperations(&comments{store: st, urls: v}),
		reviewOperations(&reviews{store: st, urls: v}),
		translationOperations(&translations{store: st, urls: v}),
		glossaryOperations(&glossary{store: st, urls: v}),
		collectionOperations(&collections{store: st, urls: v}),
		collectionAccessOperations(&collectionAccess{store: st, urls: v}),
		gitOperations(&gitSync{store: st}),
	), Vocabularies: []rules.Vocabulary{{Enums: schema.GitEnums()}, vocabulary}}
}
