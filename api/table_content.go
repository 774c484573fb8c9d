package api

import (
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// contentTable has the operations on collections, spaces and what is in them.
func contentTable(st *store.Store, v links) Table {
	requests, pdfs := &changeRequests{store: st, urls: v}, newExports(st, v)
	return Table{Operations: slices.Concat(
		spaceOperations(&spaces{store: st, urls: v}),
		changeRequestOperations(requests),
		contentOperations(&contents{store: st, urls: v, requests: requests, exports: pdfs}),
		exportOperations(pdfs),
		searchOperations(&searches{store: st, urls: v}),
		commentOperations(&comments{store: st, urls: v}),
		reviewOperations(&reviews{store: st, urls: v}),
		translationOperations(&translations{store: st, urls: v}),
		glossaryOperations(&glossary{store: st, urls: v}),
		collectionOperations(&collections{store: st, urls: v}),
		collectionAccessOperations(&collectionAccess{store: st, urls: v}),
		gitOperations(&git{store: st}),
	), Vocabularies: []Vocabulary{{Enums: schema.GitEnums()}, contentVocabulary}}
}
