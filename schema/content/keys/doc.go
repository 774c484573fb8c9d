// Package keys gives the blocks of a document their keys, and headings and the like their anchors. Comments, links and
// merges refer to both, so a rewritten text keeps them: Markdown that replaces a document takes them from that
// document. The package does no I/O and its results depend on its input only; of this module it imports schema and the
// packages content, diff and tree.
package keys
