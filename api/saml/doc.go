// Package saml speaks SAML 2.0 as a service provider. It writes the request that sends a browser to an identity
// provider, and reads the response that the browser brings back. It also describes us to the provider. It only trusts
// signed data: it parses the assertion from exactly the verified bytes.
//
// It stores nothing and makes no decisions about users. It must not import the store, the frame or a domain.
package saml
