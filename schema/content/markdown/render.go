package markdown

import (
	"github.com/octavo-docs/octavo/schema"
)

// FormatDocument is a value of the query parameter for the format. With this value, a client gets a body as a document.
// By default, it gets the body as Markdown.
const FormatDocument = "document"

// Render returns the body in the requested format, Markdown by default. An empty body stays empty. `made` is the
// document that was made from a Markdown body when the body was written. Safe makes the Markdown safe, because users
// other than the author read it.
func Render(body schema.Body, made schema.Document, format string) schema.Body {
	switch {
	case body.IsZero():
		return body
	case format == FormatDocument && body.Document == nil:
		return schema.DocumentBody(made)
	case format == FormatDocument:
		return schema.DocumentBody(*body.Document)
	case body.Document != nil:
		return schema.MarkdownBody(Safe(Write(*body.Document)))
	}
	return schema.MarkdownBody(Safe(*body.Markdown))
}
