// Package keys gives the blocks of a document their keys, and headings and similar blocks their anchors. Comments,
// links and merges refer to keys and anchors. So if Markdown replaces a document, the new document gets the keys and
// anchors of the old document. The package does no I/O, and its results depend only on its input. The only other
// packages of this module that it imports are schema, content, diff and tree.
package keys
