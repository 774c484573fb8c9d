package orgs

import (
	"slices"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/store"
)

// orgsTable has the operations on people and what they are in.
func Table(st *store.Store, v view.Presenter, resolver TXTResolver) frame.Table {
	return frame.Table{Operations: slices.Concat(
		userOperations(&users{store: st, urls: v}),
		organizationOperations(&organizations{store: st, urls: v}),
		emailDomainOperations(&emailDomains{store: st, resolver: resolver}),
		samlOperations(&samlProviders{store: st, urls: v}),
		inviteOperations(&invites{store: st, urls: v}),
		memberOperations(&members{store: st, urls: v}),
		teamOperations(&teams{store: st, urls: v}),
	), Vocabularies: []rules.Vocabulary{vocabulary}}
}
