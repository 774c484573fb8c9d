// Package samltest is an identity provider for tests. It signs any assertion that a test requests, right or wrong.
package samltest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"sync"
	"time"

	"github.com/beevik/etree"
	crewjam "github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"

	"github.com/octavo-docs/octavo/api/saml"
)

// IdP is an identity provider with a key.
type IdP struct {
	EntityID    string
	Key         crypto.Signer
	Certificate *x509.Certificate
}

// Ours and Other return two identity providers with the same entity id and different keys. The keys are made only once,
// because making a key takes longer than the other steps of most tests.
var (
	Ours  = sync.OnceValue(func() *IdP { return New("https://idp.example.com/metadata") })
	Other = sync.OnceValue(func() *IdP { return New("https://idp.example.com/metadata") })
)

// New makes an identity provider with a new key.
func New(entityID string) *IdP {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idp"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return &IdP{EntityID: entityID, Key: key, Certificate: certificate}
}

// PEM returns the certificate in the form that administrators copy.
func (i *IdP) PEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate.Raw}))
}

// Person is the person who logs in.
type Person struct {
	NameID string
	Format crewjam.NameIDFormat
	Email  string
	Name   string
}

// Assertion returns a valid assertion about a person, which is not signed yet.
func (i *IdP) Assertion(s saml.Service, requestID string, who Person) *crewjam.Assertion {
	now := time.Now().UTC()
	attribute := func(name, value string) crewjam.Attribute {
		return crewjam.Attribute{Name: name, Values: []crewjam.AttributeValue{{Type: "xs:string", Value: value}}}
	}
	a := &crewjam.Assertion{
		ID: saml.NewRequestID(), IssueInstant: now, Version: "2.0", Issuer: crewjam.Issuer{Value: i.EntityID},
		Subject: &crewjam.Subject{
			NameID: &crewjam.NameID{Format: string(who.Format), Value: who.NameID},
			SubjectConfirmations: []crewjam.SubjectConfirmation{{
				Method: "urn:oasis:names:tc:SAML:2.0:cm:bearer",
				SubjectConfirmationData: &crewjam.SubjectConfirmationData{
					InResponseTo: requestID, Recipient: s.ACSURL, NotOnOrAfter: now.Add(5 * time.Minute),
				},
			}},
		},
		Conditions: &crewjam.Conditions{
			NotBefore: now.Add(-time.Minute), NotOnOrAfter: now.Add(5 * time.Minute),
			AudienceRestrictions: []crewjam.AudienceRestriction{{Audience: crewjam.Audience{Value: s.EntityID}}},
		},
		AuthnStatements: []crewjam.AuthnStatement{{AuthnInstant: now}},
	}
	if who.Email != "" || who.Name != "" {
		a.AttributeStatements = []crewjam.AttributeStatement{{}}
	}
	if who.Email != "" {
		a.AttributeStatements[0].Attributes = append(a.AttributeStatements[0].Attributes, attribute("email", who.Email))
	}
	if who.Name != "" {
		a.AttributeStatements[0].Attributes = append(a.AttributeStatements[0].Attributes, attribute("displayName", who.Name))
	}
	return a
}

// Response returns a valid response with the assertion. The response is not signed yet.
func (i *IdP) Response(s saml.Service, requestID string, assertion *etree.Element) *etree.Element {
	r := &crewjam.Response{
		ID: saml.NewRequestID(), InResponseTo: requestID, Version: "2.0", IssueInstant: time.Now().UTC(), Destination: s.ACSURL,
		Issuer: &crewjam.Issuer{Value: i.EntityID}, Status: crewjam.Status{StatusCode: crewjam.StatusCode{Value: crewjam.StatusSuccess}},
	}
	el := r.Element()
	if assertion != nil {
		el.AddChild(assertion)
	}
	return el
}

// Sign returns the element with a signature after its issuer. `method` is the signature method, for example
// dsig.RSASHA256SignatureMethod.
func (i *IdP) Sign(el *etree.Element, method string) *etree.Element {
	ctx, err := dsig.NewSigningContext(i.Key, [][]byte{i.Certificate.Raw})
	if err != nil {
		panic(err)
	}
	ctx.Canonicalizer = dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")
	if err := ctx.SetSignatureMethod(method); err != nil {
		panic(err)
	}
	signed, err := ctx.SignEnveloped(el)
	if err != nil {
		panic(err)
	}
	signature := signed.Child[len(signed.Child)-1]
	signed.Child = signed.Child[:len(signed.Child)-1] // The library appends the signature without a parent.
	signed.InsertChildAt(1, signature)
	return signed
}

// Encode returns a response in the form in which a browser posts it.
func Encode(response *etree.Element) string {
	document := etree.NewDocument()
	document.SetRoot(response)
	text, err := document.WriteToBytes()
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(text)
}

// Good returns an encoded response with a signed assertion, which logs the person in.
func (i *IdP) Good(s saml.Service, requestID string, who Person) string {
	assertion := i.Sign(i.Assertion(s, requestID, who).Element(), dsig.RSASHA256SignatureMethod)
	return Encode(i.Response(s, requestID, assertion))
}
