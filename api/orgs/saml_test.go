package orgs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
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

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
)

// testCertificate returns a new certificate, as PEM and as DER in base64.
func testCertificate(t testing.TB) (asPEM, asBase64 string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idp"}, NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), base64.StdEncoding.EncodeToString(der)
}

func sha256Of(t testing.TB, asPEM string) string {
	t.Helper()
	block, _ := pem.Decode([]byte(asPEM))
	if block == nil {
		t.Fatalf("no PEM: %s", asPEM)
	}
	return fmt.Sprintf("%x", sha256.Sum256(block.Bytes))
}

var samlShape = shape.Of{
	"object": shape.One("saml-provider"), "id": shape.ID, "label": shape.Text(1, 30), "ssoURL": shape.Text(8, 2048), "entityID": shape.Text(0, 1024),
	"certificate": shape.Text(0, 10000), "defaultRole": shape.One(append(shape.Role, nil)...), "createdAt": shape.Timestamp, "status": shape.One("active", "pending"),
	"certificates": shape.List(shape.Object(shape.Of{"sha256": shape.Text(64, 64), "notBefore": shape.AnyTime, "notAfter": shape.AnyTime})),
	"service":      shape.Object(shape.Of{"acsURL": shape.URI, "startURL": shape.URI, "entityID": shape.URI}), "urls": shape.Object(shape.Of{"location": shape.URI}),
	"defaultTeam?": shape.Object(shape.Of{
		"object": shape.One("team"), "id": shape.ID, "title": shape.Text(1, 64), "members": shape.Count, "spaces": shape.Count, "createdAt": shape.Timestamp,
		"permissions": shape.Booleans("admin view"),
	}),
}

