package api

import (
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// sitesTable has the operations on sites and their structure.
func sitesTable(st *store.Store, v links) Table {
	return Table{Operations: slices.Concat(
		siteOperations(&sites{store: st, urls: v}),
		customizationOperations(&customization{store: st}),
	), Vocabularies: []Vocabulary{{Enums: schema.CustomizationEnums()}, sitesVocabulary}}
}
