// Package pdf writes what typst needs to lay out the pages of a space as a PDF: a fixed layout (main.typ), and JSON with what
// users wrote. No text of a user ever becomes a part of the layout's source, so none can be markup or code; the
// renderer turns formulas into mathematics, and checks that they are nothing else. The package is
// pure and deterministic: it runs no renderer, and imports nothing of this module but schema and schema/content.
//
// A Book is a source that has been measured. It is laid out in parts if it would need too much memory: the front with
// the cover and the contents, and parts of the text. Package join makes one PDF of them.
package pdf
