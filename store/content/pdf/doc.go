// Package pdf renders the pages of a space as one PDF file. It is pure, does no I/O except to the writer it is given,
// and imports nothing of this module but schema and store/content.
package pdf
