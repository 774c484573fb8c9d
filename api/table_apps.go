package api

import (
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// appsTable has the operations on what works beside content.
func appsTable(st *store.Store, v links) Table {
	return Table{Operations: slices.Concat(
		conversationOperations(&conversationResources{store: st, urls: v}),
		clusterOperations(&conversationResources{store: st, urls: v}),
		integrationOperations(&integrations{store: st, urls: v}),
		openAPISpecOperations(&openAPISpecs{store: st, urls: v}),
	), Vocabularies: []Vocabulary{{Enums: schema.IntegrationEnums()}, {Enums: schema.OpenAPIEnums()}, appsVocabulary}}
}
