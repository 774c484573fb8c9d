// Package frame serves any table of operations over HTTP. All requests pass the same steps, in this order: matching,
// limits, authorization, decoding, checking, the operation's function, encoding and metrics. Functions get typed
// requests and an access.Caller, and never see fasthttp.
//
// The folders below it:
//
//	rules       what members of requests must satisfy
//	jsonschema  helps write JSON schemas by hand
//	openapi     describes a table as an OpenAPI document
//
// It has no code for particular resources. It must not import view, a package of operations, or package api.
package frame
