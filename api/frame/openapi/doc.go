// Package openapi describes a table as an OpenAPI 3.1 document. It derives requests from their rules and answers from
// their types. OpenAPI specifications that customers upload are handled in api/apps/specs.go.
//
// It imports the frame and schema, and must not import a package of operations.
package openapi
