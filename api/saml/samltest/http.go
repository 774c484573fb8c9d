package samltest

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"html/template"
	"net/http"
	"net/url"

	crewjam "github.com/crewjam/saml"

	"github.com/octavo-docs/octavo/api/saml"
)

// RequestOf returns the request in the address to which a browser is redirected.
func RequestOf(address *url.URL) (crewjam.AuthnRequest, error) {
	var request crewjam.AuthnRequest
	deflated, err := base64.StdEncoding.DecodeString(address.Query().Get("SAMLRequest"))
	if err == nil {
		err = xml.NewDecoder(flate.NewReader(bytes.NewReader(deflated))).Decode(&request)
	}
	if err != nil {
		return request, fmt.Errorf("cannot read the request: %w", err)
	}
	return request, nil
}

// answerPage is a page whose script posts the answer at once. The pages of identity providers do the same.
var answerPage = template.Must(template.New("answer").Parse(`<!doctype html><title>Identity provider</title>
<form method="post" action="{{.Address}}"><input type="hidden" name="SAMLResponse" value="{{.Answer}}"></form>
<script>document.forms[0].submit()</script>
`))

// Handler returns the handler of the identity provider's site. It logs in the person that `who` returns. Its page then
// posts the answer to the service.
func (i *IdP) Handler(who func() Person) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := RequestOf(r.URL)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		service := saml.Service{EntityID: request.Issuer.Value, ACSURL: request.AssertionConsumerServiceURL}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = answerPage.Execute(w, map[string]string{ // The browser may have disconnected.
			"Address": service.ACSURL, "Answer": i.Good(service, request.ID, who()),
		})
	})
}
