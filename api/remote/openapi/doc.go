// Package openapi reads OpenAPI specifications: a text that was sent, or what is at a URL, in JSON or YAML, OpenAPI 3 or Swagger 2,
// into one JSON document. It checks the structure by a grammar of each version (grammar.go), says of each problem where it is, and
// moves what a specification refers to in other documents into it.
//
// A text may refer to nothing outside of itself. What is fetched may refer to documents of the same origin. They are reached through
// package outbound alone, like the specification; files are never read. The number of documents, their bytes, values and depth,
// and the time are bounded, and the work is in proportion to what was read.
//
// Of ours it imports schema and api/remote/outbound only.
package openapi
