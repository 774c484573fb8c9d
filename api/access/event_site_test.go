package access

import (
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestUnknownKindsHaveNoEventSite: a token kind without a case of its own finds no site, even if the scope check is bypassed.
func TestUnknownKindsHaveNoEventSite(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "ours")
	_, err := loadEventSite(t.Context(), st, eventSiteKey{
		kind: "integration", organization: tenant.Organization.ID, site: tenant.Site.ID,
	})
	if !schema.IsCode(err, schema.CodeNotFound) {
		t.Errorf("a site for an unknown kind: %v", err)
	}
}
