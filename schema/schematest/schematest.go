// Package schematest holds the document that tests of several packages share.
package schematest

import _ "embed"

// Document is a rich document, in JSON, with each kind of node. It leaves out every member that may be absent.
//
//go:embed document.json
var Document []byte
