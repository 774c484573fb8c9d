// Package keys gives the blocks of a document their keys, and headings and similar blocks their anchors. Comments,
// links and merges refer to keys and anchors. So if Markdown replaces a document, the new document gets the keys and
// anchors of the old document. The package does no I/O, and its results depend only on its input. Of this module it
// imports schema and the packages content, diff and tree.
package keys
