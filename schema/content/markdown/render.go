package markdown

import (
	"github.com/octavo-docs/octavo/schema"
)

// FormatDocument is the value of the parameter with which a client requests a body as a document. The default format is
// Markdown.
const FormatDocument = "document"

// Render returns the body in the requested format, Markdown by default. An empty body stays empty. made is the document
// that was made from a Markdown body when the body was written. Markdown is made safe with Safe, because other users
// read it.
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
