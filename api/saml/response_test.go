package saml_test

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/beevik/etree"
	crewjam "github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"

	"github.com/octavo-docs/octavo/api/saml"
	"github.com/octavo-docs/octavo/api/saml/samltest"
)

var service = saml.Service{
	EntityID: "https://docs.example.com/v1/orgs/o/saml/p/metadata", ACSURL: "https://docs.example.com/v1/orgs/o/saml/p/acs",
}

const request = "id-0123456789"

var anna = samltest.Person{NameID: "anna-1", Format: crewjam.PersistentNameIDFormat, Email: "anna@example.com", Name: "Anna"}

func provider(i *samltest.IdP) saml.Provider {
	return saml.Provider{EntityID: i.EntityID, Certificates: []*x509.Certificate{i.Certificate}, SSOURL: "https://idp.example.com/sso?x=1"}
}

func read(encoded string) (saml.Login, error) {
	return saml.Read(service, provider(samltest.Ours()), encoded, []string{"id-other", request}, time.Now())
}

// alsoFor returns a response with a signed assertion whose restriction lists two audiences: this service and
// `audience`.
func alsoFor(audience string) *etree.Element {
	idp := samltest.Ours()
	a := idp.Assertion(service, request, anna).Element()
	restriction := a.FindElement("./Conditions/AudienceRestriction")
	restriction.AddChild(restriction.SelectElement("Audience").Copy())
	restriction.ChildElements()[1].SetText(audience)
	return idp.Response(service, request, idp.Sign(a, dsig.RSASHA256SignatureMethod))
}

// build returns a response with an assertion. It calls `spoilAssertion` before the assertion is signed, if
// `spoilAssertion` is not nil.
func build(spoilAssertion func(a *crewjam.Assertion), signAssertion, signResponse bool) *etree.Element {
	idp := samltest.Ours()
	a := idp.Assertion(service, request, anna)
	if spoilAssertion != nil {
		spoilAssertion(a)
	}
	el := a.Element()
	if signAssertion {
		el = idp.Sign(el, dsig.RSASHA256SignatureMethod)
	}
	r := idp.Response(service, request, el)
	if signResponse {
		r = idp.Sign(r, dsig.RSASHA256SignatureMethod)
	}
	return r
}

func TestGoodResponses(t *testing.T) {
	t.Parallel()
	idp := samltest.Ours()
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	for name, encoded := range map[string]string{
		"assertion signed": samltest.Encode(build(nil, true, false)),
		"response signed":  samltest.Encode(build(nil, false, true)),
		"both signed":      samltest.Encode(build(nil, true, true)),
		"with white space": strings.Join(strings.SplitAfter(idp.Good(service, request, anna), "A"), "\r\n"),
		"two audiences":    samltest.Encode(alsoFor("https://other")),
		"SHA-512":          samltest.Encode(idp.Response(service, request, idp.Sign(idp.Assertion(service, request, anna).Element(), dsig.RSASHA512SignatureMethod))),
		"no key is named": func() string {
			r := build(nil, true, false)
			signature := r.FindElement("./Assertion/Signature")
			signature.RemoveChild(signature.SelectElement("KeyInfo"))
			return samltest.Encode(r)
		}(),
		"a session's end": samltest.Encode(build(func(a *crewjam.Assertion) { a.AuthnStatements[0].SessionNotOnOrAfter = &end }, true, false)),
	} {
		login, err := read(encoded)
		if err != nil || login.NameID != "anna-1" || login.Email != "anna@example.com" || login.Name != "Anna" || login.RequestID != request {
			t.Errorf("%s: %+v %v", name, login, err)
		}
		if name == "a session's end" && !login.SessionEnds.Equal(end) {
			t.Errorf("ends %s, want %s", login.SessionEnds, end)
		}
	}
	who := samltest.Person{NameID: "anna@example.com", Format: crewjam.EmailAddressNameIDFormat}
	if login, err := read(idp.Good(service, request, who)); err != nil || login.Email != "anna@example.com" {
		t.Errorf("the address is the NameID: %+v %v", login, err)
	}
}

