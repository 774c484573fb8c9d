// Package openapi reads OpenAPI documents that people send: JSON or YAML, OpenAPI 3 or Swagger 2, into one JSON form. It does
// no I/O and follows no reference out of the document. It imports nothing of ours but schema.
package openapi
