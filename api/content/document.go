package content

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/schema"
)

// richDocument is a rich document in a request. Decoding normalizes the document, because its checks expect a normal
// form. An object without nodes is rejected: it would wipe out the text that it replaces.
type richDocument struct {
	schema.Document
	noNodes bool
}

// OpenAPISchema is the schema of documents in requests. Unlike in responses, members whose value the grammar fixes may
// be omitted. schema.Document has the grammar of the blocks.
func (richDocument) OpenAPISchema() map[string]any {
	block := jsonschema.Dict{"type": "object", "required": []any{"type"}, "properties": jsonschema.Dict{"type": jsonschema.Enum(schema.BlockTypes())}}
	return jsonschema.Dict{"type": "object", "required": []any{"nodes"}, "properties": jsonschema.Dict{
		"object": jsonschema.Enum([]string{schema.ObjectDocument}), "nodes": jsonschema.Dict{"type": "array", "items": block, "maxItems": schema.MaxDocumentNodes},
		"data": jsonschema.Nullable(jsonschema.Dict{"type": "object"}), "meta": jsonschema.Nullable(jsonschema.Dict{"type": "object"}),
	}}
}

// UnmarshalJSONFrom decodes and normalizes the document.
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
