package apitest

import (
	"net/http"
	"net/url"
	"strings"

	crewjam "github.com/crewjam/saml"

	"github.com/octavo-docs/octavo/api/saml"
	"github.com/octavo-docs/octavo/api/saml/samltest"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/storetest"
)

// SAML is a SAML provider of an organization, with a fake identity provider. Tests log in through it.
type SAML struct {
	H        *Harness
	Provider orgs.SAMLProvider
	IdP      *samltest.IdP
	Service  saml.Service
	// Path is the provider's path below the host.
	Path string
}

// NewSAML creates a SAML provider that trusts the test's identity provider.
func NewSAML(h *Harness, tenant *storetest.Tenant, change func(*orgs.NewSAMLProvider)) *SAML {
	h.T.Helper()
	idp := samltest.Ours()
	certificate, address := idp.PEM(), "https://idp.example.com/sso"
	settings := orgs.NewSAMLProvider{
		OrganizationID: tenant.Organization.ID, Label: "Okta", EntityID: &idp.EntityID, Certificate: &certificate, CertificateUsable: true, SSOURL: &address,
	}
	if change != nil {
		change(&settings)
	}
	row, err := h.Store.Orgs.CreateSAMLProvider(h.T.Context(), settings)
	if err != nil {
		h.T.Fatal(err)
	}
	urls, err := schema.NewURLs("https://docs.example.com/base")
	if err != nil {
		h.T.Fatal(err)
	}
	service := view.Presenter{URLs: urls}.SAMLService(row.OrganizationID, row.ID)
	return &SAML{
		H: h, Provider: row, IdP: idp, Service: saml.Service{EntityID: service.EntityID, ACSURL: service.ACSURL},
		Path: "/v1/orgs/" + row.OrganizationID + "/saml/" + row.ID,
	}
}

// Start begins a login as a browser does. It returns the id of the login request and the cookie that the server sets.
func (s *SAML) Start(query, cookie string) (requestID, newCookie string) {
	s.H.T.Helper()
	a := s.H.Do(http.MethodGet, s.Path+"/start"+query, "", nil, "Cookie", cookie)
	if a.Status != http.StatusFound {
		s.H.T.Fatalf("%d %s", a.Status, a.Body)
	}
	newCookie, _, _ = strings.Cut(a.Header.Get("Set-Cookie"), ";")
	return RequestOf(s.H, a.Header.Get("Location")).ID, newCookie
}

// RequestOf reads the login request from the address that the server redirects the browser to.
func RequestOf(h *Harness, address string) crewjam.AuthnRequest {
	h.T.Helper()
	target, err := url.Parse(address)
	if err != nil {
		h.T.Fatal(err)
	}
	request, err := samltest.RequestOf(target)
	if err != nil {
		h.T.Fatal(err)
	}
	return request
}

// Post posts the identity provider's response as a browser does.
func (s *SAML) Post(response, cookie string, header ...string) Answer {
	s.H.T.Helper()
	return s.H.Do(http.MethodPost, s.Path+"/acs", "", Form{Body: url.Values{"SAMLResponse": {response}}.Encode(), Cookie: cookie}, header...)
}

// LogIn performs all steps of a login and returns the last response.
func (s *SAML) LogIn(who samltest.Person) Answer {
	s.H.T.Helper()
	request, cookie := s.Start("", "")
	return s.Post(s.IdP.Good(s.Service, request, who), cookie)
}

// Known links a NameID to a user, as the person's first login does.
func (s *SAML) Known(nameID, userID string) {
	s.H.T.Helper()
	s.H.Exec("insert into saml_identities (provider_id, name_id, organization_id, user_id) values ($1, $2, $3, $4)",
		s.Provider.ID, nameID, s.Provider.OrganizationID, userID)
}

func samlLoginExamples() {
	provider := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		return map[string]string{"samlProviderId": NewSAML(h, tenant, nil).Provider.ID}
	}
	Examples["getSAMLServiceMetadata"] = example{Make: provider}
	Examples["startSAMLLogin"] = example{Make: provider}
	Examples["finishSAMLLogin"] = example{body: "SAMLResponse={response}", cookie: "{cookie}", Make: func(h *Harness, tenant *storetest.Tenant) map[string]string {
		s := NewSAML(h, tenant, nil)
		s.Known("anna", tenant.Users[schema.RoleAdmin].ID)
		request, cookie := s.Start("", "")
		response := s.IdP.Good(s.Service, request, samltest.Person{NameID: "anna"})
		return map[string]string{"samlProviderId": s.Provider.ID, "response": url.QueryEscape(response), "cookie": cookie}
	}}
	Examples["openSession"] = example{body: `{"code":"{code}"}`, Make: func(h *Harness, tenant *storetest.Tenant) map[string]string {
		s := NewSAML(h, tenant, nil)
		s.Known("anna", tenant.Users[schema.RoleAdmin].ID)
		request, cookie := s.Start("?returnTo="+url.QueryEscape("https://docs.example.com/app"), "")
		a := s.Post(s.IdP.Good(s.Service, request, samltest.Person{NameID: "anna"}), cookie)
		_, code, _ := strings.Cut(a.Header.Get("Location"), "?code=")
		return map[string]string{"code": code}
	}}
	Examples["endOwnSession"] = example{Make: func(*Harness, *storetest.Tenant) map[string]string {
		return map[string]string{"sessionId": schema.NewID()}
	}}
	for _, id := range []string{"listSessionsOfMember", "endSessionsOfMember"} {
		Examples[id] = example{Make: func(_ *Harness, tenant *storetest.Tenant) map[string]string {
			return map[string]string{"userId": tenant.Users[schema.RoleRead].ID}
		}}
	}
}
