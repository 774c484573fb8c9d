package sites

import (
	"slices"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Table returns the operations on sites and their structure.
func Table(st *store.Store, v view.Presenter) frame.Table {
	return frame.Table{Operations: slices.Concat(
		siteOperations(&sites{store: st, view: v}),
		customizationOperations(&customization{store: st}),
	), Vocabularies: []rules.Vocabulary{{Enums: schema.CustomizationEnums()}, vocabulary}}
}
