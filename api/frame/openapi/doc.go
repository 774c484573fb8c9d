// Package openapi describes a table as an OpenAPI 3.1 document. It says of requests what their rules say and of answers what
// their types say. It has nothing to do with the specifications that customers upload: see api/apps/specs.go.
//
// It imports the frame and schema, and must not import a domain.
package openapi