// evil returns an unsigned assertion about another person than anna.
func evil() *etree.Element {
	a := samltest.Ours().Assertion(service, request, samltest.Person{NameID: "victim", Format: crewjam.PersistentNameIDFormat, Email: "victim@example.com"})
	a.ID = "id-evil"
	return a.Element()
}

// wraps has responses that must be refused. XSW1 to XSW8 are the eight wrapping attacks in the paper "On Breaking SAML"
// (Somorovsky and others, 2012). The other responses are similar attacks, or have other faults.
var wraps = map[string]func() *etree.Element{
	"XSW1: the signed response inside the signature of a copy": func() *etree.Element {
		signed := build(nil, false, true)
		forged := signed.Copy()
		forged.CreateAttr("ID", "id-forged")
		forged.FindElement("./Assertion/Subject/NameID").SetText("victim")
		original := signed.Copy()
		original.RemoveChild(original.SelectElement("Signature"))
		forged.SelectElement("Signature").AddChild(original)
		return forged
	},
	"XSW2: the signed response before the signature of a copy": func() *etree.Element {
		signed := build(nil, false, true)
		forged := signed.Copy()
		forged.CreateAttr("ID", "id-forged")
		forged.FindElement("./Assertion/Subject/NameID").SetText("victim")
		original := signed.Copy()
		original.RemoveChild(original.SelectElement("Signature"))
		forged.InsertChildAt(0, original)
		return forged
	},
	"XSW3: the forged assertion before the signed one": func() *etree.Element {
		r := build(nil, true, false)
		r.InsertChildAt(r.SelectElement("Assertion").Index(), evil())
		return r
	},
	"XSW4: the signed assertion inside the forged one": func() *etree.Element {
		r := build(nil, true, false)
		signed := r.SelectElement("Assertion")
		r.RemoveChild(signed)
		forged := evil()
		forged.AddChild(signed)
		r.AddChild(forged)
		return r
	},
	"XSW5: the signature in the forged assertion, the signed one after it": func() *etree.Element {
		r := build(nil, true, false)
		signed := r.SelectElement("Assertion")
		forged := signed.Copy()
		forged.CreateAttr("ID", "id-forged")
		forged.FindElement("./Subject/NameID").SetText("victim")
		signed.RemoveChild(signed.SelectElement("Signature"))
		r.RemoveChild(signed)
		r.AddChild(forged)
		r.AddChild(signed)
		return r
	},
	"XSW6: the signed assertion in the signature of the forged one": func() *etree.Element {
		r := build(nil, true, false)
		signed := r.SelectElement("Assertion")
		forged := signed.Copy()
		forged.CreateAttr("ID", "id-forged")
		forged.FindElement("./Subject/NameID").SetText("victim")
		r.RemoveChild(signed)
		signed.RemoveChild(signed.SelectElement("Signature"))
		forged.SelectElement("Signature").AddChild(signed)
		r.AddChild(forged)
		return r
	},
	"XSW7: the forged assertion in extensions": func() *etree.Element {
		r := build(nil, true, false)
		extensions := etree.NewElement("samlp:Extensions")
		extensions.AddChild(evil())
		r.InsertChildAt(r.SelectElement("Assertion").Index(), extensions)
		return r
	},
	"XSW8: the signed assertion in an object of the signature": func() *etree.Element {
		r := build(nil, true, false)
		signed := r.SelectElement("Assertion")
		forged := signed.Copy()
		forged.CreateAttr("ID", "id-forged")
		forged.FindElement("./Subject/NameID").SetText("victim")
		r.RemoveChild(signed)
		signed.RemoveChild(signed.SelectElement("Signature"))
		object := etree.NewElement("ds:Object")
		object.AddChild(signed)
		forged.SelectElement("Signature").AddChild(object)
		r.AddChild(forged)
		return r
	},
	"two signed assertions": func() *etree.Element {
		r := build(nil, true, false)
		second := r.SelectElement("Assertion").Copy()
		r.AddChild(second)
		return r
	},
	"the same id twice": func() *etree.Element {
		r := build(nil, true, false)
		r.CreateAttr("ID", r.SelectElement("Assertion").SelectAttrValue("ID", ""))
		return r
	},
	"a foreign reference": func() *etree.Element { // CVE-2026-33487: of several references, only the last was checked.
		r := build(nil, true, false)
		info := r.FindElement("./Assertion/Signature/SignedInfo")
		second := info.SelectElement("Reference").Copy()
		second.CreateAttr("URI", "#id-evil")
		info.AddChild(second)
		return r
	},
	"two SignedInfo": func() *etree.Element {
		r := build(nil, true, false)
		signature := r.FindElement("./Assertion/Signature")
		signature.InsertChildAt(0, signature.SelectElement("SignedInfo").Copy())
		return r
	},
	"an empty reference": func() *etree.Element {
		r := build(nil, true, false)
		r.FindElement("./Assertion/Signature/SignedInfo/Reference").CreateAttr("URI", "")
		return r
	},
	"changed after it was signed": func() *etree.Element {
		r := build(nil, true, false)
		r.FindElement("./Assertion/Subject/NameID").SetText("victim")
		return r
	},
	"a changed assertion in a signed response": func() *etree.Element {
		r := build(nil, true, true)
		r.FindElement("./Assertion/Subject/NameID").SetText("victim")
		return r
	},
	"a signature removed, one kept wrong": func() *etree.Element {
		r := build(nil, true, true)
		a := r.SelectElement("Assertion")
		a.RemoveChild(a.SelectElement("Signature"))
		return r
	},
	"no signature": func() *etree.Element { return build(nil, false, false) },
	"the signature of another assertion": func() *etree.Element {
		r, other := build(nil, false, false), build(nil, true, false)
		r.SelectElement("Assertion").InsertChildAt(1, other.FindElement("./Assertion/Signature").Copy())
		return r
	},
	"signed by another": func() *etree.Element {
		idp, other := samltest.Ours(), samltest.Other()
		return idp.Response(service, request, other.Sign(idp.Assertion(service, request, anna).Element(), dsig.RSASHA256SignatureMethod))
	},
	"SHA-1": func() *etree.Element {
		idp := samltest.Ours()
		return idp.Response(service, request, idp.Sign(idp.Assertion(service, request, anna).Element(), dsig.RSASHA1SignatureMethod))
	},
	"encrypted": func() *etree.Element {
		r := samltest.Ours().Response(service, request, nil)
		r.AddChild(etree.NewElement("saml:EncryptedAssertion"))
		return r
	},
	"no response": func() *etree.Element { return build(nil, true, false).SelectElement("Assertion").Copy() },
	"refused by the provider": func() *etree.Element {
		r := samltest.Ours().Response(service, request, nil)
		r.FindElement("./Status/StatusCode").CreateAttr("Value", "urn:oasis:names:tc:SAML:2.0:status:AuthnFailed")
		return r
	},
	"refused, and yet an assertion": func() *etree.Element {
		r := build(nil, true, false)
		r.FindElement("./Status/StatusCode").CreateAttr("Value", "urn:oasis:names:tc:SAML:2.0:status:AuthnFailed")
		return r
	},
	"another destination": func() *etree.Element {
		r := build(nil, true, false)
		r.CreateAttr("Destination", "https://docs.example.com/v1/orgs/o/saml/q/acs")
		return r
	},
	"another issuer around it": func() *etree.Element {
		r := build(nil, true, false)
		r.SelectElement("Issuer").SetText("https://other.example.com")
		return r
	},
}

