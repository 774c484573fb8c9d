package saml

import (
	"bytes"
	"compress/flate"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	crewjam "github.com/crewjam/saml"

	"github.com/beevik/etree"
)

// Service is this service in a login, with the entity id and the address that the identity provider knows.
type Service struct {
	EntityID string
	ACSURL   string
}

// Provider is the identity provider in a login, with the values that an administrator has entered.
type Provider struct {
	EntityID string
	// Certificates are the certificates of the provider's signing keys. While the provider changes its key, there are
	// an old and a new certificate.
	Certificates []*x509.Certificate
	SSOURL       string
}

// NewRequestID returns a new random id of a request. The response repeats the id, so the login can be assigned to the
// browser that started it.
func NewRequestID() string {
	var random [20]byte
	_, _ = rand.Read(random[:]) // crypto/rand.Read never returns an error: it ends the process instead.
	return "id-" + hex.EncodeToString(random[:])
}

// LoginURL returns the identity provider's address, with a request, to which a browser is redirected (HTTP-Redirect
// binding). The request is not signed, because we have no signing key. It contains nothing that our metadata does not
// contain.
func LoginURL(s Service, p Provider, id string, now time.Time) (string, error) {
	target, err := url.Parse(p.SSOURL)
	if err != nil {
		return "", fmt.Errorf("cannot read the address of the identity provider: %w", err)
	}
	if target.Scheme != "https" && target.Scheme != "http" || target.Host == "" {
		return "", errors.New("the address of the identity provider is not one of the web") // CVE-2023-45683
	}
	create := true
	request := crewjam.AuthnRequest{
		ID: id, Version: "2.0", IssueInstant: now.UTC(), Destination: p.SSOURL, AssertionConsumerServiceURL: s.ACSURL,
		ProtocolBinding: crewjam.HTTPPostBinding, Issuer: &crewjam.Issuer{Value: s.EntityID},
		NameIDPolicy: &crewjam.NameIDPolicy{AllowCreate: &create},
	}
	document := etree.NewDocument()
	document.SetRoot(request.Element())
	text, err := document.WriteToBytes()
	if err != nil {
		return "", fmt.Errorf("cannot write the request: %w", err)
	}
	var deflated bytes.Buffer
	writer, err := flate.NewWriter(&deflated, flate.BestCompression)
	if err == nil {
		_, err = writer.Write(text)
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		return "", fmt.Errorf("cannot deflate the request: %w", err)
	}
	query := target.Query()
	query.Set("SAMLRequest", base64.StdEncoding.EncodeToString(deflated.Bytes()))
	target.RawQuery = query.Encode()
	return target.String(), nil
}

// entityDescriptor is the root of the metadata. The library's type is not used, because it always writes validUntil.
// Without a time, it writes the year 1, and identity providers refuse expired metadata. This type has no validUntil,
// because the addresses are valid until an administrator removes the provider.
type entityDescriptor struct {
	XMLName         xml.Name                `xml:"urn:oasis:names:tc:SAML:2.0:metadata EntityDescriptor"`
	EntityID        string                  `xml:"entityID,attr"`
	SPSSODescriptor crewjam.SPSSODescriptor `xml:"SPSSODescriptor"`
}

// Metadata returns the document that describes this service to an identity provider. It says that we need a signed
// assertion by the POST binding.
func Metadata(s Service) ([]byte, error) {
	yes, no := true, false
	descriptor := entityDescriptor{EntityID: s.EntityID, SPSSODescriptor: crewjam.SPSSODescriptor{
		SSODescriptor: crewjam.SSODescriptor{
			RoleDescriptor: crewjam.RoleDescriptor{ProtocolSupportEnumeration: protocolNamespace},
			NameIDFormats:  []crewjam.NameIDFormat{crewjam.PersistentNameIDFormat, crewjam.EmailAddressNameIDFormat},
		},
		AuthnRequestsSigned: &no, WantAssertionsSigned: &yes,
		AssertionConsumerServices: []crewjam.IndexedEndpoint{
			{Binding: crewjam.HTTPPostBinding, Location: s.ACSURL, Index: 0, IsDefault: &yes},
		},
	}}
	text, err := xml.Marshal(&descriptor)
	if err != nil {
		return nil, fmt.Errorf("cannot write the metadata: %w", err)
	}
	return append([]byte(xml.Header), text...), nil
}

// mostCertificates is the largest number of certificates of a provider. Some providers announce the next key early.
const mostCertificates = 4

// ParseCertificates reads certificates as administrators copy them: as PEM, or only the base64 text between the header
// and the footer of one certificate.
func ParseCertificates(text string) ([]*x509.Certificate, error) {
	// Even a part of a private key is refused, because members can see the stored text. pem.Decode would skip such a
	// part.
	if strings.Contains(text, "PRIVATE KEY") {
		return nil, errors.New("there is a private key")
	}
	block, rest := pem.Decode([]byte(text))
	if block == nil {
		der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			return nil, errors.New("it is neither PEM nor base64")
		}
		block = &pem.Block{Type: "CERTIFICATE", Bytes: der}
		rest = nil
	}
	var found []*x509.Certificate
	for ; block != nil; block, rest = pem.Decode(rest) {
		certificate, err := parseCertificate(block)
		if err != nil {
			return nil, err
		}
		if found = append(found, certificate); len(found) > mostCertificates {
			return nil, fmt.Errorf("there are more than %d", mostCertificates)
		}
		if strings.TrimSpace(string(rest)) == "" {
			return found, nil
		}
	}
	return nil, errors.New("there is something else after the certificates")
}

func parseCertificate(block *pem.Block) (*x509.Certificate, error) {
	if block.Type != "CERTIFICATE" {
		return nil, errors.New("it is not a certificate")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("it does not parse: %w", err)
	}
	switch certificate.PublicKey.(type) {
	case *rsa.PublicKey, *ecdsa.PublicKey:
		return certificate, nil
	}
	return nil, errors.New("its key is neither RSA nor ECDSA")
}
