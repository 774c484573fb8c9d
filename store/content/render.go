package content

import "github.com/octavo-docs/octavo/schema"

// The forms in which a client may ask for a body.
const (
	FormatMarkdown = "markdown"
	FormatDocument = "document"
)

// Render gives the body in the form asked for, Markdown where none is. An empty body stays empty.
func Render(body schema.Body, format string) schema.Body {
	switch {
	case body.IsZero():
		return body
	case format == FormatDocument && body.Document == nil:
		return schema.DocumentBody(FromMarkdown(*body.Markdown))
	case format == FormatDocument:
		return schema.DocumentBody(*body.Document)
	case body.Document != nil:
		return schema.MarkdownBody(ToMarkdown(*body.Document))
	}
	return body
}