func TestWrappingAttacks(t *testing.T) {
	t.Parallel()
	for name, wrap := range wraps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if login, err := read(samltest.Encode(wrap())); err == nil {
				t.Errorf("taken: %+v", login)
			} else {
				t.Log(err)
			}
		})
	}
}

// TestSignedButWrong checks that a signed assertion is refused if it is for another service, another time or another
// browser.
func TestSignedButWrong(t *testing.T) {
	t.Parallel()
	data := func(a *crewjam.Assertion) *crewjam.SubjectConfirmationData {
		return a.Subject.SubjectConfirmations[0].SubjectConfirmationData
	}
	past, future := time.Now().Add(-2*saml.Skew), time.Now().Add(2*saml.Skew)
	for name, test := range map[string]struct {
		spoil func(a *crewjam.Assertion)
		say   string
	}{
		"audience":    {func(a *crewjam.Assertion) { a.Conditions.AudienceRestrictions[0].Audience.Value = "https://other" }, "another audience"},
		"no audience": {func(a *crewjam.Assertion) { a.Conditions.AudienceRestrictions = nil }, "no audience"},
		"one of two audiences": {func(a *crewjam.Assertion) {
			a.Conditions.AudienceRestrictions = append(a.Conditions.AudienceRestrictions, crewjam.AudienceRestriction{Audience: crewjam.Audience{Value: "x"}})
		}, "another audience"},
		"no conditions":        {func(a *crewjam.Assertion) { a.Conditions = nil }, "no conditions"},
		"expired":              {func(a *crewjam.Assertion) { a.Conditions.NotOnOrAfter = past }, "expired"},
		"not yet":              {func(a *crewjam.Assertion) { a.Conditions.NotBefore = future }, "not good yet"},
		"confirmation expired": {func(a *crewjam.Assertion) { data(a).NotOnOrAfter = past }, "expired"},
		"recipient":            {func(a *crewjam.Assertion) { data(a).Recipient = service.ACSURL + "/" }, "another recipient"},
		"another request":      {func(a *crewjam.Assertion) { data(a).InResponseTo = "id-stranger" }, "not started by this browser"},
		"no request":           {func(a *crewjam.Assertion) { data(a).InResponseTo = "" }, "did not start here"},
		"holder of key": {func(a *crewjam.Assertion) {
			a.Subject.SubjectConfirmations[0].Method = "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"
		}, "no bearer"},
		"no confirmation": {func(a *crewjam.Assertion) { a.Subject.SubjectConfirmations = nil }, "no bearer"},
		"issuer":          {func(a *crewjam.Assertion) { a.Issuer.Value = "https://other" }, "another identity provider"},
		"transient":       {func(a *crewjam.Assertion) { a.Subject.NameID.Format = string(crewjam.TransientNameIDFormat) }, "transient"},
		"nobody":          {func(a *crewjam.Assertion) { a.Subject.NameID.Value = "" }, "names nobody"},
		"no login":        {func(a *crewjam.Assertion) { a.AuthnStatements = nil }, "anybody logged in"},
		"session over":    {func(a *crewjam.Assertion) { a.AuthnStatements[0].SessionNotOnOrAfter = &past }, "is over"},
		"two addresses": {func(a *crewjam.Assertion) {
			s := &a.AttributeStatements[0]
			s.Attributes = append(s.Attributes, crewjam.Attribute{Name: "mail", Values: []crewjam.AttributeValue{{Value: "victim@example.com"}}})
		}, "several e-mail addresses"},
	} {
		_, err := read(samltest.Encode(build(test.spoil, true, false)))
		if err == nil || !strings.Contains(err.Error(), test.say) {
			t.Errorf("%s: %v, want %q", name, err, test.say)
		}
	}
	old := *samltest.Ours().Certificate
	old.NotAfter = time.Now().Add(-time.Hour)
	p := provider(samltest.Ours())
	p.Certificates = []*x509.Certificate{&old}
	if _, err := saml.Read(service, p, samltest.Encode(build(nil, true, false)), []string{request}, time.Now()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("expired certificate: %v", err)
	}
}

