package api

import (
	"slices"

	"github.com/octavo-docs/octavo/store"
)

// orgsTable has the operations on people and what they are in.
func orgsTable(st *store.Store, v links, resolver TXTResolver) Table {
	return Table{Operations: slices.Concat(
		userOperations(&users{store: st, urls: v}),
		organizationOperations(&organizations{store: st, urls: v}),
		emailDomainOperations(&emailDomains{store: st, resolver: resolver}),
		samlOperations(&samlProviders{store: st, urls: v}),
		inviteOperations(&invites{store: st, urls: v}),
		memberOperations(&members{store: st, urls: v}),
		teamOperations(&teams{store: st, urls: v}),
	), Vocabularies: []Vocabulary{orgsVocabulary}}
}
