// Package keys gives the blocks of a document their keys, and headings and the like their anchors. Both are what comments,
// links and merges refer to, so a text that is written again keeps them: what comes as Markdown over an older document takes
// them from there. The package does no I/O and its results depend on its input only; of this module it imports schema and
// the packages content, diff and tree.
package keys