// TestHostileXML checks that responses are refused if two parsers could read them differently, or if parsing a small
// response would need much time or memory.
func TestHostileXML(t *testing.T) {
	t.Parallel()
	good, err := base64.StdEncoding.DecodeString(samltest.Encode(build(nil, true, false)))
	if err != nil {
		t.Fatal(err)
	}
	text := string(good)
	for name, spoiled := range map[string]string{
		"a comment in the NameID":           strings.Replace(text, "anna-1", "anna-1<!-- -->.evil", 1),
		"a comment anywhere":                text + "<!-- x -->",
		"a document type":                   `<!DOCTYPE x [<!ENTITY e "anna">]>` + strings.Replace(text, "anna-1", "&e;", 1),
		"an entity":                         strings.Replace(text, "anna-1", "&unknown;", 1),
		"a billion laughs":                  `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>` + text,
		"a processing instruction":          strings.Replace(text, "anna-1", "anna<?x y?>-1", 1),
		"a directive that does not survive": strings.Replace(text, "<saml:Subject>", `<saml:Subject><! <<!-- -->!-- x>`, 1),
		"a colon that moves":                strings.Replace(text, "<saml:Subject>", `<saml:Subject xmlns:="x"><a::b/>`, 1),
		"another encoding":                  `<?xml version="1.0" encoding="UTF-7"?>` + text,
		"deep":                              strings.Repeat("<a>", 10_000) + strings.Repeat("</a>", 10_000),
		"wide":                              "<a>" + strings.Repeat("<b/>", 10_000) + "</a>",
		"many attributes":                   "<a " + strings.Repeat(`b="" `, 10_000) + "/>",
		"not XML":                           "hello",
		"half":                              text[:len(text)/2],
		"empty":                             "",
		"two roots":                         text + text,
	} {
		if login, err := read(base64.StdEncoding.EncodeToString([]byte(spoiled))); err == nil {
			t.Errorf("%s: taken: %+v", name, login)
		}
	}
	for name, encoded := range map[string]string{"not base64": "<xml>", "huge": strings.Repeat("AAAA", saml.MaxResponse)} {
		if login, err := read(encoded); err == nil {
			t.Errorf("%s: taken: %+v", name, login)
		}
	}
}

