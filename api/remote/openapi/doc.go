// Package openapi reads OpenAPI specifications into one JSON document. The source is a text or a URL, in JSON or YAML,
// with OpenAPI 3 or Swagger 2. It checks the structure by a grammar of each version (grammar.go) and locates each
// problem. If a specification refers to parts of other documents, it copies these parts into the specification.
//
// A text may only refer to itself. A fetched document may refer to documents of the same origin. Package outbound
// fetches these documents, like the specification. Files are never read. The number of documents, their bytes, values
// and depth, and the time are bounded. The work is in proportion to the size of the documents.
//
// Of this module it imports only schema and api/remote/outbound.
package openapi
