package api

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

func samlExamples() {
	make := func(h *harness, tenant *storetest.Tenant) map[string]string {
		h.t.Helper()
		row, err := h.st.CreateSAMLProvider(h.t.Context(), store.NewSAMLProvider{OrganizationID: tenant.Organization.ID, Label: "Okta"})
		if err != nil {
			h.t.Fatal(err)
		}
		return map[string]string{"samlProviderId": row.ID}
	}
	examples["createOrganizationSAMLProvider"] = example{body: `{"label":"Okta"}`}
	examples["updateOrganizationSAMLProvider"] = example{body: `{"label":"Entra"}`, make: make}
	for _, id := range []string{"getOrganizationSAMLProviderById", "deleteOrganizationSAMLProvider"} {
		examples[id] = example{make: make}
	}
}

// testCertificate makes a certificate as PEM and as the base64 of its DER.
func testCertificate(t testing.TB) (asPEM, asBase64 string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idp"}, NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), base64.StdEncoding.EncodeToString(der)
}

var samlShape = shape{
	"object": one("saml-provider"), "id": id, "label": text(1, 30), "ssoURL": text(8, 2048), "entityID": text(0, 1024),
	"certificate": text(0, 10000), "defaultRole": one(append(role, nil)...), "createdAt": timestamp, "status": one("active", "pending"),
	"service": object(shape{"acsURL": uri, "startURL": uri, "entityID": uri}), "urls": object(shape{"location": uri}),
	"defaultTeam?": object(shape{
		"object": one("team"), "id": id, "title": text(1, 64), "members": count, "spaces": count, "createdAt": timestamp,
		"permissions": booleans("admin view"),
	}),
}