// TestManyNamespaces checks the limits of namespaces and attributes. At every element, the check of a signature copies
// every prefix in scope. A provider may declare one prefix at many elements, as Okta does at each value.
func TestManyNamespaces(t *testing.T) {
	t.Parallel()
	idp := samltest.Ours()
	with := func(add func(root *etree.Element)) string {
		assertion := idp.Assertion(service, request, anna).Element()
		groups := assertion.SelectElement("AttributeStatement").CreateElement("saml:Attribute")
		groups.CreateAttr("Name", "groups")
		for range 200 {
			value := groups.CreateElement("saml:AttributeValue")
			value.CreateAttr("xmlns:xs", "http://www.w3.org/2001/XMLSchema")
			value.SetText("group")
		}
		r := idp.Response(service, request, idp.Sign(assertion, dsig.RSASHA256SignatureMethod))
		add(r)
		return samltest.Encode(r)
	}
	declare := func(el *etree.Element, from, to int) {
		for i := from; i < to; i++ {
			el.CreateAttr(fmt.Sprint("xmlns:n", i), "urn:n")
		}
	}
	usual := with(func(root *etree.Element) { declare(root, 0, 30) })
	if login, err := read(usual); err != nil || login.NameID != "anna-1" {
		t.Errorf("a usual response: %+v %v", login, err)
	}
	for name, add := range map[string]func(root *etree.Element){
		"prefixes of one element": func(root *etree.Element) { declare(root, 0, 65) },
		"prefixes of several elements": func(root *etree.Element) {
			declare(root, 0, 33)
			declare(root.SelectElement("Status"), 33, 65)
		},
		"attributes of one element": func(root *etree.Element) {
			for i := range 65 {
				root.CreateAttr(fmt.Sprint("a", i), "")
			}
		},
	} {
		if login, err := read(with(add)); err == nil || !strings.Contains(err.Error(), "too many") {
			t.Errorf("%s: %+v %v", name, login, err)
		}
	}
}

