package saml

import (
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/beevik/etree"
	crewjam "github.com/crewjam/saml"
)

// Skew is the largest allowed difference between the provider's clock and ours.
const Skew = time.Minute

const bearer = "urn:oasis:names:tc:SAML:2.0:cm:bearer"

// Login is an identity provider's statement about a person.
type Login struct {
	// RequestID is the id of the request that the response answers. It is one of the ids in the parameter `expected` of
	// Read.
	RequestID string
	// NameID identifies the person at the provider.
	NameID string
	// Email is empty if the provider sends no address.
	Email string
	Name  string
	// SessionEnds is the time at which the session ends at the provider. It is zero if the provider sets no end.
	SessionEnds time.Time
}

// errNotStarted is the error for a response that answers no unfinished login of the browser.
var errNotStarted = errors.New("it was not started by this browser, is finished already, or took too long: start again")

// Read checks a response and returns its login. `encoded` is the response as the browser posted it. `expected` has the
// ids of the login requests that this browser has started. Without such a request, Read parses nothing. Users see the
// errors. An error names the setting that an administrator can correct, and quotes nothing secret from the response.
func Read(s Service, p Provider, encoded string, expected []string, now time.Time) (Login, error) {
	if len(expected) == 0 { // Anybody can post responses, and parsing them is expensive.
		return Login{}, errNotStarted
	}
	root, err := parse(encoded)
	if err != nil {
		return Login{}, err
	}
	assertion, err := shape(root)
	if err != nil {
		return Login{}, err
	}
	var response crewjam.Response
	if assertion == nil {
		return Login{}, refusedBy(root)
	}
	verified, err := verifiedAssertion(root, assertion, p, now)
	if err != nil {
		return Login{}, err
	}
	if err := unmarshal(root, &response); err != nil {
		return Login{}, err
	}
	if err := checkResponse(s, p, response, signatureOf(root) != nil); err != nil {
		return Login{}, err
	}
	var claim crewjam.Assertion
	if err := unmarshal(verified, &claim); err != nil {
		return Login{}, err
	}
	var named audiences
	if err := unmarshal(verified, &named); err != nil {
		return Login{}, err
	}
	return checkAssertion(s, p, claim, named, expected, now)
}

// refusedBy returns an error with the reason why a response has no assertion. The reason is not signed, so the error
// has only its status code.
func refusedBy(root *etree.Element) error {
	var response crewjam.Response
	if err := unmarshal(root, &response); err != nil {
		return err
	}
	code := response.Status.StatusCode
	if code.StatusCode != nil {
		code = *code.StatusCode
	}
	if response.Status.StatusCode.Value == crewjam.StatusSuccess {
		return errors.New("the response has no assertion")
	}
	return fmt.Errorf("the identity provider refused the login: %.100q", code.Value[strings.LastIndexByte(code.Value, ':')+1:])
}

// verifiedAssertion checks every signature in the response, and returns the assertion from the signed bytes.
func verifiedAssertion(root, assertion *etree.Element, p Provider, now time.Time) (*etree.Element, error) {
	var found *etree.Element
	if signatureOf(root) != nil {
		whole, err := verify(root, p.Certificates, now)
		if err != nil {
			return nil, err
		}
		for _, child := range whole.ChildElements() {
			if child.Tag == "Assertion" && child.NamespaceURI() == assertionNamespace {
				found = child
			}
		}
	}
	if signatureOf(assertion) != nil {
		var err error
		if found, err = verify(assertion, p.Certificates, now); err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, errors.New("neither the response nor the assertion is signed")
	}
	return found, nil
}

// unmarshal decodes an element into a struct. It first adds the namespaces that the element's parents declare.
func unmarshal(el *etree.Element, into any) error {
	document := etree.NewDocument()
	root := el.Copy()
	document.SetRoot(root)
	for parent := el.Parent(); parent != nil; parent = parent.Parent() {
		for _, attr := range parent.Attr {
			name := attr.FullKey()
			if (attr.Space == "xmlns" || name == "xmlns") && root.SelectAttr(name) == nil {
				root.CreateAttr(name, attr.Value)
			}
		}
	}
	text, err := document.WriteToBytes()
	if err == nil {
		err = xml.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("the response cannot be read: %w", err)
	}
	return nil
}

// checkResponse checks the part of the response outside the assertion. This part may be unsigned, so it is never a
// reason to accept a login, only a reason to refuse it.
func checkResponse(s Service, p Provider, r crewjam.Response, signed bool) error {
	switch {
	case r.Status.StatusCode.Value != crewjam.StatusSuccess:
		return errors.New("the identity provider refused the login")
	case r.Issuer != nil && r.Issuer.Value != p.EntityID:
		return errors.New("the response is of another identity provider than the settings name")
	case (signed || r.Destination != "") && r.Destination != s.ACSURL:
		return errors.New("the response is for another destination")
	}
	return nil
}

