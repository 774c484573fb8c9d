package apitest

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// SavedSegment creates a saved segment of a tenant's site and returns its id.
func (h *Harness) SavedSegment(tenant *storetest.Tenant) string {
	h.T.Helper()
	row, err := h.Store.Sites.CreateSavedSegment(h.T.Context(), tenant.Site.ID, sites.NewSavedSegment{
		Name: schema.NewID(), Filters: `[{"column":"visitorGeoCountry","values":["DE"]}]`,
	})
	return Created(h.T, row.ID, err)
}

// InsightsToken creates a token that reads the insights of a tenant's site.
func (h *Harness) InsightsToken(tenant *storetest.Tenant) (token, id string) {
	h.T.Helper()
	token, row, err := h.Store.Sites.CreateInsightsToken(h.T.Context(), tenant.Site.ID, "Board", nil)
	return token, Created(h.T, row.ID, err)
}

// InsightsShareLink creates a share link that shows the last seven days of a tenant's insights.
func (h *Harness) InsightsShareLink(tenant *storetest.Tenant) (secret, id string) {
	h.T.Helper()
	secret, row, err := h.Store.Sites.CreateInsightsShareLink(h.T.Context(), tenant.Site.ID, sites.NewInsightsShareLink{
		Name: "Board", Ranges: `["last7Days"]`, Timezone: "UTC", Segments: []string{},
	})
	return secret, Created(h.T, row.ID, err)
}

// AskWith does the same as [Ask], with a token in place of a role.
func AskWith[T any](h *Harness, token, method, path string, body any, status int) T {
	h.T.Helper()
	a := h.Do(method, path, token, body)
	if a.Status != status {
		h.T.Fatalf("%s %s: %d %s, want %d", method, path, a.Status, a.Body, status)
	}
	return Decode[T](h, a)
}
