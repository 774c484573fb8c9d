package insights

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/frame/jsonschema"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema/insights"
)

// conditions is the JSON text of a `where`, in requests that store it. The operations' functions check it like the
// `where` of a query.
type conditions jsontext.Value

// UnmarshalJSONFrom stores the JSON text.
func (c *conditions) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return keepText((*jsontext.Value)(c), d)
}

// OpenAPISchema describes a where without conditions on metrics.
func (*conditions) OpenAPISchema() map[string]any { return whereSchema(insights.Group) }

// rangeList is the JSON text of a list of ranges, in requests that store it.
type rangeList jsontext.Value

// UnmarshalJSONFrom stores the JSON text.
func (l *rangeList) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return keepText((*jsontext.Value)(l), d)
}

// OpenAPISchema describes a list of ranges, each in the form that queries use.
func (*rangeList) OpenAPISchema() map[string]any {
	list := jsonschema.Array(jsonschema.Dict{"oneOf": []any{jsonschema.Enum(query.Presets()), rangeSchema()}})
	list["maxItems"] = query.MaxViewRanges
	return list
}

// keepText stores the text of the next JSON value. For null, it stores nil, as for an absent member.
func keepText(into *jsontext.Value, d *jsontext.Decoder) error {
	if *into = nil; d.PeekKind() == jsontext.KindNull {
		return d.SkipValue()
	}
	text, err := d.ReadValue()
	*into = text.Clone()
	return err
}
