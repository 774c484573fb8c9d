package schema

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ContentRef is the target of a link. It has the member `kind`, and the members of this kind. The document grammar
// defines the kinds, because links in documents and links of sites have the same kinds of targets.
type ContentRef Data

// UnmarshalJSONFrom reads an object. It drops members that are null, because null means that a member is absent.
func (r *ContentRef) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var members map[string]any
	if err := json.UnmarshalDecode(d, &members); err != nil {
		return err
	}
	maps.DeleteFunc(members, func(_ string, value any) bool { return value == nil })
	*r = members
	return nil
}

// MarshalJSONTo writes the members in a fixed order.
func (r ContentRef) MarshalJSONTo(e *jsontext.Encoder) error { return Data(r).MarshalJSONTo(e) }

// OpenAPISchema returns a schema with an alternative for each kind. In a request, a member that is null is treated as
// absent.
func (ContentRef) OpenAPISchema() map[string]any {
	var kinds []any
	for _, kind := range slices.Sorted(maps.Keys(contentRefs)) {
		members, required := map[string]any{"kind": map[string]any{"type": "string", "enum": []any{kind}}}, []any{"kind"}
		for _, m := range contentRefs[kind].members {
			of := map[string]any{"type": []any{"string", "null"}, "not": map[string]any{"pattern": `\x00`}}
			if m.required {
				of["type"], required = "string", append(required, m.name)
			}
			if m.name == "url" {
				of["pattern"] = LinkPattern
				of["not"] = map[string]any{"pattern": `\x00|` + LinkNot + `|` + LinkLoginNot}
			}
			members[m.name] = of
		}
		kinds = append(kinds, map[string]any{"type": "object", "required": required, "properties": members})
	}
	return map[string]any{"oneOf": kinds}
}

// Problems lists the reference's problems. It does not check whether the target exists, because a link may outlive its
// target. It reports a URL with login data as a problem, because everybody can read the settings that contain the URL.
func (r ContentRef) Problems(field string) []Detail {
	details := ContentRefProblems(field, Data(r))
	if address, _ := r["url"].(string); len(details) == 0 && LinkHasLogin(address) {
		details = append(details, Detail{Field: field + ".url", Problem: ProblemLogin})
	}
	return details
}
