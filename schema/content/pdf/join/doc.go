// Package join makes one PDF from the parts of a book. It only reads typst's PDFs: PDF 1.7 with a plain table of
// references and with tags. A general joiner, pdfcpu 0.15, failed with two parts: its result only had the tags of one
// part, and it renamed places with equal names.
//
// The first part is the front. The book has its metadata, its bookmarks and its settings. The bookmarks name places
// (named destinations) of the front. They lead to the places with equal names in the other parts. Links lead to places
// by name. A link into another part is an address with Scheme, and becomes a link to a place.
//
// The last sheets of each part, from the place End on, are left out. Typst keeps the name of a place only if a link
// leads there. So these sheets have links to all places of the part.
//
// In memory are only one object of a part at a time, and a few bytes for each object of all parts. It does no I/O, and
// imports no other package of this module.
package join
