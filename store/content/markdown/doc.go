// Package markdown reads Markdown as rich documents and writes documents as Markdown. It is pure, does no I/O, and
// imports nothing of this module but schema and store/content.
package markdown
