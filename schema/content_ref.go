package schema

import (
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ContentRef is where a link leads: `kind` and what that kind names. The kinds are rows of the document grammar, because
// links in documents and links of sites are the same thing.
type ContentRef Data

// UnmarshalJSONFrom reads an object; null members stand for absence and are left out.
func (r *ContentRef) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var members map[string]any
	if err := json.UnmarshalDecode(d, &members); err != nil {
		return err
	}
	maps.DeleteFunc(members, func(_ string, value any) bool { return value == nil })
	*r = members
	return nil
}

// MarshalJSONTo writes the members in order.
func (r ContentRef) MarshalJSONTo(e *jsontext.Encoder) error { return Data(r).MarshalJSONTo(e) }

// Problems says what is wrong with the reference. What it refers to is not looked up: links may outlive their targets.
func (r ContentRef) Problems(field string) []Detail { return ContentRefProblems(field, Data(r)) }
