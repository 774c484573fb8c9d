package content

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/store"
)

// richBody is a schema.Body in a request. It may omit members whose value the grammar fixes. If a body has members, but
// neither markdown nor document, it is refused, and is not treated as empty.
type richBody struct {
	schema.Body
	formless bool
	document richDocument
}

// OpenAPISchema returns a schema that allows at most one of the two forms. A request may have further members, which
// are ignored. A response has no further members.
func (richBody) OpenAPISchema() map[string]any {
	return bodyForms(jsonschema.Dict{"maxLength": schema.MaxMarkdown}, anyForm...)
}

// anyForm has the schemas of a body that may be empty. The forms are Markdown, a document, and no members.
var anyForm = []any{
	jsonschema.Dict{
		"required": []any{"markdown"},
	}, jsonschema.Dict{"required": []any{"document"}}, jsonschema.Dict{"maxProperties": 0},
}

func bodyForms(markdown jsonschema.Dict, forms ...any) jsonschema.Dict {
	markdown["type"], markdown["not"] = "string", jsonschema.NUL
	return jsonschema.Dict{
		"type": "object", "oneOf": forms,
		"properties": jsonschema.Dict{"markdown": markdown, "document": richDocument{}.OpenAPISchema()},
	}
}

// UnmarshalJSONFrom reads markdown or document. If the body has only other members, it sets formless.
func (b *richBody) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var read struct {
		Markdown *string        `json:"markdown"`
		Document *richDocument  `json:"document"`
		Other    jsontext.Value `json:",embed"`
	}
	if err := json.UnmarshalDecode(d, &read); err != nil {
		return err
	}
	b.Body = schema.Body{Markdown: read.Markdown}
	if read.Document != nil {
		b.document = *read.Document
		b.Body.Document = &b.document.Document
	}
	b.formless = b.IsZero() && len(read.Other) > 0
	return nil
}

// Problems lists the body's problems.
func (b *richBody) Problems(field string) []schema.Detail {
	if b.formless {
		return []schema.Detail{{Field: field, Problem: "must have markdown or document"}}
	}
	if b.document.noNodes {
		return b.document.Problems(field + ".document")
	}
	return b.Body.Problems(field)
}

// pageBody is the text of a page. It may be longer than a comment.
type pageBody struct{ richBody }

// OpenAPISchema returns a schema with the size limit of pages. A schema can only limit characters, so the description
// states the limit in bytes.
func (pageBody) OpenAPISchema() map[string]any {
	return bodyForms(jsonschema.Dict{
		"maxLength": schema.MaxPage, "description": fmt.Sprintf("At most %d bytes in UTF-8.", schema.MaxPage),
	}, anyForm...)
}

// Problems lists the problems of a page's text.
func (b *pageBody) Problems(field string) []schema.Detail {
	if b.formless || b.document.noNodes {
		return b.richBody.Problems(field)
	}
	return b.PageProblems(field)
}

// maxDocument limits the size of a page's document, in bytes of the complete JSON in responses. So a client can send a
// document from a response back in a request.
const maxDocument = contentBodyLimit - 1<<20

// text makes the document of a page. A request may omit members, so text also checks the size of the complete JSON.
func (b *pageBody) text(
	ctx context.Context, field string, before *schema.Document, resolve func(schema.Document) (schema.Document, error),
) (store.Text, error) {
	text, err := b.richBody.text(ctx, field, before, resolve)
	if err != nil || b.Markdown != nil {
		return text, err
	}
	encoded, err := schema.EncodeJSON(text.Document)
	if err == nil && len(encoded) > maxDocument {
		err = schema.Invalid(field+".document", fmt.Sprintf("must have at most %d bytes as JSON", maxDocument))
	}
	return text, err
}

// text converts the body to a document with keys, and stores the original Markdown with it. All Markdown in requests is
// converted here. `resolve` replaces links by references. It may be nil. `before` is the document before the change.
// Its nodes keep their keys.
func (b *richBody) text(
	ctx context.Context, field string, before *schema.Document, resolve func(schema.Document) (schema.Document, error),
) (store.Text, error) {
	if err := ctx.Err(); err != nil {
		return store.Text{}, err
	}
	made, err := b.read(field)
	if err == nil && resolve != nil {
		made, err = resolve(made)
	}
	if err != nil {
		return store.Text{}, err
	}
	keys.Assign(&made, before)
	return store.Text{Document: made, Markdown: b.Markdown}, nil
}

