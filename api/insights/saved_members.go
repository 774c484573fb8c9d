package insights

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema/insights"
)

// conditions has the `where` of a query, in requests that store it. The handlers check it like the `where` of a query.
type conditions jsontext.Value

// UnmarshalJSONFrom stores the JSON text.
func (c *conditions) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return keepText((*jsontext.Value)(c), d)
}

// OpenAPISchema describes a where without conditions on metrics.
func (*conditions) OpenAPISchema() map[string]any { return whereSchema(insights.Group) }

// rangeList is a list of the ranges of queries, in requests that store it.
type rangeList jsontext.Value

// UnmarshalJSONFrom stores the JSON text.
func (l *rangeList) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return keepText((*jsontext.Value)(l), d)
}

// OpenAPISchema describes the ranges as in queries.
func (*rangeList) OpenAPISchema() map[string]any {
	list := jsonschema.Array(jsonschema.Dict{"oneOf": []any{jsonschema.Enum(query.Presets()), rangeSchema()}})
	list["maxItems"] = query.MaxViewRanges
	return list
}

// keepText stores the next value as text; null counts as absent.
func keepText(into *jsontext.Value, d *jsontext.Decoder) error {
	if *into = nil; d.PeekKind() == jsontext.KindNull {
		return d.SkipValue()
	}
	text, err := d.ReadValue()
	*into = text.Clone()
	return err
}
