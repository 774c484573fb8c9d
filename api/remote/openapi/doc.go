// Package openapi reads an OpenAPI specification and converts it to one JSON document. The specification is a text, or
// is fetched from a URL. It is JSON or YAML, and OpenAPI 3 or Swagger 2. The package checks the structure against a
// grammar of each version (grammar.go). Each problem has its position. If a specification refers to parts of other
// documents, these parts are copied into the specification.
//
// A text may only refer to its own parts. A fetched document may refer to documents of the same origin. These documents
// are fetched in the same way as the specification, through package outbound. Files are never read. There are limits on
// the number of documents, on their bytes, values and depth, and on the time. The work is proportional to the size of
// the documents.
//
// The only other packages of this module that it imports are schema and api/remote/outbound.
package openapi
