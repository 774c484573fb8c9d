package apitest

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/store/storetest"
)

// example is the input of a call that succeeds. Make creates objects for the call. In the path, query, body and cookie,
// `{name}` is replaced by the id that Make returned under this name, or by the id of the tenant's object.
type example struct {
	body string
	// cookie is sent with a form.
	cookie string
	// query is appended to the path. Only operations that require a query parameter have it.
	query string
	// Make creates objects as the tenant's admin and returns their ids. The keys are the names that stand in braces.
	Make func(h *Harness, tenant *storetest.Tenant) map[string]string
	// Needs is a right on the created objects. The handler requires it in addition to the right that the table of
	// operations names.
	Needs access.Rights
}

// Examples has the example calls of operations, by the operation's id. An operation needs an example call if it has a
// body, requires a query parameter, or needs objects that are created for the call. Each resource has a function that
// adds the examples of its operations. A test fails if an example is missing.
var Examples = map[string]example{}

func init() {
	for _, add := range []func(){
		accessExamples,
		addressExamples,
		auditExamples,
		changeRequestExamples,
		commentsExamples,
		conflictExamples,
		consentExamples,
		contentExamples,
		conversationsExamples,
		customizationExamples,
		dashboardExamples,
		eventsExamples,
		gitExamples,
		glossaryExamples,
		hostnameExamples,
		integrationsExamples,
		invitesExamples,
		jobsExamples,
		organizationsExamples,
		removalExamples,
		reviewsExamples,
		samlExamples,
		samlLoginExamples,
		sitesExamples,
		specExamples,
		templateExamples,
		translationsExamples,
		webhookExamples,
	} {
		add()
	}
}
