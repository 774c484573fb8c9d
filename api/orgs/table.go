package orgs

import (
	"slices"

	"github.com/octavo-docs/octavo/api/dnsproof"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/store"
)

// Table returns the operations on people, and on the organizations and teams to which they belong.
func Table(st *store.Store, v view.Presenter, resolver dnsproof.Resolver, sso SSO) frame.Table {
	return frame.Table{Operations: slices.Concat(
		userOperations(&users{store: st, view: v}),
		organizationOperations(&organizations{store: st, view: v}),
		emailDomainOperations(&emailDomains{store: st, resolver: resolver}),
		samlOperations(&samlProviders{store: st, view: v}),
		samlLoginOperations(&samlLogins{store: st, view: v, sso: sso}),
		sessionOperations(&sessions{store: st}),
		inviteOperations(&invites{store: st, view: v}),
		memberOperations(&members{store: st, view: v}),
		teamOperations(&teams{store: st, view: v}),
		jobOperations(&jobs{store: st}),
		webhookOperations(&webhooks{store: st, view: v}),
		auditOperations(&auditLog{store: st}),
	), Vocabularies: []rules.Vocabulary{vocabulary}}
}
