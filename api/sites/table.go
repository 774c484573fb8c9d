package sites

import (
	"net/url"
	"slices"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/dnsproof"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema/customization"
	"github.com/octavo-docs/octavo/store"
)

// Table returns the operations on sites and their structure.
func Table(st *store.Store, v view.Presenter, resolver dnsproof.Resolver, frontEnds []*url.URL) frame.Table {
	all := &handlers{store: st, view: v}
	return frame.Table{Operations: slices.Concat(
		siteOperations(all),
		visitorAuthRows(&visitorAuth{store: st}),
		hostnameRows(&hostnames{store: st, resolver: resolver}),
		addressRows(&addresses{sites: all, store: st, view: v, tokens: access.NewSiteTokens(st)}),
		customizationOperations(&customizations{store: st}),
		visitorSessionRows(newVisitorSessions(st, v.URLs, frontEnds)),
	), Vocabularies: []rules.Vocabulary{{Enums: customization.Enums()}, vocabulary}}
}
