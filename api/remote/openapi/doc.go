// Package openapi reads OpenAPI specifications into one JSON document: from a text or a URL, in JSON or YAML, OpenAPI 3
// or Swagger 2. It checks the structure by a grammar of each version (grammar.go) and locates each problem. It copies
// parts of other documents that a specification refers to into it.
//
// A text may only refer to itself. A fetched document may refer to documents of the same origin. They are reached
// through package outbound alone, like the specification; files are never read. The number of documents, their bytes,
// values and depth, and the time are bounded, and the work is in proportion to what was read.
//
// Of ours it imports schema and api/remote/outbound only.
package openapi
