// Package pdf writes typst's input for the pages of a space as a PDF. The input is a fixed layout (main.typ), and JSON
// with the users' texts. Users' texts are never part of the layout's source, so they cannot be markup or code. The
// renderer turns formulas into mathematics, and refuses other code in them. The output depends only on the input, and
// the package runs no renderer. The only other packages of this module that it imports are schema, schema/content, and
// imagesize and keys in schema/content.
//
// A Book is a source whose blocks have been measured. If the renderer would need too much memory for the book, it
// renders the book in parts. The first part, the front, has the cover and the table of contents. The other parts have
// the text. Package join joins the parts into one PDF.
package pdf
