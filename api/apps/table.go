package apps

import (
	"slices"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Table returns the operations on integrations, OpenAPI specifications and conversations.
func Table(st *store.Store, v view.Presenter) frame.Table {
	return frame.Table{Operations: slices.Concat(
		conversationOperations(&conversationResources{store: st, view: v}),
		clusterOperations(&conversationResources{store: st, view: v}),
		integrationOperations(&integrations{store: st, view: v}),
		installationOperations(&installations{store: st, view: v}),
		contentInstallationOperations(&installations{store: st, view: v}),
		developmentOperations(&development{store: st}),
		specOperations(&specs{store: st, view: v}),
	), Vocabularies: []rules.Vocabulary{{Enums: schema.IntegrationEnums()}, {Enums: schema.OpenAPIEnums()}, vocabulary}}
}
