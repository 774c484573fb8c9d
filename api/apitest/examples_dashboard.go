package apitest

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

func dashboardExamples() {
	Examples["openBrowserSessionByLink"] = example{
		body: `{"link":"{link}"}`,
		Make: func(h *Harness, tenant *storetest.Tenant) map[string]string {
			return map[string]string{"link": h.BrowserLink(tenant.Tokens[schema.RoleAdmin])}
		},
	}
}

// BrowserLink makes the secret of a link that signs a browser in as a token.
func (h *Harness) BrowserLink(token string) string {
	link, err := h.Store.CreateBrowserLink(h.T.Context(), token)
	return Created(h.T, link, err)
}