func (b *richBody) read(field string) (schema.Document, error) {
	if b.Markdown == nil {
		return *b.Document, nil
	}
	made, err := markdown.Read(*b.Markdown)
	if errors.Is(err, markdown.ErrTooLarge) {
		return schema.Document{}, schema.Invalid(field+".markdown", schema.ProblemNodes)
	}
	return made, err
}

// showKeys adds keys to a document that was stored without keys. The next write of the document gives the nodes the
// same keys.
func showKeys(d *schema.Document) {
	if !keys.Complete(*d) {
		keys.Assign(d, nil)
	}
}

// commentBody is the body of a comment, which must not be blank.
type commentBody struct{ richBody }

// OpenAPISchema returns a schema that excludes blank bodies, as far as a schema can.
func (commentBody) OpenAPISchema() map[string]any {
	return bodyForms(
		jsonschema.Dict{"maxLength": schema.MaxMarkdown, "pattern": rules.NotBlank},
		jsonschema.Dict{"required": []any{"markdown"}},
		jsonschema.Dict{"required": []any{"document"}},
	)
}

func (b *commentBody) words(ctx context.Context, field string) (store.CommentBody, error) {
	if content.Blank(b.Body) {
		return store.CommentBody{}, schema.Invalid(field, "must not be blank")
	}
	return b.said(ctx, field)
}

// said converts a body that is not blank to the form in which discussions store it.
func (b *richBody) said(ctx context.Context, field string) (store.CommentBody, error) {
	text, err := b.text(ctx, field, nil, nil)
	if err != nil {
		return store.CommentBody{}, err
	}
	sent, err := schema.EncodeJSON(b.Body)
	if err != nil || text.Markdown == nil {
		return store.CommentBody{Sent: sent}, err
	}
	made, err := schema.EncodeJSON(text.Document)
	return store.CommentBody{Sent: sent, Made: made}, err
}

// readAhead limits how many bytes of bodies one statement reads together with their documents. A document may be twenty
// times larger than its body, and the response may have room for only some of the rows.
const readAhead = 64 << 10

// readDocuments reads the documents that shownBody needs for one page of a list with comments. It uses one statement
// for all rows. Once the bodies exceed readAhead bytes, the documents of later rows are read when these rows are shown.
func readDocuments[Row any](ctx context.Context, st *store.Store, rows []Row, comment func(*Row) *store.CommentRow, format string) error {
	if format != markdown.FormatDocument {
		return nil
	}
	var comments []*store.CommentRow
	bytes := 0
	for i := range rows {
		if c := comment(&rows[i]); c != nil {
			if bytes += len(c.Body); bytes > readAhead {
				break
			}
			comments = append(comments, c)
		}
	}
	return st.ReadDocuments(ctx, comments)
}

func ofComment(row *store.CommentRow) *store.CommentRow { return row }

func ofReview(row *store.ReviewRow) *store.CommentRow { return row.Comment }

// shownBody returns the body of a comment in the requested format.
func shownBody(ctx context.Context, st *store.Store, row store.CommentRow, format string) (schema.Body, error) {
	if err := ctx.Err(); err != nil {
		return schema.Body{}, err
	}
	body, err := schema.DecodeJSON[schema.Body](row.Body)
	if err != nil {
		return schema.Body{}, err
	}
	if body.Document != nil {
		showKeys(body.Document)
	}
	if format != markdown.FormatDocument || body.Markdown == nil {
		return markdown.Render(body, schema.Document{}, format), nil
	}
	made, err := st.CommentDocument(ctx, row, func([]byte) ([]byte, error) {
		d, err := markdown.Read(*body.Markdown)
		if err != nil {
			d = markdown.Verbatim(*body.Markdown)
		}
		keys.Assign(&d, nil)
		return schema.EncodeJSON(d)
	})
	if err != nil {
		return schema.Body{}, err
	}
	document, err := schema.DecodeJSON[schema.Document](made)
	if err != nil {
		return schema.Body{}, err
	}
	showKeys(&document)
	return markdown.Render(body, document, format), nil
}
