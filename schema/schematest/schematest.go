// Package schematest holds the document that tests of several packages share.
package schematest

import _ "embed"

// Document is a JSON document with each kind of node. It leaves out every optional member.
//
//go:embed document.json
var Document []byte
