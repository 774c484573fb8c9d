// Package saml speaks SAML 2.0 as a service provider: it writes the request that sends a browser to an identity provider, reads
// the response that the browser brings back, and describes us to the provider. It only believes what a signature covers: the
// assertion that it reads is parsed from the very bytes that were verified.
//
// It keeps nothing and decides nothing about users. It must not import the store, the frame or a domain.
package saml
