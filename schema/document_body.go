package schema

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// MaxMarkdown bounds the length of the Markdown in a body, in characters.
const MaxMarkdown = 100_000

// MaxPage bounds the size of a page's text, in bytes of UTF-8.
const MaxPage = 1 << 20

// PageProblems lists the problems of a body that is the text of a page.
func (b Body) PageProblems(field string) []Detail {
	if b.Markdown == nil || b.Document != nil {
		return b.Problems(field)
	}
	return markdownProblems(join(field, "markdown"), *b.Markdown, len(*b.Markdown), MaxPage, "bytes in UTF-8")
}

// Body is text in one of the contract's forms: Markdown or a rich document. An empty Body is written as {}.
type Body struct {
	Markdown *string   `json:"markdown,omitzero"`
	Document *Document `json:"document,omitzero"`
}

// plainBody is a Body without its methods.
type plainBody Body

// MarshalJSON writes the document if the body has one, and otherwise the Markdown. The contract does not allow both in
// one body.
func (b Body) MarshalJSON() ([]byte, error) {
	if b.Document != nil {
		b.Markdown = nil
	}
	return json.Marshal(plainBody(b))
}

// MarkdownBody makes a body of Markdown.
func MarkdownBody(text string) Body { return Body{Markdown: &text} }

// DocumentBody makes a body of a document.
func DocumentBody(d Document) Body { return Body{Document: &d} }

// IsZero reports whether the body has neither Markdown nor a document.
func (b Body) IsZero() bool { return b.Markdown == nil && b.Document == nil }

// Normalize normalizes the document if the body has one. Call Normalize before Problems.
func (b *Body) Normalize() {
	if b.Document != nil {
		b.Document.Normalize()
	}
}

// Problems lists the body's problems. An empty body has no problems. If an operation requires a text, the operation
// checks that the body is not empty.
func (b Body) Problems(field string) []Detail {
	if b.Markdown != nil && b.Document != nil {
		return []Detail{{Field: field, Problem: "must have markdown or document, not both"}}
	}
	if b.Document != nil {
		return b.Document.Problems(join(field, "document"))
	}
	if b.Markdown == nil {
		return nil
	}
	return markdownProblems(
		join(field, "markdown"),
		*b.Markdown,
		utf8.RuneCountInString(*b.Markdown),
		MaxMarkdown,
		"characters",
	)
}

func markdownProblems(field, text string, size, most int, unit string) []Detail {
	switch {
	case strings.ContainsRune(text, 0):
		return []Detail{{Field: field, Problem: problemNUL}}
	case size > most:
		return []Detail{{Field: field, Problem: fmt.Sprintf("must have at most %d %s", most, unit)}}
	}
	return nil
}

// OpenAPISchema returns the schema of a body. A body has three forms: Markdown, a document, or empty.
func (Body) OpenAPISchema() map[string]any {
	one := func(name string, of map[string]any) map[string]any {
		return map[string]any{"type": "object", "required": []any{name}, "properties": map[string]any{name: of}}
	}
	return map[string]any{"oneOf": []any{
		one("markdown", map[string]any{"type": "string", "maxLength": MaxMarkdown}),
		one("document", map[string]any{"type": "object"}),
		map[string]any{"type": "object", "additionalProperties": false},
	}}
}
