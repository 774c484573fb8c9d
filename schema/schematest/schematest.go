// Package schematest has helpers for tests: a document that tests of several packages share, and Stepped for changes of
// the clock.
package schematest

import _ "embed"

// Document is a JSON document with each kind of node. It leaves out every optional member.
//
//go:embed document.json
var Document []byte
