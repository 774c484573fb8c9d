package apitest

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/store/storetest"
)

// example is what the loops over the table need to call an operation with success, beside the tenant: a body, and fresh
// objects for the parameters of the path that the tenant has none for. Body and path may hold `{name}`.
type example struct {
	body string
	// query goes behind the path of an operation that requires a parameter.
	query string
	// Make makes objects as the tenant's admin and gives their ids by the names that path and body use.
	Make func(h *Harness, tenant *storetest.Tenant) map[string]string
	// Needs is a right that the function asks for on these objects, beyond that of the scope.
	Needs access.Rights
}

// Examples has a row for every operation with a body or with objects of its own; each resource's tests add theirs. A test
// fails when a row is missing.
var Examples = map[string]example{}

func init() {
	for _, add := range []func(){
		accessExamples,
		changeRequestExamples,
		commentsExamples,
		consentExamples,
		contentExamples,
		conversationsExamples,
		customizationExamples,
		eventsExamples,
		gitExamples,
		glossaryExamples,
		integrationsExamples,
		invitesExamples,
		organizationsExamples,
		removalExamples,
		reviewsExamples,
		samlExamples,
		sitesExamples,
		specExamples,
		translationsExamples,
	} {
		add()
	}
}
