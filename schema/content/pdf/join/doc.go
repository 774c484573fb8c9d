// Package join makes one PDF of the parts of a book. It reads what typst writes: PDF 1.7 with a plain table of
// references and tags. It is no general joiner. pdfcpu 0.15 is a general joiner. Tried with two parts, pdfcpu had the
// tags of one part, and renamed places with equal names.
//
// The first part is the front: its metadata, its bookmarks and its settings are the book's. The bookmarks name places
// (named destinations) of the front, and lead to the places of the same names in the other parts. Links lead to places
// by name. A link into another part has an address with Scheme, and becomes a link to a place.
//
// Each part ends with sheets that are left out: those from the place End on. Typst keeps the name of a place only if a
// link leads there, so that these sheets hold links to all places of the part.
//
// The package holds one object of a part at a time, and a few bytes for each object of all parts. It is pure and
// imports nothing of this module.
package join
