package saml

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/beevik/etree"
	roundtrip "github.com/mattermost/xml-roundtrip-validator"
)

const (
	protocolNamespace  = "urn:oasis:names:tc:SAML:2.0:protocol"
	assertionNamespace = "urn:oasis:names:tc:SAML:2.0:assertion"
	signatureNamespace = "http://www.w3.org/2000/09/xmldsig#"
)

// MaxResponse is the largest size of a response in bytes, in the form in which the browser posts it. Usual responses
// have 5 to 15 KiB.
const MaxResponse = 192 << 10

const (
	mostDepth     = 32
	mostElements  = 4000
	mostAttrs     = 8000
	mostAttrsEach = 64
	// mostPrefixes is the largest number of different prefixes with a namespace. Usual responses have less than 20.
	// goxmldsig copies all prefixes in scope at every element, so their number multiplies the number of elements. A
	// prefix that is declared again replaces the earlier one, so it counts once. Okta declares one at every value.
	mostPrefixes = 64
)

// parse decodes a response and returns the root of its XML. It returns an error for a document that two parsers could
// read differently. Such a document has a DTD, comments or processing instructions, or changes if it is read and
// written again.
func parse(encoded string) (*etree.Element, error) {
	if len(encoded) > MaxResponse {
		return nil, fmt.Errorf("the response is larger than %d bytes", MaxResponse)
	}
	text, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(encoded), ""))
	if err != nil {
		return nil, errors.New("the response is not base64")
	}
	if err := inspect(text); err != nil {
		return nil, err
	}
	if err := roundtrip.Validate(bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("the response is ambiguous XML: %w", err)
	}
	document := etree.NewDocument()
	if err := document.ReadFromBytes(text); err != nil {
		return nil, fmt.Errorf("the response is not XML: %w", err)
	}
	if document.Root() == nil {
		return nil, errors.New("the response is empty")
	}
	return document.Root(), nil
}

// inspect checks the tokens of a document and limits their number. It runs before the document is read into memory as a
// tree.
func inspect(text []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(text)) // It is strict: it accepts only XML's own entities and UTF-8.
	depth, roots, elements, attributes := 0, 0, 0, 0
	prefixes := map[string]bool{}
	for first := true; ; first = false {
		token, err := decoder.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the response is not XML: %w", err)
		}
		switch t := token.(type) {
		case xml.Directive:
			return errors.New("the response has a document type")
		case xml.Comment:
			return errors.New("the response has a comment")
		case xml.ProcInst:
			if !first || t.Target != "xml" {
				return errors.New("the response has a processing instruction")
			}
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
			elements++
			attributes += len(t.Attr)
			if len(t.Attr) > mostAttrsEach {
				return errors.New("the response has too many attributes at one element")
			}
			for _, attr := range t.Attr {
				if attr.Name.Space == "xmlns" || attr.Name.Space == "" && attr.Name.Local == "xmlns" {
					prefixes[attr.Name.Local] = true
				}
			}
		case xml.EndElement:
			depth--
		}
		if roots > 1 {
			return errors.New("the response is more than one document")
		}
		if depth > mostDepth || elements > mostElements || attributes > mostAttrs {
			return errors.New("the response has too many elements, attributes or levels")
		}
		if len(prefixes) > mostPrefixes {
			return errors.New("the response has too many namespace prefixes")
		}
	}
}

// shape checks the structure of a response before any signature is checked, and returns the assertion, or nil if there
// is none. The document must have exactly one response, with at most one assertion as its child. Ids must be unique. A
// signature must be a child of the response or of the assertion. Signature wrapping attacks need a second assertion, a
// second response or a signature in another place, so shape refuses them.
func shape(root *etree.Element) (assertion *etree.Element, err error) {
	if root.Tag != "Response" || root.NamespaceURI() != protocolNamespace {
		return nil, errors.New("the document is not a SAML response")
	}
	ids := map[string]bool{}
	signed := map[*etree.Element]bool{}
	for _, el := range append([]*etree.Element{root}, root.FindElements(".//*")...) {
		for i := range el.Attr {
			if strings.EqualFold(el.Attr[i].Key, "id") {
				if ids[el.Attr[i].Value] {
					return nil, errors.New("two elements have one id")
				}
				ids[el.Attr[i].Value] = true
			}
		}
		switch el.Tag {
		case "Response":
			if el != root {
				return nil, errors.New("there is a response in the response")
			}
		case "EncryptedAssertion", "EncryptedID", "EncryptedAttribute":
			return nil, errors.New("the response is encrypted, which this service does not support: turn it off at the identity provider")
		case "Assertion":
			if assertion != nil {
				return nil, errors.New("there is more than one assertion")
			}
			if el.Parent() != root || el.NamespaceURI() != assertionNamespace {
				return nil, errors.New("the assertion is not where it belongs")
			}
			assertion = el
		case "Signature":
			parent := el.Parent()
			if el.NamespaceURI() != signatureNamespace || parent != root && (parent == nil || parent.Tag != "Assertion") {
				return nil, errors.New("a signature is not where it belongs")
			}
			if signed[parent] {
				return nil, errors.New("an element has two signatures")
			}
			signed[parent] = true
		case "Object", "Manifest", "SignatureProperties":
			if el.NamespaceURI() == signatureNamespace {
				return nil, errors.New("a signature holds more than a signature")
			}
		}
	}
	return assertion, nil
}
