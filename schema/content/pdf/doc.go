// Package pdf writes typst's input for the pages of a space as a PDF. The input is a fixed layout (main.typ), and JSON
// with the users' texts. Users' texts are never part of the layout's source, so they cannot be markup or code. The
// renderer turns formulas into mathematics, and refuses other code in them. The package is pure and deterministic, and
// runs no renderer. Of this module it imports only schema and schema/content.
//
// A Book is a source that has been measured. If it needs too much memory, it is laid out in parts. The first part is
// the front, with the cover and the contents. The other parts have the text. Package join joins them into one PDF.
package pdf
