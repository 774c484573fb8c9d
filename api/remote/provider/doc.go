// Package provider calls the HTTP interfaces of services that an operator configures, such as a translator or a
// language model. It sends a JSON document and receives a JSON document. Every failure has a reason from a closed set.
// The reason determines whether a retry may succeed. The callers, packages chat and translation, define the documents'
// meaning.
//
// Of this module it imports only package outbound.
package provider