// TestNothingExpected checks that a response is not parsed if the browser has no unfinished login.
func TestNothingExpected(t *testing.T) {
	t.Parallel()
	for _, encoded := range []string{"junk", samltest.Ours().Good(service, request, anna)} {
		_, err := saml.Read(service, provider(samltest.Ours()), encoded, nil, time.Now())
		if err == nil || !strings.Contains(err.Error(), "not started by this browser") {
			t.Errorf("%.10s: %v", encoded, err)
		}
	}
}

// FuzzRead reads arbitrary responses. Read never panics. If it returns a login, this is the login of the person in a
// signed assertion.
func FuzzRead(f *testing.F) {
	for _, wrap := range wraps {
		text, err := base64.StdEncoding.DecodeString(samltest.Encode(wrap()))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	text, err := base64.StdEncoding.DecodeString(samltest.Ours().Good(service, request, anna))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		if login, err := read(base64.StdEncoding.EncodeToString(text)); err == nil && login.NameID != "anna-1" {
			t.Errorf("%+v", login)
		}
	})
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	ours, other := samltest.Ours(), samltest.Other()
	bare := base64.StdEncoding.EncodeToString(ours.Certificate.Raw)
	for _, text := range []string{ours.PEM(), bare, bare[:64] + "\n" + bare[64:], "Bag Attributes\n" + ours.PEM() + "\n"} {
		if got, err := saml.ParseCertificates(text); err != nil || len(got) != 1 || !got[0].Equal(ours.Certificate) {
			t.Errorf("%v", err)
		}
	}
	if got, err := saml.ParseCertificates(ours.PEM() + "\n" + other.PEM()); err != nil || len(got) != 2 || !got[0].Equal(ours.Certificate) || !got[1].Equal(other.Certificate) {
		t.Errorf("%v", err)
	}
	private := strings.ReplaceAll(other.PEM(), "CERTIFICATE", "PRIVATE KEY")
	for _, text := range []string{
		"", "junk", "AAAA", private, ours.PEM() + private, private + ours.PEM(), private[:200] + "\n" + ours.PEM(), ours.PEM() + "junk", ours.PEM() + other.PEM() + "junk", ours.PEM() + bare,
		ours.PEM() + other.PEM()[:200], strings.Repeat(ours.PEM(), 5),
	} {
		if _, err := saml.ParseCertificates(text); err == nil {
			t.Errorf("taken: %.40q", text)
		}
	}
}

// TestKeyChange checks responses while an identity provider changes its key. Responses that are signed by the old key
// or the new key are accepted. Responses that are signed by a third key or by an expired key are refused.
func TestKeyChange(t *testing.T) {
	t.Parallel()
	ours, other := samltest.Ours(), samltest.Other()
	p := provider(ours)
	p.Certificates = append(p.Certificates, other.Certificate)
	for name, idp := range map[string]*samltest.IdP{"the first": ours, "the second": other} {
		if _, err := saml.Read(service, p, idp.Good(service, request, anna), []string{request}, time.Now()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	third := samltest.New(ours.EntityID)
	if _, err := saml.Read(service, p, third.Good(service, request, anna), []string{request}, time.Now()); err == nil || !strings.Contains(err.Error(), "signature is wrong") {
		t.Errorf("a third: %v", err)
	}
	old := *ours.Certificate
	old.NotAfter = time.Now().Add(-time.Minute)
	p.Certificates[0] = &old
	if _, err := saml.Read(service, p, ours.Good(service, request, anna), []string{request}, time.Now()); err == nil {
		t.Error("the first after its time: taken")
	}
	if _, err := saml.Read(service, p, other.Good(service, request, anna), []string{request}, time.Now()); err != nil {
		t.Errorf("the second after the first's time: %v", err)
	}
}
