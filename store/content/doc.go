// Package content reads the text of rich documents: their plain text, and what a reader sees of a node, a reference, a
// mark or a table. It is pure, does no I/O, and imports nothing of this module but schema. The packages below it build
// on it: markdown reads and writes Markdown, pdf writes what becomes a PDF, tree holds the pages of a revision.
package content