func checkAssertion(s Service, p Provider, a crewjam.Assertion, named audiences, expected []string, now time.Time) (Login, error) {
	switch {
	case a.Issuer.Value != p.EntityID:
		return Login{}, errors.New("the assertion is of another identity provider than the settings name")
	case a.Subject == nil || a.Subject.NameID == nil || a.Subject.NameID.Value == "" || len(a.Subject.NameID.Value) > 1024:
		return Login{}, errors.New("the assertion names nobody (NameID)")
	case a.Subject.NameID.Format == string(crewjam.TransientNameIDFormat):
		return Login{}, errors.New("the assertion's NameID is transient: the identity provider must send a lasting one")
	}
	if err := checkConditions(a.Conditions, now); err != nil {
		return Login{}, err
	}
	if err := named.check(s); err != nil {
		return Login{}, err
	}
	request, err := confirm(s, a.Subject.SubjectConfirmations, expected, now)
	if err != nil {
		return Login{}, err
	}
	login := Login{RequestID: request, NameID: a.Subject.NameID.Value}
	if login.Email, err = emailOf(a); err != nil {
		return Login{}, err
	}
	login.Name = firstValue(a, nameAttributes)
	for _, statement := range a.AuthnStatements {
		if end := statement.SessionNotOnOrAfter; end != nil && (login.SessionEnds.IsZero() || end.Before(login.SessionEnds)) {
			login.SessionEnds = *end
		}
	}
	if len(a.AuthnStatements) == 0 {
		return Login{}, errors.New("the assertion does not say that anybody logged in")
	}
	if !login.SessionEnds.IsZero() && !now.Before(login.SessionEnds) {
		return Login{}, errors.New("the session at the identity provider is over")
	}
	return login, nil
}

func checkConditions(c *crewjam.Conditions, now time.Time) error {
	if c == nil {
		return errors.New("the assertion has no conditions")
	}
	if !c.NotBefore.IsZero() && now.Add(Skew).Before(c.NotBefore) {
		return errors.New("the assertion is not good yet: the clocks differ")
	}
	if !c.NotOnOrAfter.IsZero() && !now.Add(-Skew).Before(c.NotOnOrAfter) {
		return errors.New("the assertion has expired")
	}
	return nil
}

// audiences has the services for which an assertion is intended. A restriction may list several audiences. The type of
// the library crewjam/saml would keep only the last of them.
type audiences struct {
	Restrictions []struct {
		Audiences []string `xml:"Audience"`
	} `xml:"Conditions>AudienceRestriction"`
}

// check returns an error if a restriction of the assertion does not name this service.
func (a audiences) check(s Service) error {
	if len(a.Restrictions) == 0 {
		return errors.New("the assertion names no audience")
	}
	for _, restriction := range a.Restrictions {
		if !slices.Contains(restriction.Audiences, s.EntityID) {
			return errors.New("the assertion is for another audience")
		}
	}
	return nil
}

// confirm returns the id of the request that the assertion answers. It returns an error if the assertion answers no
// request, because the assertion could then come from another browser. Identity providers send such assertions for
// logins that start at the provider.
func confirm(s Service, confirmations []crewjam.SubjectConfirmation, expected []string, now time.Time) (string, error) {
	err := errors.New("the assertion has no bearer confirmation")
	for _, c := range confirmations {
		data := c.SubjectConfirmationData
		switch {
		case c.Method != bearer || data == nil:
			continue
		case data.Recipient != s.ACSURL:
			err = errors.New("the assertion is for another recipient")
		case data.NotOnOrAfter.IsZero() || !now.Add(-Skew).Before(data.NotOnOrAfter):
			err = errors.New("the assertion has expired")
		case !data.NotBefore.IsZero():
			err = errors.New("a bearer confirmation must not have a NotBefore")
		case data.InResponseTo == "":
			err = errors.New("it did not start here: logins that start at the identity provider are refused, open the start address instead")
		case !slices.Contains(expected, data.InResponseTo):
			err = errNotStarted
		default:
			return data.InResponseTo, nil
		}
	}
	return "", err
}

// These are the attribute names under which providers send addresses and names.
var (
	emailAttributes = []string{
		"email", "mail", "emailaddress", "urn:oid:0.9.2342.19200300.100.1.3", "urn:oid:1.2.840.113549.1.9.1",
		"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
	}
	nameAttributes = []string{
		"displayname", "urn:oid:2.16.840.1.113730.3.1.241", "http://schemas.microsoft.com/identity/claims/displayname", "name", "cn",
		"urn:oid:2.5.4.3", "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name",
	}
)

// values returns the distinct values of an attribute. `names` has the names, in lower case, under which providers send
// the attribute.
func values(a crewjam.Assertion, names []string) []string {
	var found []string
	for _, statement := range a.AttributeStatements {
		for _, attribute := range statement.Attributes {
			if !slices.Contains(names, strings.ToLower(attribute.Name)) {
				continue
			}
			for _, value := range attribute.Values {
				if text := strings.TrimSpace(value.Value); text != "" && !slices.Contains(found, text) {
					found = append(found, text)
				}
			}
		}
	}
	return found
}

func firstValue(a crewjam.Assertion, names []string) string {
	if found := values(a, names); len(found) > 0 {
		return found[0]
	}
	return ""
}

// emailOf returns the address that the provider sends, in an attribute or as the NameID. If there are two different
// addresses, it returns an error, because it cannot choose between them.
func emailOf(a crewjam.Assertion) (string, error) {
	found := values(a, emailAttributes)
	if id := a.Subject.NameID; len(found) == 0 && (id.Format == string(crewjam.EmailAddressNameIDFormat) || strings.Contains(id.Value, "@")) {
		found = []string{strings.TrimSpace(id.Value)}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", errors.New("the assertion names several e-mail addresses")
}
