package apitest

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/store/storetest"
)

// example has the input of a successful call of an operation. It has a body, and fresh objects for path parameters. The
// tenant's objects fill the other path parameters. Body and path may contain `{name}`.
type example struct {
	body string
	// cookie is sent with a form.
	cookie string
	// query is appended to the path of an operation that requires a query parameter.
	query string
	// Make creates objects as the tenant's admin and returns their ids, keyed by the names in path and body.
	Make func(h *Harness, tenant *storetest.Tenant) map[string]string
	// Needs is a right on these objects that the handler requires in addition to the scope's right.
	Needs access.Rights
}

// Examples has a row for every operation that has a body, that requires a query parameter, or whose path needs objects
// made for the call. A function for each resource adds its rows. A test fails if a row is missing.
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
