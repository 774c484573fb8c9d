// Package join makes one PDF from the parts of a book. It reads only the form of PDF that typst writes: PDF 1.7 with an
// uncompressed cross-reference table and with tags. The general tool pdfcpu 0.15 joined two parts with errors: the
// result had the tags of only one part, and places with equal names were renamed.
//
// The first part is the front. The book gets the metadata, the bookmarks and the settings of the front. A place is a
// named destination of PDF. In the front, bookmarks lead to places of the front. In the book, they lead to the places
// with the same names in the other parts. Links lead to places by name. In a part, a link into another part has an
// address that begins with Scheme. In the book, it becomes a link to a place.
//
// Each part has a place whose name is the constant End. The book leaves out the sheet with this place, and all later
// sheets of the part. These last sheets have links to all places of the part. Typst needs the links, because it writes
// the name of a place only if a link leads to the place.
//
// At any time, only one object of a part is in memory, and a few bytes for each object of all parts. The package does
// no I/O except through the readers and writers that callers pass. It imports no other package of this module.
package join
