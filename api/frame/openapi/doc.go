// Package openapi describes a table as an OpenAPI 3.1 document. It derives requests from their rules and answers from
// their types. The specifications that customers upload are elsewhere (api/apps/specs.go).
//
// It imports the frame and schema, and must not import a domain.
package openapi
