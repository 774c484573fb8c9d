package apitest

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/store/storetest"
)

// example is what the loops over the table need, besides the tenant, for a successful call of an operation: a body, and fresh
// objects for path parameters that the tenant has no object for. Body and path may contain `{name}`.
type example struct {
	body string
	// cookie goes with a form.
	cookie string
	// query is appended to the path of an operation that requires a query parameter.
	query string
	// Make creates objects as the tenant's admin and returns their ids, keyed by the names in path and body.
	Make func(h *Harness, tenant *storetest.Tenant) map[string]string
	// Needs is a right that the handler requires on these objects, beyond the scope's.
	Needs access.Rights
}

// Examples has a row for every operation with a body or with objects of its own; each resource's tests add theirs. A test fails
// if a row is missing.
var Examples = map[string]example{}

func init() {
	for _, add := range []func(){
		accessExamples,
		addressExamples,
		changeRequestExamples,
		commentsExamples,
		conflictExamples,
		consentExamples,
		contentExamples,
		conversationsExamples,
		customizationExamples,
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
		sitesExamples,
		specExamples,
		templateExamples,
		translationsExamples,
	} {
		add()
	}
}
