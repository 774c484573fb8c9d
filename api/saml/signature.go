package saml

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/russellhaering/goxmldsig/etreeutils"
)

// These maps have the accepted algorithms. SHA-1 is not among them.
var (
	signatureMethods = map[string]bool{
		dsig.RSASHA256SignatureMethod: true, dsig.RSASHA384SignatureMethod: true, dsig.RSASHA512SignatureMethod: true,
		dsig.ECDSASHA256SignatureMethod: true, dsig.ECDSASHA384SignatureMethod: true, dsig.ECDSASHA512SignatureMethod: true,
	}
	digestMethods = map[string]bool{
		"http://www.w3.org/2001/04/xmlenc#sha256": true, "http://www.w3.org/2001/04/xmldsig-more#sha384": true,
		"http://www.w3.org/2001/04/xmlenc#sha512": true,
	}
	transforms = map[string]bool{
		string(dsig.EnvelopedSignatureAltorithmId): true, string(dsig.CanonicalXML10ExclusiveAlgorithmId): true,
	}
)

// signatureOf returns the signature of an element, or nil.
func signatureOf(el *etree.Element) *etree.Element {
	for _, child := range el.ChildElements() {
		if child.Tag == "Signature" && child.NamespaceURI() == signatureNamespace {
			return child
		}
	}
	return nil
}

// only returns the single child of a signature's element with this tag. It returns an error if there is no such child
// or if there are several.
func only(el *etree.Element, tag string) (*etree.Element, error) {
	var found *etree.Element
	for _, child := range el.ChildElements() {
		if child.Tag != tag {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("the signature has two %s", tag)
		}
		found = child
	}
	if found == nil || found.NamespaceURI() != signatureNamespace {
		return nil, fmt.Errorf("the signature has no %s", tag)
	}
	return found, nil
}

// checkSignature returns an error if a signature does not sign its parent element, or uses an algorithm that is not
// accepted.
func checkSignature(signature, parent *etree.Element) error {
	info, err := only(signature, "SignedInfo")
	if err != nil {
		return err
	}
	method, err := only(info, "SignatureMethod")
	if err != nil {
		return err
	}
	if algorithm := method.SelectAttrValue("Algorithm", ""); !signatureMethods[algorithm] {
		return fmt.Errorf("the signature method %q is not accepted", algorithm)
	}
	reference, err := only(info, "Reference")
	if err != nil {
		return err
	}
	id := parent.SelectAttrValue("ID", "")
	if id == "" || reference.SelectAttrValue("URI", "") != "#"+id {
		return errors.New("the signature is of another element")
	}
	digest, err := only(reference, "DigestMethod")
	if err != nil {
		return err
	}
	if algorithm := digest.SelectAttrValue("Algorithm", ""); !digestMethods[algorithm] {
		return fmt.Errorf("the digest method %q is not accepted", algorithm)
	}
	list, err := only(reference, "Transforms")
	if err != nil {
		return err
	}
	for _, transform := range list.ChildElements() {
		if algorithm := transform.SelectAttrValue("Algorithm", ""); !transforms[algorithm] {
			return fmt.Errorf("the transform %q is not accepted", algorithm)
		}
	}
	return nil
}

// verify checks the signature of an element, and returns the element as decoded from the verified bytes. The signature
// must match one of the certificates.
func verify(el *etree.Element, certificates []*x509.Certificate, now time.Time) (*etree.Element, error) {
	signature := signatureOf(el)
	if err := checkSignature(signature, el); err != nil {
		return nil, err
	}
	space, err := etreeutils.NSBuildParentContext(el)
	if err == nil {
		space, err = space.SubContext(el)
	}
	if err == nil {
		el, err = etreeutils.NSDetatch(space, el)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the namespaces: %w", err)
	}
	// Only the certificates that the administrator entered are trusted. The key in the response is removed, because
	// goxmldsig would read it, and it may have no certificate.
	if info := signatureOf(el).SelectElement("KeyInfo"); info != nil {
		signatureOf(el).RemoveChild(info)
	}
	good := slices.DeleteFunc(slices.Clone(certificates), func(c *x509.Certificate) bool { return now.Before(c.NotBefore) || now.After(c.NotAfter) })
	if len(good) == 0 {
		return nil, errNotGoodNow(certificates)
	}
	for _, certificate := range good {
		var verified *etree.Element
		if verified, err = verifyBy(el, certificate); err == nil {
			return verified, nil
		}
	}
	return nil, err
}

// errNotGoodNow returns the error for a provider without a certificate that is valid now. It says when the newest
// certificate is valid, because administrators should check this one first.
func errNotGoodNow(certificates []*x509.Certificate) error {
	newest := slices.MaxFunc(certificates, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
	return fmt.Errorf("the certificate of the identity provider is good from %s to %s only",
		newest.NotBefore.UTC().Format(time.DateOnly), newest.NotAfter.UTC().Format(time.DateOnly))
}

func verifyBy(el *etree.Element, certificate *x509.Certificate) (*etree.Element, error) {
	context := dsig.NewDefaultValidationContext(&dsig.MemoryX509CertificateStore{Roots: []*x509.Certificate{certificate}})
	context.IdAttribute = "ID"
	verified, err := context.Validate(el) // Validate does not change el.
	if err != nil {
		return nil, fmt.Errorf("the signature is wrong: %w", err)
	}
	if verified.Tag != el.Tag || verified.NamespaceURI() != el.NamespaceURI() || verified.SelectAttrValue("ID", "") != el.SelectAttrValue("ID", "") {
		return nil, errors.New("the signature is of another element")
	}
	return verified, nil
}
