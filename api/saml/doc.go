// Package saml implements the side of a service provider in logins by SAML 2.0. It writes the request with which a
// browser is redirected to an identity provider, and reads the response that the browser posts afterwards. It also
// writes the metadata that describe this service to the provider. It trusts only signed data: it decodes the assertion
// from the bytes whose signature it has verified.
//
// It stores nothing and makes no decisions about users. It must not import the store, the frame or a package of
// operations.
package saml
