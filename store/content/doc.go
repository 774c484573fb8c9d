// Package content works on rich documents as values: Markdown to documents and back, plain text, PDF. It does no I/O, knows
// no database and no request, and imports nothing of this module but schema.
package content
