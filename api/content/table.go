package content

import (
	"slices"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Table returns the operations on collections, on spaces and on their content. `policy` decides which hosts users may
// name for Git repositories and embedded pages.
func Table(st *store.Store, v view.Presenter, policy outbound.Policy) frame.Table {
	requests, pdfs := &changeRequests{store: st, view: v}, newExports(st, v)
	contents := &pages{store: st, view: v, requests: requests, exports: pdfs}
	return frame.Table{Operations: slices.Concat(
		spaceOperations(&spaces{store: st, view: v}),
		changeRequestOperations(requests),
		conflictOperations(&conflicts{store: st, view: v}),
		templateOperations(&templates{store: st, view: v}),
		pageOperations(contents),
		onePageOperations(contents),
		comparisonOperations(contents),
		embedOperations(newEmbeds(policy)),
		exportOperations(pdfs),
		searchOperations(&searches{store: st, view: v}),
		commentOperations(&comments{store: st, view: v}),
		reviewOperations(&reviews{store: st, view: v}),
		translationOperations(&translations{store: st, view: v}),
		glossaryOperations(&glossary{store: st, view: v}),
		collectionOperations(&collections{store: st, view: v}),
		accessOperations(st, v),
		gitOperations(&gitSync{store: st}),
	), Vocabularies: []rules.Vocabulary{{Enums: schema.GitEnums()}, vocabulary(policy)}}
}
