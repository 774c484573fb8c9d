package api

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// richDocument is a rich document in a request. It is normalized as soon as it is read, which is what its checks expect. An
// object without nodes is none, and would wipe out what it replaces.
type richDocument struct {
	schema.Document
	noNodes bool
}

// OpenAPISchema asks for less than the documents of answers have: what the grammar fixes may be left out. What stands in the
// blocks, the grammar says: see schema.Document.
func (richDocument) OpenAPISchema() map[string]any {
	block := dict{"type": "object", "required": []any{"type"}, "properties": dict{"type": enumOf(schema.BlockTypes())}}
	return dict{"type": "object", "required": []any{"nodes"}, "properties": dict{
		"object": enumOf([]string{schema.ObjectDocument}), "nodes": dict{"type": "array", "items": block, "maxItems": schema.MaxDocumentNodes},
		"data": nullable(dict{"type": "object"}), "meta": nullable(dict{"type": "object"}),
	}}
}

// UnmarshalJSONFrom reads and normalizes.
func (r *richDocument) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if err := json.UnmarshalDecode(d, &r.Document); err != nil {
		return err
	}
	r.noNodes = r.Nodes == nil
	r.Normalize()
	return nil
}

// Problems says what is wrong with the document.
func (r *richDocument) Problems(field string) []schema.Detail {
	if r.noNodes {
		return []schema.Detail{{Field: field + ".nodes", Problem: "is required"}}
	}
	return r.Document.Problems(field)
}

// paragraphs makes a document of plain texts.
func paragraphs(texts ...string) schema.Document {
	blocks := make([]schema.Node, len(texts))
	for i, text := range texts {
		blocks[i] = schema.Block("paragraph", schema.Text(text))
	}
	return schema.NewDocument(blocks...)
}
