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

// BrowserLink creates a link that signs a browser in with this token's rights, and returns the link's secret.
func (h *Harness) BrowserLink(token string) string {
	link, err := h.Store.CreateBrowserLink(h.T.Context(), token)
	return Created(h.T, link, err)
}