func TestSAMLProvider(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	asPEM, asBase64 := testCertificate(t)
	a := h.Do("POST", s.Org+"/saml", s.Token, `{"label":"Okta"}`)
	made := shape.Want(t, samlShape, a.Body)
	one := "/saml/" + made["id"].(string)
	location := "https://docs.example.com/base" + s.Org + one
	if a.Status != 201 || a.Header.Get("Location") != location || made["status"] != "pending" || made["ssoURL"] != "about:blank" || made["defaultRole"] != nil {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	logins := func() []people.SSOLogin {
		t.Helper()
		guest := apitest.Support{H: h, Org: s.Org, Token: h.Ours.Tokens[schema.RoleGuest]}
		return apitest.Get[people.SSOLogins](guest, shape.Of{
			"items": shape.List(shape.Object(shape.Of{"id": shape.ID, "label": shape.Text(1, 30), "startURL": shape.URI})),
		}, "/sso").Items
	}
	patch := func(body string) people.SAMLProvider {
		t.Helper()
		a := h.Do("PATCH", s.Org+one, s.Token, body)
		if a.Status != 200 {
			t.Fatalf("%s: %d %s", body, a.Status, a.Body)
		}
		shape.Want(t, samlShape, a.Body)
		return apitest.Get[people.SAMLProvider](s, samlShape, one)
	}
	otherPEM, _ := testCertificate(t)
	quoted, quotedOther := strings.ReplaceAll(asPEM, "\n", `\n`), strings.ReplaceAll(otherPEM, "\n", `\n`)
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
		{`{"certificate":"` + asBase64 + `"}`, true},
		{`{"ssoURL":null}`, false},
		{`{"ssoURL":"https://idp.example.com/sso"}`, true},
		{`{"ssoURL":"about:blank"}`, false},
		{`{"ssoURL":"https://idp.example.com/sso","entityID":null}`, false},
		{`{"entityID":"urn:other","defaultRole":null}`, true},
	} {
		got := patch(step.body)
		active := got.Status == people.SAMLActive
		if active != step.active || (len(logins()) == 1) != step.active || got.Label != "Acme login" {
			t.Errorf("%s: %+v", step.body, got)
		}
	}
	if got := patch(`{"certificate":"` + quoted + quotedOther + `"}`); got.Certificate != asPEM+otherPEM || len(got.Certificates) != 2 || got.Certificates[1].SHA256 != sha256Of(t, otherPEM) {
		t.Errorf("%+v", got)
	}
	got := patch(`{"certificate":"` + asBase64 + `"}`)
	want := people.SAMLProvider{
		Object: "saml-provider", ID: got.ID, Label: "Acme login", SSOURL: "https://idp.example.com/sso", EntityID: "urn:other",
		Certificate: asBase64, Certificates: got.Certificates, Status: "active", CreatedAt: got.CreatedAt, Service: got.Service, URLs: got.URLs,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if l := logins(); l[0].Label != "Acme login" || l[0].StartURL != got.Service.StartURL {
		t.Errorf("%+v", l)
	}
	l := apitest.Get[schema.List[people.SAMLProvider]](s, shape.ListOf(samlShape), "/saml")
	if l.Count != 1 || !cmp.Equal(l.Items[0], got) {
		t.Errorf("%+v", l)
	}
	for range 2 {
		if a := h.Do("DELETE", s.Org+one, s.Token, nil); a.Status != 204 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	h.WantError(h.Do("GET", s.Org+one, s.Token, nil), 404)
	h.WantError(h.Do("PATCH", s.Org+one, s.Token, `{}`), 404)
}

// TestSAMLDefaultTeam sets, reads and removes a provider's default team. If the team is deleted, the provider has no
// default team.
func TestSAMLDefaultTeam(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	team, err := h.Store.Orgs.CreateTeam(t.Context(), h.Ours.Organization.ID, "Staff", []string{
		h.Ours.Users[schema.RoleRead].ID,
	})
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := h.Store.Orgs.CreateTeam(t.Context(), h.Theirs.Organization.ID, "Theirs", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := h.Do("POST", s.Org+"/saml", s.Token, `{"label":"Okta","defaultTeam":"`+team.ID+`"}`)
	made := shape.Want(t, samlShape, a.Body)
	shown, _ := made["defaultTeam"].(map[string]any)
	if a.Status != 201 || shown["id"] != team.ID || shown["title"] != "Staff" || shown["members"] != 1.0 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	one := s.Org + "/saml/" + made["id"].(string)
	listed := shape.Want(t, shape.ListOf(samlShape), h.Do("GET", s.Org+"/saml", s.Token, nil).Body)
	if diff := cmp.Diff([]any{made}, listed["items"]); diff != "" {
		t.Error(diff)
	}
	for _, unknown := range []string{foreign.ID, "nothing", ""} {
		for method, path := range map[string]string{"POST": s.Org + "/saml", "PATCH": one} {
			e := h.WantError(h.Do(method, path, s.Token, `{"label":"x","defaultTeam":"`+unknown+`"}`), 400)
			if e.Details[0].Field != "defaultTeam" {
				t.Errorf("%+v", e)
			}
		}
	}
	if got := shape.Want(t, samlShape, h.Do("PATCH", one, s.Token, `{"label":"Entra"}`).Body); got["defaultTeam"] == nil {
		t.Errorf("%v", got)
	}
	if got := shape.Want(t, samlShape, h.Do("PATCH", one, s.Token, `{"defaultTeam":null}`).Body); got["defaultTeam"] != nil {
		t.Errorf("%v", got)
	}
	got := shape.Want(t, samlShape, h.Do("PATCH", one, s.Token, `{"defaultTeam":"`+team.ID+`"}`).Body)
	if shown, _ := got["defaultTeam"].(map[string]any); shown["id"] != team.ID {
		t.Errorf("%v", got)
	}
	h.Want(204, "DELETE", s.Org+"/teams/"+team.ID, s.Token, nil)
	if got := shape.Want(t, samlShape, h.Do("GET", one, s.Token, nil).Body); got["defaultTeam"] != nil {
		t.Errorf("%v", got)
	}
}

// TestSAMLChangesAtOnce changes different settings of a provider concurrently. No change is lost.
func TestSAMLChangesAtOnce(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	_, certificate := testCertificate(t)
	one := "/saml/" + apitest.Examples["updateOrganizationSAMLProvider"].Make(h, h.Ours)["samlProviderId"]
	// There are many rounds, because changes rarely collide in a single round.
	for i := range 20 {
		label, entity, role := fmt.Sprint("L", i), fmt.Sprint("E", i), []schema.Role{schema.RoleRead, schema.RoleEdit}[i%2]
		var wait sync.WaitGroup
		for _, body := range []string{
			`{"label":"` + label + `"}`, `{"entityID":"` + entity + `"}`, `{"certificate":"` + certificate + `"}`,
			`{"ssoURL":"https://idp.example.com"}`, `{"defaultRole":"` + string(role) + `"}`,
		} {
			wait.Go(func() {
				if a := h.Do("PATCH", s.Org+one, s.Token, body); a.Status != 200 {
					t.Errorf("%d %s", a.Status, a.Body)
				}
			})
		}
		wait.Wait()
		got := apitest.Get[people.SAMLProvider](s, samlShape, one)
		if got.Label != label || got.EntityID != entity || got.Status != "active" || got.DefaultRole != role {
			t.Errorf("%+v", got)
		}
	}
}

func TestBadSAML(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	asPEM, _ := testCertificate(t)
	quoted := strings.ReplaceAll(asPEM, "\n", `\n`)
	one := "/saml/" + apitest.Examples["updateOrganizationSAMLProvider"].Make(h, h.Ours)["samlProviderId"]
	before := h.Rows()
	for body, field := range map[string]string{
		`{"entityID":"` + strings.Repeat("x", 1025) + `"}`:                                   "entityID",
		`{"certificate":"` + strings.Repeat("x", 10001) + `"}`:                               "certificate",
		`{"certificate":"` + strings.ReplaceAll(quoted, "CERTIFICATE", "PRIVATE KEY") + `"}`: "certificate",
		`{"certificate":"hello"}`:                                                            "certificate",
		`{"certificate":"` + strings.Repeat(quoted, 5) + `"}`:                                "certificate",
		`{"certificate":"` + quoted + strings.ReplaceAll(quoted, "CERT", "X") + `"}`:         "certificate",
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
			e := h.WantError(h.Do(method, s.Org+path, s.Token, body), 400)
			if len(e.Details) == 0 || e.Details[0].Field != field {
				t.Errorf("%s: %+v", body, e)
			}
		}
	}
	h.WantError(h.Do("POST", s.Org+"/saml", s.Token, `{}`), 400)
	if after := h.Rows(); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}
