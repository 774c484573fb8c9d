package markdown

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
)

// The forms in which a client may ask for a body.
const (
	FormatMarkdown = "markdown"
	FormatDocument = "document"
)

// Render gives the body in the form asked for, Markdown where none is. An empty body stays empty. made is the document of a
// body of Markdown: it was made once, when the body was written.
func Render(body schema.Body, made schema.Document, format string) schema.Body {
	switch {
	case body.IsZero():
		return body
	case format == FormatDocument && body.Document == nil:
		return schema.DocumentBody(made)
	case format == FormatDocument:
		return schema.DocumentBody(*body.Document)
	case body.Document != nil:
		return schema.MarkdownBody(Write(*body.Document))
	}
	return body
}

// Verbatim is the document of Markdown that would make too large a one, and was stored before that was looked at: the text as
// it is.
func Verbatim(markdown string) schema.Document {
	return schema.NewDocument(schema.Block("paragraph", schema.Text(content.Clean(markdown))))
}
