// Package frame serves any table of operations over HTTP. A request goes through matching, limits, authorization,
// decoding, checking, the operation's function, encoding and metrics, in this order and in one place; functions see
// typed requests and an access.Caller, never fasthttp.
//
// The folders below it:
//
//	rules       what members of requests must satisfy
//	jsonschema  helps write JSON schemas by hand
//	openapi     describes a table as an OpenAPI document
//
// It knows no resource: it must not import view, a domain, or package api.
package frame
