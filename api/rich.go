package api

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
)

// richBody is a schema.Body in a request: what the grammar fixes may be left out, and a body with members of which none is a
// form is refused instead of taken for an empty one.
type richBody struct {
	schema.Body
	formless bool
}

// UnmarshalJSONFrom reads the forms and notices whether there was anything else.
func (b *richBody) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var read struct {
		Markdown *string          `json:"markdown"`
		Document *schema.Document `json:"document"`
		Other    jsontext.Value   `json:",embed"`
	}
	if err := json.UnmarshalDecode(d, &read); err != nil {
		return err
	}
	b.Body = schema.Body{Markdown: read.Markdown, Document: read.Document}
	b.formless = b.IsZero() && len(read.Other) > 0
	b.Normalize()
	return nil
}

// Problems says what is wrong with the body.
func (b *richBody) Problems(field string) []schema.Detail {
	if b.formless {
		return []schema.Detail{{Field: field, Problem: "must have markdown or document"}}
	}
	return b.Body.Problems(field)
}

// stored is the body as it is kept: in the form it came.
func (b *richBody) stored() ([]byte, error) { return encoded(b.Body) }
