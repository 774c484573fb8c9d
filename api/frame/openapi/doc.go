// Package openapi describes a table as an OpenAPI 3.1 document. It derives requests from their rules and answers from
// their types. It has nothing to do with the specifications that customers upload: see api/apps/specs.go.
//
// It imports the frame and schema, and must not import a domain.
package openapi
