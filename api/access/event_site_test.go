package access

import (
	"testing"
	"time"
	"unsafe"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestUnknownKindsHaveNoEventSite: a token of an unknown kind finds no site, even if the scope did not refuse it.
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

// aliasing has path parameters by name. Each value is a buffer of a request, and the strings alias it.
type aliasing map[string][]byte

func (a aliasing) PathParam(name string) string { return unsafe.String(&a[name][0], len(a[name])) }

// TestCachedSitesDoNotAliasTheRequest overwrites the buffers of the request that filled the cache. The cached site is
// still found.
func TestCachedSitesDoNotAliasTheRequest(t *testing.T) {
	t.Parallel()
	st, tenant, g := guarded(t, time.Minute)
	ask := func() {
		t.Helper()
		path := aliasing{"organizationId": []byte(tenant.Organization.ID), "siteId": []byte(tenant.Site.ID)}
		c := &Caller{Now: time.Now(), Principal: &store.Principal{Kind: schema.TokenUser, UserID: tenant.Users[schema.RoleRead].ID}}
		if err := findEventSite(t.Context(), g, path, c); err != nil {
			t.Fatal(err)
		}
		for _, buffer := range path {
			for i := range buffer {
				buffer[i] = '#'
			}
		}
		if c.EventSite.OrganizationID != tenant.Organization.ID || c.EventSite.SiteID != tenant.Site.ID {
			t.Errorf("site %+v", c.EventSite)
		}
	}
	ask()
	st.Stop() // From now on, queries fail, and only the cache has the site.
	ask()
}
