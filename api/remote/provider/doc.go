// Package provider calls the HTTP interfaces of services that an operator configures, such as a translator or a
// language model. It sends a JSON document and receives a JSON document. Every failure has a reason from a fixed set.
// The reason says whether a retry may succeed. The packages chat and translation use this package and define the
// content of the documents.
//
// The only other package of this module that it imports is outbound.
package provider
