package content

import (
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
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
		return schema.MarkdownBody(ToMarkdown(*body.Document))
	}
	return body
}

// Verbatim is the document of Markdown that would make too large a one, and was stored before that was looked at: the text as
// it is.
func Verbatim(markdown string) schema.Document {
	return schema.NewDocument(schema.Block("paragraph", schema.Text(clean(markdown))))
}

// Blank says whether a body has nothing to see.
func Blank(body schema.Body) bool {
	switch {
	case body.Markdown != nil:
		return strings.TrimSpace(*body.Markdown) == ""
	case body.Document != nil:
		return !slices.ContainsFunc(body.Document.Nodes, shows)
	}
	return true
}

// shows says whether a node has text, or is something to see by itself.
func shows(n schema.Node) bool {
	return n.IsVoid != nil && *n.IsVoid && n.Type != "divider" || strings.TrimSpace(plainLeaves(n.Leaves)) != "" ||
		slices.ContainsFunc(n.Nodes, shows) || slices.ContainsFunc(n.Fragments, shows)
}
