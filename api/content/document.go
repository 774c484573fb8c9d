package content

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/schema"
)

// richDocument is a document in a request. Decoding also normalizes the document, because the checks expect the normal
// form. An object without nodes is refused. Otherwise it would replace the existing text by an empty text.
type richDocument struct {
	schema.Document
	noNodes bool
}

// OpenAPISchema returns the schema of documents in requests. A request may omit members whose value the grammar fixes,
// but a response has them. schema.Document has the grammar of the blocks.
func (richDocument) OpenAPISchema() map[string]any {
	block := jsonschema.Dict{"type": "object", "required": []any{"type"}, "properties": jsonschema.Dict{"type": jsonschema.Enum(schema.BlockTypes())}}
	return jsonschema.Dict{"type": "object", "required": []any{"nodes"}, "properties": jsonschema.Dict{
		"object": jsonschema.Enum([]string{schema.ObjectDocument}), "nodes": jsonschema.Dict{"type": "array", "items": block, "maxItems": schema.MaxDocumentNodes},
		"data": jsonschema.Nullable(jsonschema.Dict{"type": "object"}), "meta": jsonschema.Nullable(jsonschema.Dict{"type": "object"}),
	}}
}

// UnmarshalJSONFrom decodes the document and normalizes it.
func (r *richDocument) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if err := json.UnmarshalDecode(d, &r.Document); err != nil {
		return err
	}
	r.noNodes = r.Nodes == nil
	r.Normalize()
	return nil
}

// Problems lists the document's problems.
func (r *richDocument) Problems(field string) []schema.Detail {
	if r.noNodes {
		return []schema.Detail{{Field: field + ".nodes", Problem: "is required"}}
	}
	return r.Document.Problems(field)
}
