package rules

import "github.com/octavo-docs/octavo/schema"

// Unoffered is a member with which newer clients switch on a feature. This service lacks the feature, so it accepts
// only false. If it ignored true, it would do what the sender does not want: for example, it would publish a section
// that should stay a draft.
type Unoffered bool

// Problems returns a problem if the value is true.
func (u *Unoffered) Problems(field string) []schema.Detail {
	if !*u {
		return nil
	}
	return []schema.Detail{{Field: field, Problem: "is not offered by this server: it must be false or absent"}}
}

// OpenAPISchema describes the only accepted value, false.
func (*Unoffered) OpenAPISchema() map[string]any {
	return map[string]any{"type": "boolean", "enum": []any{false}}
}
