package main

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestSignInLink opens the link that a first start prints. Its secret is in the fragment, which browsers do not send.
// There is no link for a revoked token.
func TestSignInLink(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "ours")
	token, row, err := st.CreateToken(t.Context(), store.NewToken{User: tenant.Users[schema.RoleAdmin].ID})
	if err != nil {
		t.Fatal(err)
	}
	q := &quickstart{
		URL: "https://docs.example.com/base/", Token: token, Org: tenant.Organization.ID, Site: tenant.Site.ID,
	}
	link, err := q.signInLink(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	secret, ok := strings.CutPrefix(address.Fragment, "in=")
	query := address.Query()
	if !ok || address.Path != "/base/" || query.Get("org") != q.Org || query.Get("site") != q.Site ||
		strings.Contains(address.RawQuery, secret) {
		t.Errorf("the link is %s", link)
	}
	if _, err := st.OpenBrowserLink(t.Context(), secret); err != nil {
		t.Error(err)
	}
	if _, err := st.OpenBrowserLink(t.Context(), secret); !schema.IsCode(err, schema.CodeBadRequest) {
		t.Errorf("the second time: %v", err)
	}
	var text bytes.Buffer
	settings := &Settings{DataDir: t.TempDir(), Admin: adminOff}
	if err := q.print(&text, settings, link, true); err != nil || !strings.Contains(text.String(), link+"\n") {
		t.Errorf("%v: %s", err, text.String())
	}
	text.Reset()
	if err := q.print(&text, settings, "", false); err != nil || strings.Contains(text.String(), "Dashboard") {
		t.Errorf("%v: %s", err, text.String())
	}
	if err := st.RevokeToken(t.Context(), row.ID); err != nil {
		t.Fatal(err)
	}
	if link, err = q.signInLink(t.Context(), st); err != nil || link != "" {
		t.Errorf("%v %s", err, link)
	}
}