func TestSAMLProvider(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	asPEM, asBase64 := testCertificate(t)
	a := h.do("POST", s.org+"/saml", s.token, `{"label":"Okta"}`)
	made := wantShape(t, samlShape, a.body)
	one := "/saml/" + made["id"].(string)
	location := "https://docs.example.com/base" + s.org + one
	if a.status != 201 || a.header.Get("Location") != location || made["status"] != "pending" || made["ssoURL"] != location || made["defaultRole"] != nil {
		t.Fatalf("%d %s", a.status, a.body)
	}
	logins := func() []schema.SSOLogin {
		t.Helper()
		return get[schema.SSOLogins](support{h: h, org: s.org, token: h.ours.Tokens[schema.RoleGuest]}, shape{
			"items": list(object(shape{"id": id, "label": text(1, 30), "startURL": uri})),
		}, "/sso").Items
	}
	patch := func(body string) schema.SAMLProvider {
		t.Helper()
		a := h.do("PATCH", s.org+one, s.token, body)
		if a.status != 200 {
			t.Fatalf("%s: %d %s", body, a.status, a.body)
		}
		wantShape(t, samlShape, a.body)
		return get[schema.SAMLProvider](s, samlShape, one)
	}
	quoted := strings.ReplaceAll(asPEM, "\n", `\n`)
	for _, step := range []struct {
		body   string
		active bool
	}{
		{`{"label":"Acme login","defaultRole":"edit"}`, false},
		{`{"entityID":"urn:acme"}`, false},
		{`{"certificate":"` + quoted + `"}`, false},
		{`{"ssoURL":"https://idp.example.com/sso"}`, true},
		{`{}`, true},
		{`{"certificate":""}`, false},
		{`{"certificate":"hello"}`, false},
		{`{"certificate":"` + asBase64[:40] + `"}`, false},
		{`{"certificate":"` + quoted + quoted + `"}`, false},
		{`{"certificate":"` + asBase64 + `"}`, true},
		{`{"ssoURL":null}`, false},
		{`{"ssoURL":"https://idp.example.com/sso","entityID":null}`, false},
		{`{"entityID":"urn:other","defaultRole":null}`, true},
	} {
		got := patch(step.body)
		if (got.Status == schema.SAMLActive) != step.active || (len(logins()) == 1) != step.active || got.Label != "Acme login" {
			t.Errorf("%s: %+v", step.body, got)
		}
	}
	got := patch(`{}`)
	want := schema.SAMLProvider{
		Object: "saml-provider", ID: got.ID, Label: "Acme login", SSOURL: "https://idp.example.com/sso", EntityID: "urn:other",
		Certificate: asBase64, Status: "active", CreatedAt: got.CreatedAt, Service: got.Service, URLs: got.URLs,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if l := logins(); l[0].Label != "Acme login" || l[0].StartURL != got.Service.StartURL {
		t.Errorf("%+v", l)
	}
	if l := get[schema.List[schema.SAMLProvider]](s, listShape(samlShape), "/saml"); l.Count != 1 || !cmp.Equal(l.Items[0], got) {
		t.Errorf("%+v", l)
	}
	for range 2 {
		if a := h.do("DELETE", s.org+one, s.token, nil); a.status != 204 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	h.wantError(h.do("GET", s.org+one, s.token, nil), 404)
	h.wantError(h.do("PATCH", s.org+one, s.token, `{}`), 404)
}

// TestSAMLDefaultTeam sets, shows and takes back the team; a team that is deleted is no provider's any more.
func TestSAMLDefaultTeam(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	team, err := h.st.CreateTeam(t.Context(), h.ours.Organization.ID, "Staff", []string{h.ours.Users[schema.RoleRead].ID})
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := h.st.CreateTeam(t.Context(), h.theirs.Organization.ID, "Theirs", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := h.do("POST", s.org+"/saml", s.token, `{"label":"Okta","defaultTeam":"`+team.ID+`"}`)
	made := wantShape(t, samlShape, a.body)
	shown, _ := made["defaultTeam"].(map[string]any)
	if a.status != 201 || shown["id"] != team.ID || shown["title"] != "Staff" || shown["members"] != 1.0 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	one := s.org + "/saml/" + made["id"].(string)
	listed := wantShape(t, listShape(samlShape), h.do("GET", s.org+"/saml", s.token, nil).body)
	if diff := cmp.Diff([]any{made}, listed["items"]); diff != "" {
		t.Error(diff)
	}
	for _, unknown := range []string{foreign.ID, "nothing", ""} {
		for method, path := range map[string]string{"POST": s.org + "/saml", "PATCH": one} {
			e := h.wantError(h.do(method, path, s.token, `{"label":"x","defaultTeam":"`+unknown+`"}`), 400)
			if e.Details[0].Field != "defaultTeam" {
				t.Errorf("%+v", e)
			}
		}
	}
	if got := wantShape(t, samlShape, h.do("PATCH", one, s.token, `{"label":"Entra"}`).body); got["defaultTeam"] == nil {
		t.Errorf("%v", got)
	}
	if got := wantShape(t, samlShape, h.do("PATCH", one, s.token, `{"defaultTeam":null}`).body); got["defaultTeam"] != nil {
		t.Errorf("%v", got)
	}
	got := wantShape(t, samlShape, h.do("PATCH", one, s.token, `{"defaultTeam":"`+team.ID+`"}`).body)
	if shown, _ := got["defaultTeam"].(map[string]any); shown["id"] != team.ID {
		t.Errorf("%v", got)
	}
	h.exec("delete from teams where id = $1", team.ID)
	if got := wantShape(t, samlShape, h.do("GET", one, s.token, nil).body); got["defaultTeam"] != nil {
		t.Errorf("%v", got)
	}
}

// TestSAMLChangesAtOnce changes different members at the same time: no change undoes another.
func TestSAMLChangesAtOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	_, certificate := testCertificate(t)
	one := "/saml/" + examples["updateOrganizationSAMLProvider"].make(h, h.ours)["samlProviderId"]
	// Once is not enough for two of them to meet.
	for i := range 20 {
		label, entity, role := fmt.Sprint("L", i), fmt.Sprint("E", i), []schema.Role{schema.RoleRead, schema.RoleEdit}[i%2]
		var wait sync.WaitGroup
		for _, body := range []string{
			`{"label":"` + label + `"}`, `{"entityID":"` + entity + `"}`, `{"certificate":"` + certificate + `"}`,
			`{"ssoURL":"https://idp.example.com"}`, `{"defaultRole":"` + string(role) + `"}`,
		} {
			wait.Go(func() {
				if a := h.do("PATCH", s.org+one, s.token, body); a.status != 200 {
					t.Errorf("%d %s", a.status, a.body)
				}
			})
		}
		wait.Wait()
		got := get[schema.SAMLProvider](s, samlShape, one)
		if got.Label != label || got.EntityID != entity || got.Status != "active" || got.DefaultRole != role {
			t.Errorf("%+v", got)
		}
	}
}

func TestBadSAML(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := newSupport(h)
	asPEM, _ := testCertificate(t)
	quoted := strings.ReplaceAll(asPEM, "\n", `\n`)
	one := "/saml/" + examples["updateOrganizationSAMLProvider"].make(h, h.ours)["samlProviderId"]
	before := h.rows()
	for body, field := range map[string]string{
		`{"entityID":"` + strings.Repeat("x", 1025) + `"}`:                                   "entityID",
		`{"certificate":"` + strings.Repeat("x", 10001) + `"}`:                               "certificate",
		`{"certificate":"` + strings.ReplaceAll(quoted, "CERTIFICATE", "PRIVATE KEY") + `"}`: "certificate",
		`{"ssoURL":"idp.example.com"}`:                                                       "ssoURL",
		`{"ssoURL":"javascript:alert(1)"}`:                                                   "ssoURL",
		`{"ssoURL":"https://x/` + strings.Repeat("x", 2048) + `"}`:                           "ssoURL",
		`{"defaultRole":"king"}`:                                                             "defaultRole",
		`{"label":""}`:                                                                       "label",
		`{"label":"` + strings.Repeat("x", 31) + `"}`:                                        "label",
	} {
		for method, path := range map[string]string{"PATCH": one, "POST": "/saml"} {
			if method == "POST" && field != "label" {
				body = `{"label":"x",` + body[1:]
			}
			e := h.wantError(h.do(method, s.org+path, s.token, body), 400)
			if len(e.Details) == 0 || e.Details[0].Field != field {
				t.Errorf("%s: %+v", body, e)
			}
		}
	}
	h.wantError(h.do("POST", s.org+"/saml", s.token, `{}`), 400)
	if after := h.rows(); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}
